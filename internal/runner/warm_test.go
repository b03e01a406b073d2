package runner_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// freshCountingAgent counts its processes and requests for a fresh context. It may refuse these, or
// use too much memory for them.
type freshCountingAgent struct {
	agent.Agent
	refuses, big   bool
	started, asked int
}

func (c *freshCountingAgent) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	c.started++
	s, err := c.Agent.Start(ctx, o)
	return freshCountingSession{s, c}, err
}

type freshCountingSession struct {
	agent.Session
	of *freshCountingAgent
}

func (s freshCountingSession) RSS() int64 {
	if s.of.big {
		return 1 << 30
	}
	return 0
}

func (s freshCountingSession) Fresh(ctx context.Context) error {
	s.of.asked++
	if s.of.refuses {
		return errors.New("clear the context: the client did not")
	}
	return s.Session.(agent.Warm).Fresh(ctx)
}

// Fresh contexts share a process, up to a number of contexts and a memory size. After two refusals it
// is not asked again.
func TestFreshContextsShareAProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent          freshCountingAgent
		flags          map[string]any
		started, asked int
	}{
		"by default":     {freshCountingAgent{}, nil, 2, 20}, // 22 contexts
		"where refused":  {freshCountingAgent{refuses: true}, nil, 22, 2},
		"where big":      {freshCountingAgent{big: true}, nil, 22, 0},
		"not if told so": {freshCountingAgent{}, map[string]any{"warm": false}, 22, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, words)
			flags := withGate(map[string]any{"session": "turn", "max_iterations": "22"})
			maps.Copy(flags, c.flags)
			d := b.begin("-- 1+/run --\ntrue\n", []string{"have every word"}, flags)
			a := &freshCountingAgent{Agent: d.Agent, refuses: c.agent.refuses, big: c.agent.big}
			d.Agent = a
			s, err := b.drive(t.Context(), d, logObserver{t})
			if err != nil || s.Outcome != loop.Iterations {
				t.Fatalf("%s: %s %v", s.Outcome, s.Reason, err)
			}
			if a.started != c.started || a.asked != c.asked {
				t.Errorf("%d processes, asked for %d contexts; want %d, %d", a.started, a.asked, c.started, c.asked)
			}
		})
	}
}
