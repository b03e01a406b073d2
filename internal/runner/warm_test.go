package runner_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// cold is an agent that counts its processes. Where they refuse, none gives a second context;
// where they are big, none is asked for one.
type cold struct {
	agent.Agent
	refuses, big   bool
	started, asked int
}

func (c *cold) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	c.started++
	s, err := c.Agent.Start(ctx, o)
	return coldSession{s, c}, err
}

type coldSession struct {
	agent.Session
	of *cold
}

func (s coldSession) RSS() int64 {
	if s.of.big {
		return 1 << 30
	}
	return 0
}

func (s coldSession) Fresh(ctx context.Context) error {
	s.of.asked++
	if s.of.refuses {
		return errors.New("clear the context: the client did not")
	}
	return s.Session.(agent.Warm).Fresh(ctx)
}

// A fresh context is one of the process that runs, for a number of contexts and while it is
// small; one that is refused twice is not asked for again.
func TestFreshContextsShareAProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent          cold
		flags          map[string]any
		started, asked int
	}{
		"by default":     {cold{}, nil, 2, 20}, // 22 contexts
		"where refused":  {cold{refuses: true}, nil, 22, 2},
		"where big":      {cold{big: true}, nil, 22, 0},
		"not if told so": {cold{}, map[string]any{"warm": false}, 22, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, words)
			flags := withGate(map[string]any{"session": "turn", "max_iterations": "22"})
			maps.Copy(flags, c.flags)
			d := b.begin("-- 1+/run --\ntrue\n", []string{"have every word"}, flags)
			a := &cold{Agent: d.Agent, refuses: c.agent.refuses, big: c.agent.big}
			d.Agent = a
			s, err := b.drive(t.Context(), d, teller{t})
			if err != nil || s.Outcome != loop.Iterations {
				t.Fatalf("%s: %s %v", s.Outcome, s.Reason, err)
			}
			if a.started != c.started || a.asked != c.asked {
				t.Errorf("%d processes, asked for %d contexts; want %d, %d", a.started, a.asked, c.started, c.asked)
			}
		})
	}
}
