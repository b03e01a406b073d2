package watch

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/record"
)

// grouped sorts loops by group, the newest first in each, and leaves out those that the
// filter does not match.
func grouped(loops []record.Summary, filter string, now time.Time) []record.Summary {
	filter = strings.ToLower(filter)
	out := slices.DeleteFunc(slices.Clone(loops), func(s record.Summary) bool {
		text := strings.ToLower(s.ID + " " + s.Name + " " + s.Goal + " " + s.State + " " + string(s.Outcome) + " " + s.Root)
		return filter != "" && !strings.Contains(text, filter)
	})
	slices.SortStableFunc(out, func(a, b record.Summary) int {
		if d := int(a.Group(now)) - int(b.Group(now)); d != 0 {
			return d
		}
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	return out
}
