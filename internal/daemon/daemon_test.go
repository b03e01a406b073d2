package daemon_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/daemon"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/front"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/session/place"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

const id = "s1"

// home has a session with a binding, as short a path as can be had.
func home(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "k") //nolint:usetesting // T.TempDir makes paths too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if !daemon.Possible(dir, id) {
		t.Skip("the temporary folder's path is too long for a socket")
	}
	if err := session.Open(dir).Bind(t.Context(), session.Binding{Session: id, Loop: "no-such-loop", Root: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// keep runs a daemon; done is closed when it has ended.
func keep(t *testing.T, dir, tool string) (done chan error) {
	t.Helper()
	done = make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		done <- daemon.Serve(ctx, daemon.Options{
			Env:     environment.Environment{PawlHome: dir, Home: dir, Vars: []string{"HOME=" + dir, "PAWL_HOME=" + dir, "CLAUDECODE=stale"}},
			Session: id, Tool: tool, Version: "test", PollInterval: 20 * time.Millisecond, IdleTimeout: time.Hour,
		})
	}()
	for range 500 {
		if c, err := (&net.Dialer{}).DialContext(ctx, "unix", place.Of(dir).SocketPath(id)); err == nil {
			_ = c.Close()
			return done
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the daemon does not listen")
	return nil
}

func ask(t *testing.T, dir, event string) front.Answer {
	t.Helper()
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "unix", place.Of(dir).SocketPath(id))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := (front.Request{Args: []string{"claude"}, Vars: []string{"CLAUDECODE=1"}, Parent: 1, Event: []byte(event)}).Write(c); err != nil {
		t.Fatal(err)
	}
	a, err := front.ReadAnswer(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ended(t *testing.T, done chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the daemon is still running")
	}
}

// If the loop's folder is gone, the user is told and the binding is removed; then the
// daemon ends.
func TestDaemonAnswersAndEndsWithLoop(t *testing.T) {
	t.Parallel()
	dir := home(t)
	done := keep(t, dir, os.Args[0])
	a := ask(t, dir, `{"session_id":"s1","hook_event_name":"Stop","last_assistant_message":"x"}`)
	if a.Code != 0 || !strings.Contains(string(a.Out), "its folder is gone") {
		t.Errorf("exit %d: %s%s", a.Code, a.Out, a.Err)
	}
	ended(t, done)
	if _, err := os.Lstat(place.Of(dir).SocketPath(id)); err == nil {
		t.Error("it leaves its socket")
	}
}

// A loop that is ended elsewhere (pawl stop) leaves its binding for the session's
// next event, which need not come for hours.
func TestDaemonEndsWithLoop(t *testing.T) {
	t.Parallel()
	dir := home(t)
	l, err := store.Open(dir).Create(dir, record.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := l.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := session.Open(dir).Bind(t.Context(), session.Binding{Session: id, Loop: l.ID, Root: dir}); err != nil {
		t.Fatal(err)
	}
	done := keep(t, dir, os.Args[0])
	select {
	case err := <-done:
		t.Fatalf("it goes before the loop has ended: %v", err)
	case <-time.After(200 * time.Millisecond): // ten looks
	}
	if _, err := o.Append(
		journal.Entry{Type: memory.TypeEvent, Data: loop.Event{Payload: loop.Cancelled{}}},
		journal.Entry{Type: memory.TypeEvent, Data: loop.Event{Payload: loop.Concluded{}}},
	); err != nil {
		t.Fatal(err)
	}
	ended(t, done)
}

func TestOneDaemonPerSession(t *testing.T) {
	t.Parallel()
	dir := home(t)
	keep(t, dir, os.Args[0])
	second := make(chan error, 1)
	go func() {
		second <- daemon.Serve(t.Context(), daemon.Options{Env: environment.Environment{PawlHome: dir}, Session: id})
	}()
	ended(t, second)
	if a := ask(t, dir, `{}`); a.Code != 0 || len(a.Out) > 0 {
		t.Errorf("exit %d: %s", a.Code, a.Out)
	}
}

// A daemon that was killed leaves a socket on which nobody listens.
func TestStaleSocketIsReplaced(t *testing.T) {
	t.Parallel()
	dir := home(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", place.Of(dir).SocketPath(id))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	keep(t, dir, os.Args[0])
}

func TestDaemonEndsWhenToolIsReplaced(t *testing.T) {
	t.Parallel()
	dir := home(t)
	tool := filepath.Join(dir, "pawl")
	if err := os.WriteFile(tool, []byte("old"), 0o700); err != nil {
		t.Fatal(err)
	}
	done := keep(t, dir, tool)
	if err := os.WriteFile(tool, []byte("newer"), 0o700); err != nil {
		t.Fatal(err)
	}
	ended(t, done)
}

// A malformed request is not answered and does no harm.
func TestMalformedRequestIsNotAnswered(t *testing.T) {
	t.Parallel()
	dir := home(t)
	keep(t, dir, os.Args[0])
	c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", place.Of(dir).SocketPath(id))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("\xff\xff\xff\xffGET / HTTP/1.1")); err != nil {
		t.Fatal(err)
	}
	if _, err := front.ReadAnswer(c); err == nil {
		t.Error("an answer to nonsense")
	}
	_ = c.Close()
	if a := ask(t, dir, `{}`); a.Code != 0 {
		t.Errorf("exit %d", a.Code)
	}
}
