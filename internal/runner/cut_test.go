package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/runner"
)

// slow is an agent whose client does not come up before it is told to give up.
type slow struct{ agent.Agent }

func (slow) Start(ctx context.Context, _ agent.Options) (agent.Session, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAStopWhileTheClientStarts(t *testing.T) {
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(nil))
	d.Agent = slow{d.Agent}
	b.loop = d.Loop
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w := &sender{teller: teller{t}, b: b, at: loop.GatesFinished, send: []runner.Message{{Kind: runner.MessageStop}}}
	s, err := b.drive(ctx, d, w)
	if err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %v", s.Phase, err)
	}
}

func TestTheTimeLimitPassesWhileTheClientStarts(t *testing.T) {
	b := newBench(t, words)
	d := b.begin("", []string{"have every word"}, withGate(map[string]any{"max_duration": "1s"}))
	d.Agent = slow{d.Agent}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := b.drive(ctx, d, teller{t})
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
	b := newBench(t, words)
	d := b.begin(haveAll, []string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}))
	d.Agent = &flaky{Agent: d.Agent, fails: 1}
	s, err := b.drive(t.Context(), d, teller{t})
	if err != nil || s.Outcome != loop.Verified || s.Iteration != 1 {
		t.Fatalf("%s after %d: %s %v", s.Outcome, s.Iteration, s.Reason, err)
	}
}

func TestASessionThatIsGoneIsForgotten(t *testing.T) {
	b := newBench(t, words)
	script := "-- 1/failure --\ncrashed gone\n-- 2/failure --\ncrashed again\n" + strings.ReplaceAll(haveAll, "1/", "3/")
	d := b.begin(script, []string{"have every word"}, withGate(nil))
	d.Agent = &flaky{Agent: d.Agent, resume: 1}
	s, err := b.drive(t.Context(), d, teller{t})
	if err != nil || s.Outcome != loop.Verified {
		t.Fatalf("%s: %s %v", s.Outcome, s.Reason, err)
	}
}
