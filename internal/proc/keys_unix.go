//go:build unix

package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// keyTimeout is the longest wait for a key. A longer wait would not notice that the job was moved to
// the background, where reading would stop it.
const keyTimeout = 200 * time.Millisecond

// Keys reads keys from a terminal one by one, without Enter and without an echo, while this process
// is in the foreground job. The terminal still handles Ctrl-C and Ctrl-Z.
type Keys struct {
	C <-chan byte // keys; those that nobody receives are dropped

	tty   *os.File
	keys  chan byte
	holds chan hold
	stop  chan struct{}
	done  chan struct{}
	was   *unix.Termios // the terminal's earlier state; nil = unchanged
}

// ReadKeys starts reading keys. Close ends it.
func ReadKeys(tty *os.File) *Keys {
	keys := make(chan byte, 16)
	k := &Keys{C: keys, keys: keys, tty: tty, holds: make(chan hold), stop: make(chan struct{}), done: make(chan struct{})}
	go k.read()
	return k
}

// hold is a time during which no keys are read.
type hold struct{ ready, over chan struct{} }

// Hold lets the terminal read lines, for a question, until release is called. A nil Keys does
// nothing.
func (k *Keys) Hold() (release func()) {
	if k == nil {
		return func() {}
	}
	h := hold{make(chan struct{}), make(chan struct{})}
	select {
	case k.holds <- h:
		<-h.ready
	case <-k.done:
	}
	return func() { close(h.over) }
}

// Close restores the terminal.
func (k *Keys) Close() {
	close(k.stop)
	<-k.done
}

func (k *Keys) read() {
	defer close(k.done)
	defer k.restoreMode()
	for {
		select {
		case <-k.stop:
			return
		case hold := <-k.holds:
			k.restoreMode()
			close(hold.ready)
			<-hold.over
		default:
		}
		key, ok := k.next()
		if !ok {
			continue
		}
		select {
		case k.keys <- key:
		default:
		}
	}
}

// next waits up to keyTimeout for a key.
func (k *Keys) next() (key byte, ok bool) {
	if !InForeground(k.tty) {
		time.Sleep(keyTimeout)
		return 0, false
	}
	k.setRawMode()
	fds := []unix.PollFd{{Fd: int32(k.tty.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(keyTimeout/time.Millisecond))
	if err != nil || n == 0 || !InForeground(k.tty) {
		return 0, false
	}
	var b [1]byte
	if n, err := unix.Read(int(k.tty.Fd()), b[:]); n == 0 || err != nil { // the terminal is gone
		time.Sleep(keyTimeout)
		return 0, false
	}
	return b[0], true
}

// setRawMode makes the terminal return each key without an echo. A shell resets this when it stops a job,
// so it is set before each read.
func (k *Keys) setRawMode() {
	fd := int(k.tty.Fd())
	now, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || now.Lflag&(unix.ICANON|unix.ECHO) == 0 {
		return
	}
	if k.was == nil {
		was := *now
		k.was = &was
	}
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(fd, setTermios, now) // if this fails, keys arrive after Enter
}

// restoreMode restores the terminal, unless it belongs to another job now.
func (k *Keys) restoreMode() {
	if k.was != nil && InForeground(k.tty) {
		_ = unix.IoctlSetTermios(int(k.tty.Fd()), setTermios, k.was)
		k.was = nil
	}
}
