package proc_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

func TestExitCodesAreReported(t *testing.T) {
	t.Parallel()
	cases := []struct {
		mode   string
		code   int
		signal string
	}{
		{"fine", 0, ""},
		{"exit-3", 3, ""},
		{"die-by-signal", -1, "killed"},
	}
	for _, c := range cases {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			got := proc.Run(t.Context(), self(t, c.mode))
			if got.Code != c.code || got.Signal != c.signal || got.Err != nil || got.Cancelled {
				t.Errorf("got %+v, want code %d signal %q", got, c.code, c.signal)
			}
			if got.OK() != (c.code == 0) {
				t.Errorf("OK() = %v", got.OK())
			}
		})
	}
}

func TestNoSuchProgram(t *testing.T) {
	t.Parallel()
	got := proc.Run(t.Context(), proc.Spec{Argv: []string{"no-such-program-here"}})
	if !errors.Is(got.Err, exec.ErrNotFound) || got.Code != -1 {
		t.Errorf("got %+v, want exec.ErrNotFound", got)
	}
	if got := proc.Run(t.Context(), proc.Spec{}); got.Err == nil {
		t.Error("an empty command ran")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := proc.Run(ctx, self(t, "fine")); !got.Cancelled || got.Err == nil {
		t.Errorf("started under a dead context: %+v", got)
	}
}

func TestStreamsAreSeparate(t *testing.T) {
	t.Parallel()
	t.Run("stdin is read", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		s := self(t, "echo")
		s.Stdin, s.Stdout = strings.NewReader("hello"), &out
		if e := proc.Run(t.Context(), s); !e.OK() || out.String() != "hello" {
			t.Errorf("%+v, output %q", e, out.String())
		}
	})
	t.Run("stdin as a pipe", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		s := self(t, "echo")
		s.PipeStdin, s.Stdout = true, &out
		p, err := proc.Start(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Stdin().Write([]byte("line")); err != nil {
			t.Error(err)
		}
		p.Stdin().Close()
		if e := p.Wait(); !e.OK() || out.String() != "line" {
			t.Errorf("%+v, output %q", e, out.String())
		}
	})
	t.Run("one writer takes both", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		s := self(t, "both")
		s.Stdout, s.Stderr = &out, &out
		if e := proc.Run(t.Context(), s); !e.OK() || out.String() != "out err" {
			t.Errorf("%+v, output %q", e, out.String())
		}
	})
	t.Run("the marker is in the environment", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		s := self(t, "env")
		s.Stdout, s.Marker = &out, "brisk-otter"
		if e := proc.Run(t.Context(), s); !e.OK() || out.String() != "brisk-otter" {
			t.Errorf("%+v, output %q", e, out.String())
		}
	})
}

type brokenWriter struct{ taken int }

func (w *brokenWriter) Write(b []byte) (int, error) {
	w.taken += len(b)
	return 0, errors.New("disk full")
}

func TestFailingWriterDoesNotBlockChild(t *testing.T) {
	t.Parallel()
	s := self(t, "flood")
	s.Stdout = &brokenWriter{}
	e := proc.Run(t.Context(), s)
	if e.Code != 0 || e.Err == nil || !strings.Contains(e.Err.Error(), "disk full") {
		t.Errorf("got %+v, want code 0 and the writer's error", e)
	}
}

func TestCancelEndsTheProcess(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"hang", "ignore-term", "leak-and-hang:group:ignore-term", "leak-and-hang:session:ignore-term", "leak-and-hang:naked:"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var out lockedBuffer
			s := self(t, mode)
			s.Stdout = &out
			ctx, cancel := context.WithCancel(t.Context())
			p, err := proc.Start(ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			if mode != "hang" {
				out.waitFor(t, "\n")
			}
			begin := time.Now()
			cancel()
			e := p.Wait()
			if !e.Cancelled || time.Since(begin) > 30*time.Second {
				t.Errorf("%+v after %v", e, time.Since(begin))
			}
			if pid, ok := out.pid(); ok {
				mustBeGone(t, pid)
			}
			mustBeGone(t, p.PID())
		})
	}
}

