package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// nextPrompt compares the time from the end of a task's turn to the prompt of the next task,
// as the model sees both, with the least that it takes: the gate once, and a fresh context.
// All of it is by the clock.
func nextPrompt(ctx context.Context, l *lab) (outcome, error) {
	c, err := l.contest(ctx, 10, "")
	if err != nil {
		return outcome{}, err
	}
	defer c.api.Close()
	living, _, done, err := l.living(ctx, messagesapi.Steps(messagesapi.Text("Good morning.")))
	if err != nil {
		return outcome{}, err
	}
	defer done()
	x := contestant{name: "pawl run", argv: c.pawlRun(l.pawl), model: firstOpen}
	subject := func(ctx context.Context) (time.Duration, error) {
		var waits waits
		_, err := c.once(ctx, x, waits.measure(c.model(x)))
		if len(waits.all) != c.tasks-1 && err == nil {
			err = fmt.Errorf("%d waits between %d tasks", len(waits.all), c.tasks)
		}
		if err != nil {
			return 0, err
		}
		return median(waits.all), nil
	}
	reference := func(ctx context.Context) (time.Duration, error) {
		if _, err := living.Turn(ctx, agent.Turn{Prompt: "hello", Timeout: time.Minute}, func(agent.Event) {}); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := living.(agent.Warm).Fresh(ctx); err != nil {
			return 0, err
		}
		_, _, err := process{dir: c.dir, argv: []string{"sh", "gate.sh"}}.run(ctx) // with the tests of the subject's run
		return time.Since(begin), err
	}
	return pair{subject, reference}.within(ctx, min(l.runs, 7), 8)
}

// waits are the times from the last answer of a task to the first request of the next one.
type waits struct {
	mu    sync.Mutex
	ended time.Time
	all   []time.Duration
}

func (w *waits) measure(plays messagesapi.Script) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Response {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(r.ToolResults()) > 0 {
			w.ended = time.Now()
		} else if !w.ended.IsZero() {
			w.all = append(w.all, time.Since(w.ended))
		}
		return plays(r)
	}
}
