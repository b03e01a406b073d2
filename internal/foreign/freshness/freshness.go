// Package freshness tells by the time of another tool's state file whether a loop
// was asked for in the session that finds it:
//
//	freshness.IsStale(modified, sessionStarted, now)  // left by a session before it
//	freshness.IsInFuture(modified, now)               // by a clock that is wrong
//	freshness.TooOldMessage(begin)                    // what a user is told of the first
//
// Such files name no session, and lie around for ever when their loop has ended.
// What was written since the session began is meant for it, and in the minute before:
// a script writes the files, then starts the client. Where nobody knows when that was,
// an hour is long enough.
package freshness

import "time"

// FileContext is what is known about a state file beside its content.
type FileContext struct {
	SessionID      string    // of the session that asks, for files that name one
	SessionStarted time.Time // zero if not known
	Modified       time.Time // of the file
	Now            time.Time
	Tracked        bool   // git tracks the file
	Followed       bool   // a hook or plugin of the tool's own is in effect, and follows the file itself
	Begin          string // the command that begins the loop though its file is too old
}

const (
	// freshFor is how old a file may be where nobody knows when the session began.
	freshFor = time.Hour
	// before is how long before its session a file may be written. It covers file
	// systems that count in steps of two seconds.
	before = time.Minute
	// skew is by how much a file server's clock may be ahead.
	skew = 2 * time.Minute
)

// IsStale reports whether a file is older than the session, whose start is zero if it
// is not known.
func IsStale(modified, started, now time.Time) bool {
	if started.IsZero() {
		return modified.Before(now.Add(-freshFor))
	}
	return modified.Before(started.Add(-before))
}

// TooOldMessage says, behind the name of a file that is Stale, why no loop is made of it,
// and the command that has one made.
func TooOldMessage(begin string) string {
	return "is too old to begin by itself; to begin it:  " + begin
}

// IsInFuture reports whether the time of a file is not a time at which it can have been
// written.
func IsInFuture(modified, now time.Time) bool { return modified.After(now.Add(skew)) }
