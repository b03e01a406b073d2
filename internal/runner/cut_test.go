package runner_test

import (
	"context"
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
