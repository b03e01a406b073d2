//go:build unix

package front

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// orphanPollInterval is how often to check whether the client still runs.
const orphanPollInterval = 5 * time.Second

// daemonConn is a connection to a session's daemon. It uses system calls, since package
// net would cost each event more than all the rest.
type daemonConn struct {
	fd     int
	parent int
}

// dial connects to a daemon's socket. It fails at once if nobody listens.
func dial(path string) (*daemonConn, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	wait := syscall.NsecToTimeval(int64(orphanPollInterval))
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &wait); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	return &daemonConn{fd: fd, parent: os.Getppid()}, nil
}

// errClientGone means that the caller of the hook has exited.
var errClientGone = errors.New("client has exited")

// Read waits for data until the client exits.
func (c *daemonConn) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(c.fd, b)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			if os.Getppid() != c.parent {
				return 0, errClientGone
			}
		case err == nil && n == 0 && len(b) > 0:
			return 0, io.EOF // the daemon closed the connection
		default:
			return max(n, 0), err
		}
	}
}

// Write sends all of b.
func (c *daemonConn) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := syscall.Write(c.fd, b[done:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// Close closes the connection.
func (c *daemonConn) Close() error { return syscall.Close(c.fd) }
