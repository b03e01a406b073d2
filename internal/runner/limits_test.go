package runner_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// A user raises limits in the first turn. They are kept if the owner dies at any step of that.
func TestRaisedLimitsSurviveOwnerDeath(t *testing.T) {
	t.Parallel()
	for _, at := range []loop.EventKind{"posted", loop.KindLimitsChanged, loop.KindTurnEnded} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, filesWithPlan("- [ ] two\n- [ ] three\n"))
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			d := b.begin(wordByWord, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}, "max_iterations": 1}))
			b.loop = d.Loop
			if s, err := b.drive(ctx, d, &limitRaiser{logObserver: logObserver{t}, b: b, kill: kill, at: at}); err == nil {
				t.Fatalf("not killed: %s %s", s.Outcome, s.Reason)
			}
			s := b.resume(logObserver{t})
			if got, want := s.Policy.Limits, (loop.Limits{Iterations: 5, Duration: time.Hour, Turn: time.Hour}); s.Outcome != loop.Verified || got != want {
				t.Fatalf("%s: %s, limits %+v, want %+v", s.Outcome, s.Reason, got, want)
			}
		})
	}
}

// limitRaiser is a user who raises limits in the first turn.
type limitRaiser struct {
	logObserver
	b      *bench
	kill   func()
	at     loop.EventKind
	raised bool
}

func (w *limitRaiser) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if s.Phase == loop.Turning && !w.raised {
		w.raised = true
		if err := w.b.loop.Post("limits-a", record.Message{Kind: record.MessageLimits, Limits: &loop.Limits{Iterations: 5, Duration: time.Hour}}); err != nil {
			w.t.Error(err)
		}
		if w.at == "posted" {
			w.kill()
		}
	}
	if e.Kind() == w.at {
		w.kill()
	}
}
