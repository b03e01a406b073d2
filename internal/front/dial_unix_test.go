//go:build unix

package front

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// listen is a scripted daemon.
func listen(t *testing.T, answer func(net.Conn)) (path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "f") //nolint:usetesting // T.TempDir makes paths too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s.sock")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answer(c)
			_ = c.Close()
		}
	}()
	return path
}

// in runs do, and fails if that takes long.
func in(t *testing.T, path string, r Request) (a Answer, begun bool, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		a, begun, err = askDaemon(path, r)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for an answer that will not come")
	}
	return a, begun, err
}

func TestDaemonAnswerIsPrinted(t *testing.T) {
	t.Parallel()
	event := make([]byte, 1<<20) // more than a socket holds at once
	path := listen(t, func(c net.Conn) {
		r, err := ReadRequest(c)
		if err != nil || len(r.Event) != len(event) || r.Args[0] != "claude" {
			t.Errorf("%v: %d bytes, %v", err, len(r.Event), r.Args)
		}
		if err := (Answer{Code: 2, Err: event}).Write(c); err != nil {
			t.Error(err)
		}
	})
	a, _, err := in(t, path, Request{Args: []string{"claude"}, Event: event})
	if err != nil || a.Code != 2 || len(a.Err) != len(event) {
		t.Errorf("%v: exit %d, %d bytes", err, a.Code, len(a.Err))
	}
}

// A daemon may die during an event: at once, after reading it, or while answering.
func TestDeadDaemonFallsBackToPawl(t *testing.T) {
	t.Parallel()
	deaths := map[string]func(net.Conn){
		"at once":       func(net.Conn) {},
		"after reading": func(c net.Conn) { _, _ = ReadRequest(c) },
		"in mid-answer": func(c net.Conn) {
			_, _ = ReadRequest(c)
			_, _ = io.WriteString(c, "\x40\x00\x00\x00half")
		},
	}
	for name, dies := range deaths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, begun, err := in(t, listen(t, dies), Request{Args: []string{"claude"}, Event: []byte("{}")}); err == nil || !begun && name != "at once" {
				t.Errorf("begun %v: %v", begun, err)
			}
		})
	}
}

func TestWithoutDaemonPawlIsStarted(t *testing.T) {
	t.Parallel()
	if _, begun, err := in(t, filepath.Join(t.TempDir(), "none"), Request{}); err == nil || begun {
		t.Errorf("begun %v: %v", begun, err)
	}
}
