package record

import (
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Group says who must act next about a loop.
type Group int

// The groups, in the order in which a user wants to read them.
const (
	NeedsYou Group = iota
	Working
	Over
)

func (g Group) String() string { return [...]string{"NEEDS YOU", "WORKING", "ENDED"}[g] }

// recent is how long after its end a loop that could not do its work needs its user.
const recent = 7 * 24 * time.Hour

// Group returns who must act next. A loop needs its user if it asks a question, waits for
// an approval, was paused, lost its process, or ended lately with work that it could not do.
func (s Summary) Group(now time.Time) Group {
	switch {
	case s.State == "paused", s.State == "orphaned", s.State != "ended" && s.Question != nil:
		return NeedsYou
	case s.State != "ended":
		return Working
	case len(s.Tests) > 0, s.Merge != "":
		return NeedsYou
	case now.Sub(s.EndedAt) > recent, s.Outcome == loop.Verified, s.Outcome == loop.Finished, s.Outcome == loop.CancelledEnd:
		return Over
	}
	return NeedsYou
}
