package verifyactive

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/foreign/freshness"
)

// FileContext is what is known about a state file beside its content.
type FileContext = freshness.FileContext

// Adopt says why a session may not follow the file, as a user would be told
// behind the file's name; "" if it may. The file names no session of the client's: its id is the server's
// own. So it must have been written in the session that takes it.
func Adopt(f *File, c FileContext) (why string) {
	switch {
	case c.Followed:
		return "is left to the Stop hook of claude-prompts, which is in effect: disable that plugin or hook to have pawl follow it"
	case freshness.IsInFuture(c.Modified, c.Now):
		return "has a time that lies in the future"
	case !IsFresh(c.Modified, c):
		return freshness.TooOldMessage(c.Begin)
	case f.Iteration >= f.MaxIterations:
		return fmt.Sprintf("says that all of its %d iterations are used up", f.MaxIterations)
	}
	return ""
}

// IsFresh tells whether what was written at a time was written in this session, as
// far as one can know.
func IsFresh(at time.Time, c FileContext) bool {
	return !freshness.IsStale(at, c.SessionStarted, c.Now)
}
