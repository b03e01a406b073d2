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

// MaxReachedMessage is said when the limit of n iterations ends the loop.
func MaxReachedMessage(n int) string {
	return fmt.Sprintf("🛑 Ralph loop: Max iterations (%d) reached.", n)
}

// PromiseMessage is said when the promise ends the loop.
func PromiseMessage(promise string) string {
	return fmt.Sprintf("✅ Ralph loop: Detected <promise>%s</promise>", promise)
}

// CancelledMessage is what cancelling says of a loop that was at iteration n.
func CancelledMessage(n int) string {
	return fmt.Sprintf("Cancelled Ralph loop (was at iteration %d)", n)
}
