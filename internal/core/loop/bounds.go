package loop

import (
	"cmp"
	"fmt"
)

// Bounds are the counts at which the machine decides otherwise.
type Bounds struct {
	Tries          int // failed tries of a task in one session
	Idle           int // turns in a row without a tool call
	UnknownResults int // runs of gates that could not tell
	Failures       int // turns in a row that died of the network or an overload
	Crashes        int // turns in a row that died with the client
	Violations     int // changes of protected files
	ReviewRounds   int // times that reviews fail the work of a task
}

// Bounds returns those that hold for this loop.
func (s State) Bounds() Bounds {
	return Bounds{
		Tries: (&machine{s: s}).maxTries(), Idle: maxIdleTurns, UnknownResults: maxUnknowns, Failures: maxFailures, Crashes: maxCrashes,
		Violations: maxViolations, ReviewRounds: cmp.Or(s.Policy.ReviewRounds, defaultReviewRounds),
	}
}

// ViolationRatio is the n-th violation of those that end the loop: "2 of 3".
func ViolationRatio(n int) string { return fmt.Sprintf("%d of %d", n, maxViolations) }

// AttemptNames are the attempts at a failing task in words, by Ladder.Attempt.
func AttemptNames() []string {
	return []string{sameSession: "same session", freshSession: "fresh session", restored: "restore and retry", skipTask: "skip"}
}
