package launch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

const sessionID = "0d1f2a3b-0000-4000-8000-000000000001"

// sessionRequestIn returns a request for a loop in a session, in the folder root.
func sessionRequestIn(root string, env environment.Environment, flags map[string]any) launch.SessionRequest {
	return launch.SessionRequest{
		Request: launch.Request{Dir: root, Words: []string{"do it"}, Flags: flags, Env: env},
		Session: launch.UserSession{Session: sessionID, Client: 4242, Prompt: "p1", Responder: "plugin"},
	}
}

func beginInSession(t *testing.T, q launch.SessionRequest, o launch.SessionOptions) (*launch.SessionLoop, error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("gates are run by sh here")
	}
	p, err := launch.PrepareInSession(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	o.Session = q.Session
	return p.BeginInSession(t.Context(), o)
}

func TestSpecOfSessionLoop(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		config string // pawl.toml
		change func(root string, q *launch.SessionRequest)
		want   func(p loop.Policy) loop.Policy
		counts bool // the limit is the default one
	}{
		{name: "nothing typed", counts: true},
		{
			name: "what the project's file says of a limit holds", config: "max_iterations = 40\non_failure = \"restore\"\nsession = \"turn\"\n",
			want: func(p loop.Policy) loop.Policy { p.Limits.Iterations = 40; return p },
		},
		{
			name: "a command that is to succeed", counts: true,
			change: func(_ string, q *launch.SessionRequest) { q.Verify, q.Words = "sh sub/check.sh", nil },
			want: func(p loop.Policy) loop.Policy {
				p.Verify, p.Gates, p.Isolate = true, true, true
				return p
			},
		},
		{
			name: "no tries but in the session", config: "[verify]\ntries = 5\nisolate = false\n", counts: true,
			change: func(_ string, q *launch.SessionRequest) { q.Verify = "sh sub/check.sh" },
			want:   func(p loop.Policy) loop.Policy { p.Verify, p.Gates, p.Tries = true, true, 5; return p },
		},
		{
			name: "consent to leave the session", config: "max_cost = 5\nmax_tokens = 7\nhandover_at = 60\n", counts: true,
			change: func(_ string, q *launch.SessionRequest) { q.Handover = true },
			want: func(p loop.Policy) loop.Policy {
				p.Handover, p.Session, p.HandoverAt, p.Limits.CostUSD, p.Limits.Tokens = true, loop.Hybrid, 60, 5, 7
				return p
			},
		},
		{
			name: "the same in other words", counts: true,
			change: func(_ string, q *launch.SessionRequest) { q.Flags = map[string]any{"session": "hybrid"} },
			want:   func(p loop.Policy) loop.Policy { p.Handover, p.Session = true, loop.Hybrid; return p },
		},
		{
			name: "each task in a session of its own, beginning with this", counts: true,
			change: func(_ string, q *launch.SessionRequest) {
				q.Handover, q.Flags = true, map[string]any{"session": "task", "verify": map[string]any{"tries": 2}}
			},
			want: func(p loop.Policy) loop.Policy { p.Handover, p.Session, p.Tries = true, loop.PerTask, 2; return p },
		},
		{
			name: "what is explored until its limit", counts: true,
			change: func(_ string, q *launch.SessionRequest) { q.Flags = map[string]any{"kind": "explore"} },
			want:   func(p loop.Policy) loop.Policy { p.Kind = loop.Explore; return p },
		},
		{
			name: "what comes again", counts: true,
			change: func(_ string, q *launch.SessionRequest) { q.Flags = map[string]any{"every": "5m"} },
			want:   func(p loop.Policy) loop.Policy { p.Kind, p.Every = loop.Periodic, 5*time.Minute; return p },
		},
		{
			name: "a file without a limit, at its third iteration",
			change: func(root string, q *launch.SessionRequest) {
				q.File, q.CountedIterations, q.Flags = filepath.Join(root, "sub", "state.md"), 2, map[string]any{"max_iterations": 0}
			},
			want: func(p loop.Policy) loop.Policy {
				p.Limits, p.IterationsBefore = loop.Limits{Turn: time.Hour}, 2
				return p
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, env := newProject(t)
			if c.config != "" {
				write(t, filepath.Join(root, "pawl.toml"), c.config)
			}
			q := sessionRequestIn(root, env, nil)
			if c.change != nil {
				c.change(root, &q)
			}
			p, err := launch.PrepareInSession(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want := loop.Policy{
				Kind: loop.Change, InSession: true, Session: loop.Continue, HandoverAt: 80,
				Limits: loop.Limits{Iterations: 25, Duration: 8 * time.Hour, Turn: time.Hour},
			}
			if c.want != nil {
				want = c.want(want)
			}
			if diff := cmp.Diff(want, p.Spec.Policy); diff != "" {
				t.Error(diff)
			}
			if !p.Spec.NoCommit || p.Spec.Shadow || p.Spec.Branch != "main" || p.UsesDefaultLimit() != c.counts {
				t.Errorf("spec: %+v", p.Spec)
			}
			if q.File != "" && p.Spec.CompatFile != "sub/state.md" {
				t.Errorf("file: %s", p.Spec.CompatFile)
			}
		})
	}
}

