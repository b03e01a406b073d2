// Package freshness tells by the time of another tool's state file whether a loop
// was asked for in the session that finds it:
//
//	freshness.Stale(modified, sessionStarted, now)  // left by a session before it
//	freshness.Future(modified, now)                 // by a clock that is wrong
//
// Such files name no session, and lie around for ever when their loop has ended.
// What was written since the session began is meant for it; where nobody knows
// when that was, an hour is long enough.
package freshness

import "time"

const (
	// freshFor is how old a file may be where nobody knows when the session began.
	freshFor = time.Hour
	// coarse is by how much the times of files may be off: some file systems count
	// in steps of two seconds.
	coarse = 2 * time.Second
	// skew is by how much a file server's clock may be ahead.
	skew = 2 * time.Minute
)

// Stale tells whether a file is older than the session, whose start is zero if it
// is not known.
func Stale(modified, started, now time.Time) bool {
	if started.IsZero() {
		return modified.Before(now.Add(-freshFor))
	}
	return modified.Before(started.Add(-coarse))
}

// Future tells whether the time of a file is no time at which it can have been
// written.
func Future(modified, now time.Time) bool { return modified.After(now.Add(skew)) }
