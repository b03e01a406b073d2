//go:build unix

package front

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// look is how often it is looked whether the client is still there.
const look = 5 * time.Second

// conn is a connection to a session's keeper. It is made by hand: package net
// would cost each event more than all else that is done.
type conn struct {
	fd     int
	parent int
}

// dial connects to a socket. It fails at once where nobody listens.
func dial(path string) (*conn, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	wait := syscall.NsecToTimeval(int64(look))
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &wait); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	return &conn{fd: fd, parent: os.Getppid()}, nil
}

// errOrphaned: whoever started us is gone.
var errOrphaned = errors.New("the client is gone")

func (c *conn) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(c.fd, b)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			if os.Getppid() != c.parent {
				return 0, errOrphaned
			}
		case err == nil && n == 0 && len(b) > 0:
			return 0, io.EOF // the keeper went away: whoever reads must not try again
		default:
			return max(n, 0), err
		}
	}
}

func (c *conn) Write(b []byte) (int, error) {
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

func (c *conn) Close() error { return syscall.Close(c.fd) }
