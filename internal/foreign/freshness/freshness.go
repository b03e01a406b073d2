// Package freshness decides by the time of another tool's state file whether the current session
// asked for a loop:
//
//	freshness.IsStale(modified, sessionStarted, now)  // left by an earlier session
//	freshness.IsInFuture(modified, now)               // written with a wrong clock
//	freshness.TooOldMessage(begin)                    // the message for a stale file
//
// Such files name no session and stay after their loop ended. A file counts as the session's if it
// was written since the session started or in the minute before: scripts write the file and then
// start the client. If the start is not known, the file may be an hour old.
package freshness

import "time"

// FileContext is what is known about a state file besides its content.
type FileContext struct {
	SessionID      string    // of the session that asks, for files that name one
	SessionStarted time.Time // zero if not known
	Modified       time.Time // of the file
	Now            time.Time
	Tracked        bool   // git tracks the file
	Followed       bool   // a hook or plugin of the tool is active and follows the file
	StartCommand   string // the command that starts the loop from a file that is too old
}

const (
	// maxAge is the maximum age of a file if the start of the session is not known.
	maxAge = time.Hour
	// startMargin is how long before its session a file may be written. It covers file systems that
	// store times in steps of two seconds.
	startMargin = time.Minute
	// maxClockSkew is how far the clock of a file server may be ahead.
	maxClockSkew = 2 * time.Minute
)

// IsStale reports whether a file is older than the session. started is zero if it is not known.
func IsStale(modified, started, now time.Time) bool {
	if started.IsZero() {
		return modified.Before(now.Add(-maxAge))
	}
	return modified.Before(started.Add(-startMargin))
}

// TooOldMessage returns why a stale file starts no loop, and the command that starts it. It follows
// the name of the file.
func TooOldMessage(begin string) string {
	return "is too old to start by itself; to start it:  " + begin
}

// IsInFuture reports whether the time of a file is in the future, so that it must be wrong.
func IsInFuture(modified, now time.Time) bool { return modified.After(now.Add(maxClockSkew)) }
