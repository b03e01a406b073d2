package verifyactive

import (
	"fmt"
	"strconv"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// RetryMessage is said when check number iteration of at most most (0: any number) has
// failed and work goes on.
func RetryMessage(iteration, most int) string {
	if most <= 0 {
		return fmt.Sprintf("Shell Verification FAILED (Iteration %d)", iteration)
	}
	return fmt.Sprintf("Shell Verification FAILED (Iteration %d/%d)", iteration, most)
}

// PassedMessage is said when the command has succeeded at check n.
func PassedMessage(n int) string { return fmt.Sprintf("[Verify] PASSED on iteration %d!", n) }

// MaxReachedMessage is said when n checks have failed and no more are allowed.
func MaxReachedMessage(n int) string {
	return fmt.Sprintf("[Verify] Max iterations (%d) reached. Stopping.", n)
}

// NewerVersionMessage says why the state of a newer claude-prompts is not followed.
func NewerVersionMessage(path string) string {
	return path + " is the SQLite state of a newer claude-prompts, which pawl does not read; type  :: verify:\"COMMAND\"  in the session, or  pawl start --verify COMMAND"
}

// Stats says on one line what an isolated try has taken, for people.
func Stats(t loop.IsolatedTurn) string {
	return fmt.Sprintf("Cost $%.4f · Duration %.1fs · Tokens %s in / %s out (cache: %s) · Turns %d",
		t.Usage.CostUSD, t.Took.Seconds(), grouped(t.Usage.Input), grouped(t.Usage.Output), grouped(t.Usage.CacheRead), t.Rounds)
}

// grouped is a count with its thousands set apart: 1,234.
func grouped(n int64) string {
	digits := strconv.FormatInt(max(n, 0), 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
