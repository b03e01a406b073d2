package gate

import (
	"fmt"
	"strings"
	"time"
)

// maxTries bounds how often a gate that could not tell is run, the first time
// included.
const maxTries = 3

// DefaultTimeout is the time limit of a gate that sets none.
const DefaultTimeout = 10 * time.Minute

// Limit is the time limit of the next run after the tries until now. A run that
// follows a time-out gets twice the time: with the same limit it would say the same.
func (g Gate) Limit(tries []Result) time.Duration {
	limit := g.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	if len(tries) > 0 && tries[len(tries)-1].TimedOut {
		limit *= 2
	}
	return limit
}

// Again reports whether a gate must run once more on the same tree before its
// result can be used, after the tries until now: when it could not tell, once when it
// is red and declared flaky, and once when it timed out where everything is slow (a
// loaded machine, a place in which nothing was built before). A command that is not
// there is not looked for again.
func Again(g Gate, tries []Result, slow bool) bool {
	if len(tries) == 0 {
		return true
	}
	last := tries[len(tries)-1]
	switch {
	case last.Status == Unknown:
		return len(tries) < maxTries && !last.CannotStart
	case last.Status == Fail:
		return len(tries) == 1 && (g.Flaky || slow && last.TimedOut)
	}
	return false
}

// MergeRuns makes one result of all tries on a tree, at least one.
func MergeRuns(tries []Result) Result {
	last := tries[len(tries)-1]
	for _, r := range tries[:len(tries)-1] {
		switch {
		case r.TimedOut && last.TimedOut:
			last.TimedOutTwice = true
			last.Reason = r.Reason + ", and again " + strings.TrimPrefix(last.Reason, "timed out ") + ": on a busy machine it gets twice the limit"
		case r.TimedOut && last.Status == Pass && last.Warning == "":
			last.Warning = fmt.Sprintf("%s; passed when run again with more time (%s)", r.Reason, last.Duration.Round(time.Second))
		case r.Status == Fail && !r.TimedOut:
			last.Flaky = last.Flaky || last.Status == Pass
		}
	}
	return last
}