// The loop is bound to the session once its first prompt is known.
func TestBeginInSessionBindsSession(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	a, err := beginInSession(t, sessionRequestIn(root, env, map[string]any{"gates": []string{"sh sub/check.sh"}}), launch.SessionOptions{GateTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if a.GatesRunning || !strings.Contains(a.Prompt, "do it") || len(a.Memory.Results) != 1 {
		t.Errorf("begun: %+v", a)
	}
	b, err := session.Open(env.PawlHome).Find(sessionID)
	if err != nil {
		t.Fatal(err)
	}
	want := session.Binding{
		Session: sessionID, Loop: a.Loop.ID, Epoch: 1, Root: root, Client: 4242, LoopPrompt: "p1", Responder: "plugin", GivenTurns: a.Memory.TurnsBegun, Since: b.Since,
	}
	if diff := cmp.Diff(want, b); diff != "" || b.GivenTurns != 1 || b.Since.IsZero() {
		t.Error(diff, b)
	}
	if diff := cmp.Diff(memory.BoundSession{Session: sessionID, Agent: "claude", Client: 4242}, a.Memory.Bound); diff != "" {
		t.Error(diff)
	}
	if _, alive, err := a.Loop.Holder(); err != nil || alive {
		t.Errorf("the loop is still held: %v, %v", alive, err)
	}
}

// Another process continues slow gates as the same owner.
func TestSlowGatesContinueInDriver(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	sign := filepath.Join(root, "go")
	flags := map[string]any{"gates": []string{"until test -f '" + sign + "'; do sleep 0.02; done"}}
	a, err := beginInSession(t, sessionRequestIn(root, env, flags), launch.SessionOptions{GateTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b, err := session.Open(env.PawlHome).Find(sessionID)
	if !a.GatesRunning || a.Prompt != "" || err != nil || b.GivenTurns != 0 {
		t.Fatalf("begun: %+v, bound: %+v, %v", a, b, err)
	}
	write(t, sign, "")
	d, err := launch.Rejoin(t.Context(), a.Loop, env, 0)
	if err != nil {
		t.Fatal(err)
	}
	var held *store.HeldError
	if _, err := launch.Rejoin(t.Context(), a.Loop, env, 0); !errors.As(err, &held) {
		t.Errorf("a second one: %v", err)
	}
	state, err := d.RunInSession(t.Context())
	if err != nil || state.Phase != loop.Turning || d.Owner.Epoch() != b.Epoch {
		t.Errorf("driven: %s, %v", state.Phase, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	m, _, err := record.Load(a.Loop)
	if err != nil || m.TurnsBegun != 1 {
		t.Errorf("turns begun: %d, %v", m.TurnsBegun, err)
	}
	if _, err := os.Stat(record.PromptPath(a.Loop, m)); err != nil {
		t.Error(err)
	}
}

// A process that waits for the loop acquires it when the other one releases it.
func TestRejoinWaitsForLock(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	a, err := beginInSession(t, sessionRequestIn(root, env, nil), launch.SessionOptions{GateTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	first, err := launch.Rejoin(t.Context(), a.Loop, env, 0)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = first.Close() })
	second, err := launch.Rejoin(t.Context(), a.Loop, env, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

// A failure before the first turn ends the loop and leaves the session unbound.
func TestFailedBeginInSessionBindsNothing(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		flags   map[string]any
		opening launch.SessionOptions
		want    string
	}{
		{"a gate that cannot run", map[string]any{"gates": []string{"no-such-program"}}, launch.SessionOptions{GateTimeout: time.Hour}, "ended before its first turn"},
		{
			"the last thing to do", nil,
			launch.SessionOptions{GateTimeout: time.Hour, OnReady: func(*launch.SessionLoop) error { return errors.New("disk full") }},
			"disk full",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, env := newProject(t)
			_, err := beginInSession(t, sessionRequestIn(root, env, c.flags), c.opening)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error: %v", err)
			}
			if b, err := session.Open(env.PawlHome).Find(sessionID); !errors.Is(err, session.ErrNone) {
				t.Errorf("bound: %+v, %v", b, err)
			}
			listed, err := record.List(store.Open(env.PawlHome))
			if err != nil || len(listed) != 1 || listed[0].Summary.Outcome != loop.Errored {
				t.Errorf("listed: %+v, %v", listed, err)
			}
		})
	}
}

// If the user cancels the wait for the gates, the loop ends and is not orphaned.
func TestBeginInSessionIsInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("gates are run by sh here")
	}
	root, env := newProject(t)
	q := sessionRequestIn(root, env, map[string]any{"gates": []string{"sleep 60"}})
	p, err := launch.PrepareInSession(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(errors.New("stopped by a test")) })
	if _, err := p.BeginInSession(ctx, launch.SessionOptions{Session: q.Session, GateTimeout: time.Hour}); err == nil || !strings.Contains(err.Error(), "stopped by a test") {
		t.Errorf("error: %v", err)
	}
	listed, err := record.List(store.Open(env.PawlHome))
	if err != nil || len(listed) != 1 || listed[0].Summary.Outcome != loop.Errored {
		t.Errorf("listed: %+v, %v", listed, err)
	}
}

func TestHomeFoldersAreRefused(t *testing.T) {
	t.Parallel()
	_, env := newProject(t)
	for dir, why := range map[string]string{
		env.Home:                   "is your home folder, not a project",
		filepath.Dir(env.Home):     "is not a project: it contains your home folder",
		string(filepath.Separator): "is not a project: it contains your home folder",
		env.PawlHome:               "is not a project: it contains Pawl's state",
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := launch.PrepareInSession(t.Context(), sessionRequestIn(dir, env, nil))
		if err == nil || failure.Hint(err) != "start it in a project folder" || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// A loop that ended with work left continues in the session that asks.
func TestEndedLoopIsReopenedInAnotherSession(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	a, err := beginInSession(t, sessionRequestIn(root, env, nil), launch.SessionOptions{GateTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	again := launch.SessionOptions{Session: launch.UserSession{Session: "another", Client: 4243}, GateTimeout: time.Hour}
	if _, err := launch.ReopenInSession(t.Context(), a.Loop, env, again); err == nil || failure.CodeOf(err) != failure.Usage {
		t.Fatalf("reopened while it is at work: %v", err)
	}
	d, err := launch.Rejoin(t.Context(), a.Loop, env, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Loop.Post("stop-1", record.Message{Kind: record.MessageStop}); err != nil {
		t.Fatal(err)
	}
	if s, err := d.RunInSession(t.Context()); err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s, %v", s.Phase, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := launch.ReopenInSession(t.Context(), a.Loop, env, again)
	if err != nil {
		t.Fatal(err)
	}
	if st := b.Memory.State; st.Phase != loop.Turning || st.Iteration != 2 || !strings.Contains(b.Prompt, "do it") {
		t.Errorf("%s in iteration %d, told %q", st.Phase, st.Iteration, b.Prompt)
	}
	bound, err := session.Open(env.PawlHome).Find("another")
	if err != nil || bound.Loop != a.Loop.ID || bound.Epoch != 1 || bound.GivenTurns != 2 || b.Memory.Bound.Client != 4243 {
		t.Errorf("bound: %+v, %+v, %v", bound, b.Memory.Bound, err)
	}
	if old, err := session.Open(env.PawlHome).Find(sessionID); !errors.Is(err, session.ErrNone) {
		t.Errorf("the session before is bound still: %+v, %v", old, err)
	}
}

// If several loops begin in a work tree at the same time, one succeeds.
func TestConcurrentStartsInWorkTreeGiveOneLoop(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	var begun atomic.Int32
	var all sync.WaitGroup
	for i := range 4 {
		q := sessionRequestIn(root, env, nil)
		q.Session.Session = fmt.Sprint("session-", i)
		p, err := launch.PrepareInSession(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			_, err := p.BeginInSession(t.Context(), launch.SessionOptions{Session: q.Session, GateTimeout: time.Hour})
			switch {
			case err == nil:
				begun.Add(1)
			case failure.CodeOf(err) != failure.Usage:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := begun.Load(); n != 1 {
		t.Errorf("%d loops have begun", n)
	}
}
