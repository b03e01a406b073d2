package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

const (
	contexts     = 50
	callsPerTurn = 5 // each prints 30 kB
)

// memoryRatio compares the resident memory of one client after 50 contexts with that of 50
// clients that had one each: in every context the same tool calls, whose output is large.
func memoryRatio(ctx context.Context, l *lab) (outcome, error) {
	living, start, done, err := l.living(ctx, func(r messagesapi.Request) messagesapi.Response {
		if calls := (r.Number - 1) % (callsPerTurn + 1); calls < callsPerTurn {
			return messagesapi.Bash("seq 1 6000")
		}
		return messagesapi.Text(strings.Repeat("Good morning. ", 200))
	})
	if err != nil {
		return outcome{}, err
	}
	defer done()
	rss := func(s agent.Session) (int64, error) {
		_, err := s.Turn(ctx, agent.Turn{Prompt: "hello", Timeout: time.Minute}, nil)
		return s.(agent.Warm).RSS() >> 20, err
	}
	var warm, fresh []int64
	for i := range contexts {
		if i > 0 {
			if err := living.(agent.Warm).Fresh(ctx); err != nil {
				return outcome{}, err
			}
		}
		grown, err := rss(living)
		if err != nil {
			return outcome{}, err
		}
		s, err := start(ctx)
		if err != nil {
			return outcome{}, err
		}
		alone, err := rss(s)
		if _ = s.Close(); err != nil {
			return outcome{}, err
		}
		warm, fresh = append(warm, grown), append(fresh, alone)
	}
	fmt.Fprintln(os.Stderr, "MB in one process:", warm)
	most, usual := slices.Max(warm), slices.Sorted(slices.Values(fresh))[contexts/2]
	return outcome{
		reference: fmt.Sprintf("%d MB", usual), measured: fmt.Sprintf("%d MB", most),
		result: fmt.Sprintf("%.2f ×", float64(most)/float64(usual)), ok: most <= 3*usual,
	}, nil
}
