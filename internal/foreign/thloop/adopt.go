package thloop

import "github.com/pawl-dev/pawl/internal/foreign/freshness"

// FileContext is what is known about a state file beside its content.
type FileContext = freshness.FileContext

// Adopt tells whether a session may follow the file at the path, and if not, why,
// as a user would be told; "" where there is nothing to say: a file that is not
// active is what each loop leaves behind.
//
// The file names no session, so it must have been written in the one that takes it:
// else it came with a clone or an archive, or was left by a session long gone.
// When the loop started, by the file's own word, tells nothing.
func Adopt(path string, f *File, c FileContext) (ok bool, why string) {
	switch {
	case !f.Active():
		return false, ""
	case c.Tracked:
		return false, "git tracks " + path + ", so it may have come with a clone; if it is yours: git rm --cached " + path
	case c.Followed:
		return false, "th-loop's own hook is installed: " + path + " is left to it; take that out to have pawl follow it"
	case freshness.IsInFuture(c.Modified, c.Now):
		return false, path + " has a time that lies in the future"
	case freshness.IsStale(c.Modified, c.SessionStarted, c.Now):
		return false, path + " " + freshness.TooOldMessage(c.Begin)
	}
	return true, ""
}
