package loop

import (
	"cmp"
	"fmt"
)

// Bounds are the counts at which the machine changes its decision.
type Bounds struct {
	Tries          int // failed tries of a task in one session
	Idle           int // turns in a row without a tool call
	UnknownResults int // gate runs with an unknown result
	Failures       int // turns in a row that failed with a network error or overload
	Crashes        int // turns in a row in which the client crashed
	Violations     int // changes of protected files
	ReviewRounds   int // reviews that may fail a task's work
}

// Bounds returns the bounds of this loop.
func (s State) Bounds() Bounds {
	return Bounds{
		Tries: (&machine{s: s}).maxTries(), Idle: maxIdleTurns, UnknownResults: maxUnknowns, Failures: maxFailures, Crashes: maxCrashes,
		Violations: maxViolations, ReviewRounds: cmp.Or(s.Policy.ReviewRounds, defaultReviewRounds),
	}
}

// ViolationRatio formats the n-th violation with the number that ends the loop: "2 of 3".
func ViolationRatio(n int) string { return fmt.Sprintf("%d of %d", n, maxViolations) }

// AttemptNames returns the names of the attempts, indexed by Ladder.Attempt.
func AttemptNames() []string {
	return []string{sameSession: "same session", freshSession: "fresh session", restored: "restore and retry", skipTask: "skip"}
}
