package runner_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/checkout"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// slowAgent is an agent whose client does not start before the start is cancelled.
type slowAgent struct{ agent.Agent }

func (slowAgent) Start(ctx context.Context, _ agent.Options) (agent.Session, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestStopDuringClientStart(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = slowAgent{d.Agent}
	b.loop = d.Loop
	w := &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessageStop}}}
	s, err := b.drive(t.Context(), d, w)
	if err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %v", s.Phase, err)
	}
}

func TestTimeLimitDuringClientStart(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(map[string]any{"max_duration": "1s"}))
	d.Agent = slowAgent{d.Agent}
	s, err := b.drive(t.Context(), d, logObserver{t})
	if err != nil || s.Outcome != loop.Duration {
		t.Fatalf("%s: %v", s.Phase, err)
	}
}

// flakyAgent is an agent whose client starts only sometimes.
type flakyAgent struct {
	agent.Agent
	fails  int // number of failing starts
	resume int // number of failing starts that resume a session
}

func (f *flakyAgent) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	if f.fails > 0 || f.resume > 0 && o.Resume != "" {
		f.fails--
		return nil, errors.New("the client is being updated")
	}
	return f.Agent.Start(ctx, o)
}

func TestFailedClientStartIsRetried(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin(haveAll, []string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}))
	d.Agent = &flakyAgent{Agent: d.Agent, fails: 1}
	s, err := b.drive(t.Context(), d, logObserver{t})
	if err != nil || s.Outcome != loop.Verified || s.Iteration != 1 {
		t.Fatalf("%s after %d: %s %v", s.Outcome, s.Iteration, s.Reason, err)
	}
}

func TestLostAgentSessionIsNotResumed(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	script := "-- 1/failure --\ncrashed gone\n-- 2/failure --\ncrashed again\n" + strings.ReplaceAll(haveAll, "1/", "3/")
	d := b.begin(script, []string{"have every word"}, withGate(nil))
	d.Agent = &flakyAgent{Agent: d.Agent, resume: 1}
	s, err := b.drive(t.Context(), d, logObserver{t})
	if err != nil || s.Outcome != loop.Verified {
		t.Fatalf("%s: %s %v", s.Outcome, s.Reason, err)
	}
}

// slowToStopAgent is an agent whose turn ends only a while after its cancellation, with much output
// in between.
type slowToStopAgent struct{ agent.Agent }

type slowToStopSession struct{ agent.Session }

func (a slowToStopAgent) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	s, err := a.Agent.Start(ctx, o)
	return slowToStopSession{s}, err
}

func (s slowToStopSession) Turn(ctx context.Context, _ agent.Turn, emit func(agent.Event)) (agent.Result, error) {
	emit(agent.Event{Kind: agent.KindTool, Tool: "Bash"})
	<-ctx.Done()
	time.Sleep(300 * time.Millisecond)
	for range 200 {
		emit(agent.Event{Kind: agent.KindNote, Text: "still here"})
	}
	return agent.Result{SessionID: "other", Failure: &loop.Failure{Class: loop.Interrupted, Message: "interrupted"}}, nil
}

func TestSecondInterruptWaitsOnlyForTheTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = slowToStopAgent{d.Agent}
	causes := make(chan string, 2)
	d.Cancellations = causes
	s, err := b.drive(t.Context(), d, &onCommand{logObserver: logObserver{t}, then: func() {
		causes <- loop.ByInterrupt
		causes <- loop.ByInterrupt
	}})
	if err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %v", s.Phase, err)
	}
}

func TestInterruptedFreshTurnDoesNotResumeOlderSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"plan.md": twoTasks, "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"})
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n", []string{"plan.md"},
		withGate(map[string]any{"evidence": []string{"unproven"}, "warm": false}))
	d.Agent = &killedAtSecondStart{Agent: d.Agent, then: kill}
	if _, err := b.drive(ctx, d, logObserver{t}); err == nil {
		t.Fatal("not killed")
	}
	m, _, err := record.Load(b.loop)
	if err != nil || m.Session.ID != "" || m.State.Current != "2" {
		t.Fatalf("task %s would take up %q (%v)", m.State.Current, m.Session.ID, err)
	}
}

func TestWorktreeOfKilledOwnerIsRemovedFromGitList(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = &killedAtSecondStart{Agent: d.Agent, n: 1, then: kill}
	if _, err := b.drive(ctx, d, logObserver{t}); err == nil {
		t.Fatal("not killed")
	}
	left := filepath.Join(checkout.Folder(filepath.Join(b.loop.Dir, "verify")), "worktree-1")
	b.git("worktree", "add", "-q", "--detach", left)
	b.rewrite(haveAll)
	if s := b.resume(logObserver{t}); s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if list := b.git("worktree", "list"); strings.Contains(list, "worktree-1") {
		t.Errorf("left:\n%s", list)
	}
}

// killedAtSecondStart is an agent whose owner is killed while its second session starts.
type killedAtSecondStart struct {
	agent.Agent
	then func()
	n    int
}

func (a *killedAtSecondStart) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	if a.n++; a.n == 2 {
		time.Sleep(100 * time.Millisecond) // the journal is written by then
		a.then()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return a.Agent.Start(ctx, o)
}
