package gate

import (
	"fmt"
	"strings"
	"time"
)

// maxRuns bounds how often an unknown gate runs on one tree, including the first run.
const maxRuns = 3

// DefaultTimeout applies to gates without a timeout.
const DefaultTimeout = 10 * time.Minute

// RunTimeout returns the time limit of the next run. It doubles after a timeout: the same limit
// would give the same result.
func (g Gate) RunTimeout(tries []Result) time.Duration {
	limit := g.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	if len(tries) > 0 && tries[len(tries)-1].TimedOut {
		limit *= 2
	}
	return limit
}

// NeedsRetry reports whether a gate must run again on the same tree.
// It retries an unknown result unless the command is missing, a failure of a flaky gate once, and a
// timeout once if slow (a loaded machine, or a checkout without build caches).
func NeedsRetry(g Gate, tries []Result, slow bool) bool {
	if len(tries) == 0 {
		return true
	}
	last := tries[len(tries)-1]
	switch {
	case last.Status == Unknown:
		return len(tries) < maxRuns && !last.CannotStart
	case last.Status == Fail:
		return len(tries) == 1 && (g.Flaky || slow && last.TimedOut)
	}
	return false
}

// MergeRuns combines all tries on a tree, at least one, into one result.
func MergeRuns(tries []Result) Result {
	last := tries[len(tries)-1]
	for _, r := range tries[:len(tries)-1] {
		switch {
		case r.TimedOut && last.TimedOut:
			last.TimedOutTwice = true
			last.Reason = r.Reason + ", and again " + strings.TrimPrefix(last.Reason, "timed out ") + ": on a busy machine the limit is doubled"
		case r.TimedOut && last.Status == Pass && last.Warning == "":
			last.Warning = fmt.Sprintf("%s; passed when run again with more time (%s)", r.Reason, last.Duration.Round(time.Second))
		case r.Status == Fail && !r.TimedOut:
			last.Flaky = last.Flaky || last.Status == Pass
		}
	}
	return last
}
