package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// In the background, a problem that only the user can fix pauses the loop. pawl resume retries the
// same iteration.
func TestFailureOnlyUserCanFixPausesLoop(t *testing.T) {
	t.Parallel()
	for _, class := range []loop.Class{loop.Login, loop.Billing} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{})
			sc.checkpointed("turn 1 fresh first")
			sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: class, Message: "no", Hint: "log in", Background: true}}}, "note")
			if sc.s.Phase != loop.Paused || sc.s.Trouble.HoldReason != "no (log in)" || sc.s.Outcome != "" {
				t.Errorf("%s, held %q, outcome %q", sc.s.Phase, sc.s.Trouble.HoldReason, sc.s.Outcome)
			}
			sc.now = sc.now.Add(8 * time.Hour)
			sc.feed(loop.Event{Payload: loop.Resumed{}}, "turn 1 continue interrupted")
			if sc.s.Trouble.HoldReason != "" || sc.s.Elapsed() > time.Hour {
				t.Errorf("held %q, worked %s", sc.s.Trouble.HoldReason, sc.s.Elapsed())
			}
		})
	}
}
