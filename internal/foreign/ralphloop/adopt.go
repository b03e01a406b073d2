package ralphloop

import "github.com/pawl-dev/pawl/internal/foreign/freshness"

// FileContext is what is known about a state file beside its content.
type FileContext = freshness.FileContext

// Adopt tells whether the session may follow the file, and if not, why, as a
// person would be told; "" where there is nothing to say because the loop is
// another session's.
//
// A file can lie in a folder for reasons other than that its owner began a loop:
// it came with a clone, an archive, or was left by a session long gone. So a file
// with no session of its own must have been written in the session that takes it.
func Adopt(f *File, c FileContext) (ok bool, why string) {
	switch {
	case f.SessionID != "" && f.SessionID != c.SessionID:
		return false, ""
	case c.Tracked:
		return false, "git tracks " + Path + ", so it may have come with a clone; if it is yours: git rm --cached " + Path
	case c.Followed:
		return false, "the ralph-loop plugin is enabled: " + Path + " is left to it"
	case !f.Active:
		return false, Path + " says that the loop is not active; to begin one set active: true"
	case f.SessionID != "":
		return true, ""
	case freshness.IsInFuture(c.Modified, c.Now):
		return false, Path + " names no session, and its time lies in the future"
	case freshness.IsStale(c.Modified, c.SessionStarted, c.Now):
		return false, Path + " names no session and " + freshness.TooOldMessage(c.Begin)
	}
	return true, ""
}
