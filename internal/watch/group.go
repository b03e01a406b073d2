package watch

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// group is where a loop stands in the overview.
type group int

const (
	needsYou group = iota
	working
	over
)

func (g group) String() string { return [...]string{"NEEDS YOU", "WORKING", "ENDED"}[g] }

// fresh is how long after its end a loop that could not do its work needs its user.
const fresh = 7 * 24 * time.Hour

// groupOf says who must act next. A loop needs its user if it asks a question, waits for an approval, was
// paused, lost its process, or ended lately with work that it could not do.
func groupOf(s record.Summary, now time.Time) group {
	switch s.State {
	case "paused", "orphaned":
		return needsYou
	case "ended":
	default:
		if s.Question != nil {
			return needsYou
		}
		return working
	}
	if len(s.Tests) > 0 || s.Merge != "" {
		return needsYou
	}
	if now.Sub(s.EndedAt) > fresh {
		return over
	}
	switch s.Outcome {
	case loop.Verified, loop.Finished, loop.CancelledEnd:
		return over
	}
	return needsYou
}

// grouped sorts loops by group, the newest first in each, and leaves out those that the
// filter does not match.
func grouped(loops []record.Summary, filter string, now time.Time) []record.Summary {
	filter = strings.ToLower(filter)
	out := slices.DeleteFunc(slices.Clone(loops), func(s record.Summary) bool {
		text := strings.ToLower(s.ID + " " + s.Name + " " + s.Goal + " " + s.State + " " + string(s.Outcome) + " " + s.Root)
		return filter != "" && !strings.Contains(text, filter)
	})
	slices.SortStableFunc(out, func(a, b record.Summary) int {
		if d := int(groupOf(a, now)) - int(groupOf(b, now)); d != 0 {
			return d
		}
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	return out
}
