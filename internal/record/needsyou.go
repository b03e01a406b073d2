package record

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Group says who must act next on a loop.
type Group int

// The groups, in the order in which a user wants to read them.
const (
	GroupNeedsYou Group = iota
	GroupWorking
	GroupEnded
)

func (g Group) String() string { return [...]string{"NEEDS YOU", "WORKING", "ENDED"}[g] }

// needsYouPeriod is how long an ended loop with unfinished work stays in the group of those
// that need the user.
const needsYouPeriod = 7 * 24 * time.Hour

// Group returns who must act next. A loop needs its user if it asks a question, waits for
// an approval, was paused, lost its process, or ended lately with work that it could not do.
func (s Summary) Group(now time.Time) Group {
	switch {
	case s.State == "paused", s.State == "orphaned", s.Capped && !s.Closed, s.State != "ended" && s.Question != nil:
		return GroupNeedsYou
	case s.State != "ended":
		return GroupWorking
	case len(s.Tests) > 0, s.Merge != "":
		return GroupNeedsYou
	case now.Sub(s.EndedAt) > needsYouPeriod, s.Outcome == loop.Verified, s.Outcome == loop.Finished, s.Outcome == loop.CancelledEnd:
		return GroupEnded
	}
	return GroupNeedsYou
}

// FilterAndGroup returns the loops that a filter matches ("" matches all) in the order of their
// groups, the newest first in each.
func FilterAndGroup(loops []Summary, filter string, now time.Time) []Summary {
	filter = strings.ToLower(filter)
	out := slices.DeleteFunc(slices.Clone(loops), func(s Summary) bool {
		text := strings.ToLower(s.ID + " " + s.Name + " " + s.Goal + " " + s.State + " " + string(s.Outcome) + " " + s.Root)
		return filter != "" && !strings.Contains(text, filter)
	})
	slices.SortStableFunc(out, func(a, b Summary) int {
		if d := int(a.Group(now)) - int(b.Group(now)); d != 0 {
			return d
		}
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	return out
}
