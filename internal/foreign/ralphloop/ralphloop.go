// Package ralphloop reads and writes the files of the official ralph-loop plugin of
// Claude Code: its state file, the arguments of its command, its messages.
//
//	f, err := ralphloop.Parse(data)        // of .claude/ralph-loop.local.md
//	f = f.SetIteration(f.Iteration + 1)    // f.Bytes() differs in the digits only
//	a, err := ralphloop.ParseArgs(`"Fix it" --max-iterations 20`)
//	why := ralphloop.IterationMessage(2, "DONE")  // what people's scripts look for
//
// The file is front matter (key: value lines between two --- lines), a blank line, and the prompt.
// Users and scripts write it too, so Parse accepts CRLF, a byte order mark, missing and unknown keys,
// and a prompt that contains --- lines. Other mistakes are errors that name the line; the file is
// never deleted because of them.
//
// The file is untrusted: MayFollow reports whether a session may follow it. The package neither reads
// files nor decides when a loop ends.
package ralphloop

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/freshness"
	"github.com/pawl-dev/pawl/internal/foreign/frontmatter"
)

// Path is the state file, relative to the folder in which the loop was started.
const Path = ".claude/ralph-loop.local.md"

// MaxSize is the largest file that is read or written, in bytes.
const MaxSize = frontmatter.MaxSize

// File is a state file with its values. Changes to the fields do not affect Bytes.
type File struct {
	Active        bool   // true unless the file says otherwise
	Iteration     int    // from 1
	MaxIterations int    // if MaxGiven: 0 means unlimited, as written
	MaxGiven      bool   // the file has a limit, be it 0
	SessionID     string // "" = no session owns it yet
	Promise       string // as written, "" = none
	Prompt        string // to the byte, without one line end before and one after it

	text *frontmatter.Text
}

// span is the bytes [at, end) of a text.
type span struct{ at, end int }

// Bytes returns the file with the iteration that was set. Callers must not change it.
func (f *File) Bytes() []byte { return f.text.Bytes() }

// SetIteration returns the file at iteration n (0 or more), with no other change.
func (f *File) SetIteration(n int) *File {
	g := *f
	g.Iteration = max(n, 0)
	g.text = f.text.Set("iteration", strconv.Itoa(g.Iteration))
	return &g
}

// Options are the values of a new file.
type Options struct {
	SessionID     string // "" = not known
	MaxIterations int    // 0 = unlimited
	Promise       string // "" = none; line breaks become blanks
	StartedAt     time.Time
	Prompt        string
}

// New returns the file of a new loop, active and at iteration 1, in the layout of the plugin. It
// fails if the values could not be read back.
func New(o Options) (*File, error) {
	promise := "null"
	if text := oneLine(o.Promise); text != "" {
		promise = `"` + text + `"` // not escaped: the plugin reads all between the outer quotes
	}
	data := fmt.Appendf(nil, "---\nactive: true\niteration: 1\nsession_id: %s\nmax_iterations: %d\ncompletion_promise: %s\nstarted_at: %q\n---\n\n%s\n",
		o.SessionID, o.MaxIterations, promise, o.StartedAt.UTC().Format(time.RFC3339), o.Prompt)
	switch {
	case strings.TrimSpace(o.Prompt) == "":
		return nil, noPrompt()
	case strings.Contains(o.Prompt, "\x00"):
		return nil, failure.New(failure.Usage, "", "the prompt holds a NUL byte")
	case len(data) > MaxSize:
		return nil, failure.New(failure.Usage, "put the long part into a file, and name it in the prompt", "the prompt has %d bytes: at most about %d", len(o.Prompt), MaxSize)
	case o.MaxIterations < 0:
		return nil, failure.New(failure.Usage, "0 means unlimited", "a loop cannot have at most %d iterations", o.MaxIterations)
	}
	f, err := Parse(data)
	if err != nil || f.SessionID != o.SessionID {
		return nil, failure.New(failure.Usage, "", "%q is not a session id", plan.OneLine(o.SessionID, 40))
	}
	return f, nil
}

// oneLine replaces line breaks and other control characters by blanks.
func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return ' '
		}
		return r
	}, text))
}

// MayFollow reports whether the session may follow the file, and if not, returns a message for the
// user. The message is "" if the loop belongs to another session.
//
// A file may also come from a clone, an archive or an old session. So a file without a session must
// have been written in the session that follows it.
func MayFollow(f *File, c freshness.FileContext) (ok bool, why string) {
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
		return false, Path + " names no session and " + freshness.TooOldMessage(c.StartCommand)
	}
	return true, ""
}

// NoLoop is the message if there is no loop to cancel.
const NoLoop = "No active Ralph loop found."

// IterationMessage returns the line for the start of iteration n. "" means a loop without a promise.
func IterationMessage(n int, promise string) string {
	if promise == "" {
		return fmt.Sprintf("🔄 Ralph iteration %d | No completion promise set - loop runs infinitely", n)
	}
	return fmt.Sprintf("🔄 Ralph iteration %d | To stop: output <promise>%s</promise> (ONLY when statement is TRUE - do not lie to exit!)", n, promise)
}

// MaxReachedMessage returns the message when the limit of n iterations ends the loop.
func MaxReachedMessage(n int) string {
	return fmt.Sprintf("🛑 Ralph loop: Max iterations (%d) reached.", n)
}

// PromiseMessage returns the message when the promise ends the loop.
func PromiseMessage(promise string) string {
	return fmt.Sprintf("✅ Ralph loop: Detected <promise>%s</promise>", promise)
}

// CancelledMessage returns the message for a loop cancelled at iteration n.
func CancelledMessage(n int) string {
	return fmt.Sprintf("Cancelled Ralph loop (was at iteration %d)", n)
}
