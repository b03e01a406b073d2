// Package verifyactive reads and writes the files of the verify loop of claude-prompts:
// its state file, the part of its settings that concerns the loop, what a user
// types to begin one, and its messages.
//
//	f, err := verifyactive.Parse(data)      // of runtime-state/verify-active.json
//	f = f.SetIteration(f.Iteration + 1)     // f.Bytes() differs in the number only
//	p, found, err := verifyactive.ParsePrompt(`Fix it :: verify:"npm test" max:3`)
//	text := verifyactive.RetryMessage(2, 5) // what people's scripts look for
//
// The state file is JSON of another program's server, so unknown keys, their order and the layout
// stay. Mistakes are errors that name the line. Missing values get the defaults of that program.
//
// The file is untrusted: the caller must have the user's consent before it runs the command. The
// package neither reads files, runs commands nor decides when a loop ends.
package verifyactive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/foreign/freshness"
)

// Paths of files relative to the folder of claude-prompts, with slashes. The server writes its state
// below the folder in which it was started: the plugin's, or server in it.
const (
	StatePath        = "runtime-state/verify-active.json"
	ServerConfigPath = "server/config.json"
	ConfigPath       = "config.json"
)

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 1 << 20

// Defaults and limits.
const (
	DefaultTimeout = 300 * time.Second
	DefaultMax     = 5  // of checks, see ParsePrompt
	DefaultMaxLoop = 10 // of a loop: in state files, and with loop:true
	maxIterations  = 1000
	maxTimeout     = 24 * time.Hour
	maxOutputBytes = 5000 // bytes of each stream that lastResult keeps
)

// File is a state file with its values. Changes to the fields do not affect Bytes.
type File struct {
	Command       string // must succeed; never blank
	Timeout       time.Duration
	MaxIterations int    // 1 or more
	WorkingDir    string // as written; "" is the session's
	Preset        string
	Goal          string // what the user asked for, as they typed it; "" if not known
	Iteration     int    // number of checks so far

	data []byte
}

// Result is the result of a run of the command, as the file stores it.
type Result struct {
	Passed     bool   `json:"passed"`
	ExitCode   int    `json:"exitCode"` // -1 if it did not exit by itself
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"` // "" where both went into Stdout
	DurationMs int64  `json:"durationMs"`
	Command    string `json:"command"`
	TimedOut   bool   `json:"timedOut"`
}

// Bytes returns the file with the values that were set. Callers must not change it.
func (f *File) Bytes() []byte { return f.data }

// SetIteration returns the file after n checks (0 or more), with no other change.
func (f *File) SetIteration(n int) *File {
	return f.set("iteration", strconv.Itoa(max(n, 0)))
}

// SetLast returns the file with the last result, with no other change. It keeps as many bytes of
// the streams' ends as the server does.
func (f *File) SetLast(r Result) *File {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	r.Stdout, r.Stderr = lastBytes(r.Stdout), lastBytes(r.Stderr)
	_ = enc.Encode(r) // strings, numbers and booleans: no error
	return f.set("lastResult", string(bytes.TrimSpace(b.Bytes())))
}

func lastBytes(output string) string { return output[max(0, len(output)-maxOutputBytes):] }

// set replaces the value of a name in the state.
func (f *File) set(name, value string) *File {
	d, root, _ := openDocument(f.data) // it was read before
	state, found := d.find(root, "state")
	var at span
	var text string
	switch {
	case !found:
		at, text = d.insertion(root, "state", fmt.Sprintf("{%q: %s}", name, value))
	case d.kind(state) != '{': // null
		at, text = state, fmt.Sprintf("{%q: %s}", name, value)
	default:
		if at, found = d.find(state, name); found {
			text = value
			break
		}
		at, text = d.insertion(state, name, value)
	}
	g, err := parse(slices.Concat(f.data[:at.at], []byte(text), f.data[at.end:]))
	if err != nil { // never, see FuzzEdit
		return f
	}
	return g
}

// WhyNotFollow returns why a session may not follow the file, in words that follow the file's name; "" if
// it may. The file's session id is the server's, not the client's, so the file must have been
// written during the session that follows it.
func WhyNotFollow(f *File, c freshness.FileContext) (why string) {
	switch {
	case c.Followed:
		return "is left to the Stop hook of claude-prompts, which is in effect: disable that plugin or hook to have pawl follow it"
	case freshness.IsInFuture(c.Modified, c.Now):
		return "has a time that lies in the future"
	case !IsFresh(c.Modified, c):
		return freshness.TooOldMessage(c.StartCommand)
	case f.Iteration >= f.MaxIterations:
		return fmt.Sprintf("says that all of its %d iterations are used up", f.MaxIterations)
	}
	return ""
}

// IsFresh reports whether a time is within this session, as far as that is known.
func IsFresh(at time.Time, c freshness.FileContext) bool {
	return !freshness.IsStale(at, c.SessionStarted, c.Now)
}

// RetryMessage returns the message after failed check number iteration of at most most (0 =
// unlimited).
func RetryMessage(iteration, most int) string {
	if most <= 0 {
		return fmt.Sprintf("Shell Verification FAILED (Iteration %d)", iteration)
	}
	return fmt.Sprintf("Shell Verification FAILED (Iteration %d/%d)", iteration, most)
}

// PassedMessage returns the message when the command succeeded at check n.
func PassedMessage(n int) string { return fmt.Sprintf("[Verify] PASSED on iteration %d!", n) }

// MaxReachedMessage returns the message when n checks have failed and no more are allowed.
func MaxReachedMessage(n int) string {
	return fmt.Sprintf("[Verify] Max iterations (%d) reached. Stopping.", n)
}

// NewerVersionMessage returns why the state of a newer claude-prompts is not followed.
func NewerVersionMessage(path string) string {
	return path + " is the SQLite state of a newer claude-prompts, which pawl does not read; type  :: verify:\"COMMAND\"  in the session, or  pawl start --verify COMMAND"
}

// Stats returns the cost of an isolated attempt on one line.
func Stats(t loop.IsolatedTurn) string {
	return fmt.Sprintf("Cost $%.4f · Duration %.1fs · Tokens %s in / %s out (cache: %s) · Turns %d",
		t.Usage.CostUSD, t.Took.Seconds(), formatThousands(t.Usage.Input), formatThousands(t.Usage.Output), formatThousands(t.Usage.CacheRead), t.Rounds)
}

// formatThousands formats a count with separators: 1,234.
func formatThousands(n int64) string {
	digits := strconv.FormatInt(max(n, 0), 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