// When a process ends, its leftovers are ended, and a child that holds its output open does not
// block the reader.
func TestLeftoversAreEnded(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"leak:group:hang", "leak:group:ignore-term", "leak:session:hang", "leak:session:ignore-term", "leak:naked:"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var out lockedBuffer
			s := self(t, mode)
			s.Stdout = &out
			begin := time.Now()
			e := proc.Run(t.Context(), s)
			if e.Code != 0 || e.Err != nil || time.Since(begin) > 30*time.Second {
				t.Errorf("%+v after %v", e, time.Since(begin))
			}
			pid, ok := out.pid()
			if !ok {
				t.Fatalf("no pid in %q", out.String())
			}
			mustBeGone(t, pid)
			if strings.Contains(mode, "session") && e.Swept == 0 {
				t.Error("nothing was swept")
			}
		})
	}
}

func TestKeepBackgroundSparesLeftovers(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	s := self(t, "leak:session:hang")
	s.Stdout, s.KeepBackground, s.Marker = &out, true, "keep-"+strconv.FormatInt(time.Now().UnixNano(), 36)
	begin := time.Now()
	e := proc.Run(t.Context(), s)
	if !e.OK() || time.Since(begin) > 30*time.Second {
		t.Fatalf("%+v after %v: a daemon that holds the output must not hold up its gate", e, time.Since(begin))
	}
	pid, ok := out.pid()
	if !ok || !proc.Alive(pid) {
		t.Fatalf("the daemon %d did not live on", pid)
	}
	if n := proc.SweepMarked(s.Marker, time.Second); n != 1 {
		t.Errorf("SweepMarked ended %d processes, want the one daemon", n)
	}
	mustBeGone(t, pid)
	if n := proc.SweepMarked("", time.Second); n != 0 {
		t.Errorf("an empty marker matched %d processes", n)
	}
}

func TestSweepSessionsSparesSession(t *testing.T) {
	t.Parallel()
	var in, escaped lockedBuffer
	start := func(mode string, out *lockedBuffer) (*proc.Process, context.CancelFunc) {
		s := self(t, mode)
		s.Stdout = out
		ctx, cancel := context.WithCancel(t.Context())
		p, err := proc.Start(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		out.waitFor(t, "\n")
		return p, cancel
	}
	helper, stopHelper := start("leak-and-hang:group:hang", &in)
	shell, stopShell := start("leak-and-hang:session:hang", &escaped)
	if n := helper.SweepSessions(); n != 0 {
		t.Errorf("swept %d of the helpers", n)
	}
	if n := shell.SweepSessions(); n != 1 {
		t.Errorf("swept %d, want the one that left the session", n)
	}
	if pid, _ := in.pid(); !proc.Alive(pid) {
		t.Error("the helper is gone")
	}
	pid, _ := escaped.pid()
	mustBeGone(t, pid)
	if !proc.Alive(shell.PID()) {
		t.Error("the leader is gone")
	}
	stopHelper()
	stopShell()
	helper.Wait()
	shell.Wait()
	if n := shell.SweepSessions(); n != 0 {
		t.Errorf("swept %d after the end", n)
	}
}

// A process that exceeds MaxRSS is stopped and reported as cancelled.
func TestMaxRSS(t *testing.T) {
	t.Parallel()
	if proc.FreeMemory() == 0 {
		t.Skip("how much memory is free is not known here")
	}
	s := self(t, "heavy")
	s.MaxRSS = 64 << 20
	if e := proc.Run(t.Context(), s); !e.Cancelled || e.OK() {
		t.Errorf("%+v", e)
	}
	s = self(t, "exit-3")
	s.MaxRSS = 64 << 30
	if e := proc.Run(t.Context(), s); e.Cancelled || e.Code != 3 {
		t.Errorf("within it: %+v", e)
	}
}

func TestRSS(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	s := self(t, "ignore-term")
	s.Stdout = &out
	ctx, cancel := context.WithCancel(t.Context())
	p, err := proc.Start(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	out.waitFor(t, "\n")
	if rss := p.RSS(); rss < proc.RSS(p.PID())/2 {
		t.Errorf("RSS of the process = %d bytes", rss)
	}
	if rss := proc.RSS(p.PID()); rss < 1<<20 {
		t.Errorf("RSS = %d bytes", rss)
	}
	cancel()
	p.Wait()
	if rss := proc.RSS(p.PID()); rss != 0 {
		t.Errorf("RSS of a dead process = %d", rss)
	}
}

// lockedBuffer can be read while the process writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) waitFor(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(l.String(), text); {
		if time.Now().After(deadline) {
			t.Fatalf("the child said %q, not %q", l.String(), text)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// pid returns the first number that the child printed.
func (l *lockedBuffer) pid() (int, bool) {
	for line := range strings.Lines(l.String()) {
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			return n, true
		}
	}
	return 0, false
}

func mustBeGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); proc.Alive(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
