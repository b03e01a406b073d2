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

// slow is an agent whose client does not come up before it is told to give up.
type slow struct{ agent.Agent }

func (slow) Start(ctx context.Context, _ agent.Options) (agent.Session, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAStopWhileTheClientStarts(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = slow{d.Agent}
	b.loop = d.Loop
	w := &sender{teller: teller{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessageStop}}}
	s, err := b.drive(t.Context(), d, w)
	if err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %v", s.Phase, err)
	}
}

func TestTheTimeLimitPassesWhileTheClientStarts(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(map[string]any{"max_duration": "1s"}))
	d.Agent = slow{d.Agent}
	s, err := b.drive(t.Context(), d, teller{t})
	if err != nil || s.Outcome != loop.Duration {
		t.Fatalf("%s: %v", s.Phase, err)
	}
}

// flaky is an agent whose client comes up only sometimes.
type flaky struct {
	agent.Agent
	fails  int // so often
	resume int // and so often with a session to take up
}

func (f *flaky) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	if f.fails > 0 || f.resume > 0 && o.Resume != "" {
		f.fails--
		return nil, errors.New("the client is being updated")
	}
	return f.Agent.Start(ctx, o)
}

func TestAClientThatDoesNotComeUpIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin(haveAll, []string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}))
	d.Agent = &flaky{Agent: d.Agent, fails: 1}
	s, err := b.drive(t.Context(), d, teller{t})
	if err != nil || s.Outcome != loop.Verified || s.Iteration != 1 {
		t.Fatalf("%s after %d: %s %v", s.Outcome, s.Iteration, s.Reason, err)
	}
}

func TestASessionThatIsGoneIsForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	script := "-- 1/failure --\ncrashed gone\n-- 2/failure --\ncrashed again\n" + strings.ReplaceAll(haveAll, "1/", "3/")
	d := b.begin(script, []string{"have every word"}, withGate(nil))
	d.Agent = &flaky{Agent: d.Agent, resume: 1}
	s, err := b.drive(t.Context(), d, teller{t})
	if err != nil || s.Outcome != loop.Verified {
		t.Fatalf("%s: %s %v", s.Outcome, s.Reason, err)
	}
}

// stubborn is an agent whose turn does not end before a while after it is told
// to, with much to tell in between.
type stubborn struct{ agent.Agent }

type stubbornSession struct{ agent.Session }

func (a stubborn) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	s, err := a.Agent.Start(ctx, o)
	return stubbornSession{s}, err
}

func (s stubbornSession) Turn(ctx context.Context, _ agent.Turn, emit func(agent.Event)) (agent.Result, error) {
	emit(agent.Event{Kind: agent.KindTool, Tool: "Bash"})
	<-ctx.Done()
	time.Sleep(300 * time.Millisecond)
	for range 200 {
		emit(agent.Event{Kind: agent.KindNote, Text: "still here"})
	}
	return agent.Result{SessionID: "other", Failure: &loop.Failure{Class: loop.Interrupted, Message: "interrupted"}}, nil
}

func TestASecondCtrlCWaitsForTheTurnAndForNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = stubborn{d.Agent}
	causes := make(chan string, 2)
	d.Cancellations = causes
	s, err := b.drive(t.Context(), d, &onCommand{teller: teller{t}, then: func() {
		causes <- loop.ByInterrupt
		causes <- loop.ByInterrupt
	}})
	if err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %v", s.Phase, err)
	}
}

func TestAFreshTurnThatWasCutTakesUpNoOlderSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"plan.md": twoTasks, "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"})
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n", []string{"plan.md"},
		withGate(map[string]any{"evidence": []string{"unproven"}, "warm": false}))
	d.Agent = &second{Agent: d.Agent, then: kill}
	if _, err := b.drive(ctx, d, teller{t}); err == nil {
		t.Fatal("not killed")
	}
	m, _, err := record.Load(b.loop)
	if err != nil || m.Session.ID != "" || m.State.Current != "2" {
		t.Fatalf("task %s would take up %q (%v)", m.State.Current, m.Session.ID, err)
	}
}

func TestAKilledOwnersWorktreeLeavesTheUsersList(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = &second{Agent: d.Agent, n: 1, then: kill}
	if _, err := b.drive(ctx, d, teller{t}); err == nil {
		t.Fatal("not killed")
	}
	left := filepath.Join(checkout.Folder(filepath.Join(b.loop.Dir, "verify")), "worktree-1")
	b.git("worktree", "add", "-q", "--detach", left)
	b.rewrite(haveAll)
	if s := b.resume(teller{t}); s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if list := b.git("worktree", "list"); strings.Contains(list, "worktree-1") {
		t.Errorf("left:\n%s", list)
	}
}

// second is an agent whose owner dies while its second session starts.
type second struct {
	agent.Agent
	then func()
	n    int
}

func (a *second) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	if a.n++; a.n == 2 {
		time.Sleep(100 * time.Millisecond) // what was to be journalled is
		a.then()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return a.Agent.Start(ctx, o)
}
