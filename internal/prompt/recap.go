package prompt

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// recapped is how many iterations are told one by one.
const recapped = 8

// Recap tells the newest iterations one by one and counts those before, for
// Data.Recap. Each item is one bounded line.
func Recap(history []loop.RecapLine) []string {
	var out []string
	old := max(0, len(history)-recapped)
	if old > 0 {
		out = append(out, fmt.Sprintf("%d earlier iterations", old))
	}
	for _, h := range history[old:] {
		text := fmt.Sprintf("iteration %d", h.Iteration)
		if h.Task != "" && h.Task != loop.GoalTask {
			text += ", " + head(line(h.Task), 40)
		}
		text += ": " + line(h.What)
		if h.Said != "" {
			text += "; " + line(h.Said)
		}
		out = append(out, line(text))
	}
	return out
}
