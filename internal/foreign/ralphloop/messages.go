package ralphloop

import "fmt"

// NoLoop is what cancelling says where there is nothing to cancel.
const NoLoop = "No active Ralph loop found."

// Iteration is what the user sees when iteration n begins; "" stands for a
// loop without a promise.
func Iteration(n int, promise string) string {
	if promise == "" {
		return fmt.Sprintf("🔄 Ralph iteration %d | No completion promise set - loop runs infinitely", n)
	}
	return fmt.Sprintf("🔄 Ralph iteration %d | To stop: output <promise>%s</promise> (ONLY when statement is TRUE - do not lie to exit!)", n, promise)
}

// MaxReached is said when the limit of n iterations ends the loop.
func MaxReached(n int) string {
	return fmt.Sprintf("🛑 Ralph loop: Max iterations (%d) reached.", n)
}

// Detected is said when the promise ends the loop.
func Detected(promise string) string {
	return fmt.Sprintf("✅ Ralph loop: Detected <promise>%s</promise>", promise)
}

// Cancelled is what cancelling says of a loop that was at iteration n.
func Cancelled(n int) string {
	return fmt.Sprintf("Cancelled Ralph loop (was at iteration %d)", n)
}
