package loopinfo

import (
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

// CurrentSummary returns the summary with the current state: the stored one does not know whether the loop's
// process is alive.
func CurrentSummary(l record.Entry) record.Summary {
	sum := l.Summary
	sum.ID = l.Loop.ID
	if sum.State == "running" || sum.State == "waiting" {
		_, alive, err := l.Loop.Holder()
		sum.State = currentState(sum, alive || err != nil)
	}
	sum.MarkClosedIfGone(proc.Alive)
	return sum
}

// StateOrOutcome returns the state, or the outcome of a loop that ended.
func StateOrOutcome(s record.Summary) string {
	words := s.State + SessionText(s)
	if s.Outcome != "" {
		words = string(s.Outcome)
	}
	if s.State != "ended" && s.Question != nil {
		words += ", asks you"
	}
	if s.State == "paused" && s.Reason != "" {
		words += ": " + plan.OneLine(s.Reason, 60)
	}
	if len(s.Tests) > 0 {
		words += ", waits for an approval"
	}
	if len(s.Approved) > 0 {
		words += ", tests approved"
	}
	if s.Merge != "" {
		words += ", asks you to merge"
	}
	return words
}
