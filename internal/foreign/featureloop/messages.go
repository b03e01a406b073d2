package featureloop

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Iteration is what the user sees when iteration n of most begins (0: there is
// no limit), with the feature that is at work; without an id there is none.
func Iteration(n, most int, id, description string) string {
	text := fmt.Sprintf("Ralph Loop iteration %d", n)
	if most > 0 {
		text += fmt.Sprintf("/%d", most)
	}
	if id != "" {
		text += fmt.Sprintf(" | NEXT FEATURE (ID %s): %s", plan.OneLine(id, 40), plan.OneLine(description, 120))
	}
	return text
}

// Verified is said when all n features of the list are.
func Verified(n int) string {
	return fmt.Sprintf("All %d features verified. Loop complete.", n)
}

// idsShown bounds how many ids a message has.
const idsShown = 30

// LimitReached is said when the limit of n iterations ends the loop, with the ids
// of the features that remain.
func LimitReached(n int, remaining []string) string {
	text := fmt.Sprintf("Max iterations (%d) reached. %d features remaining.", n, len(remaining))
	if len(remaining) == 0 {
		return text
	}
	shown := make([]string, min(len(remaining), idsShown))
	for i := range shown {
		shown[i] = plan.OneLine(remaining[i], 40)
	}
	text += " remaining_features: " + strings.Join(shown, ", ")
	if more := len(remaining) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
