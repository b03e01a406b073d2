package authorship

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Calls says what tool calls may have changed since changes were last attributed. A change
// that no call can have made is the user's. The calls of an interrupted turn are kept until
// its changes are attributed.
type Calls struct {
	// Resolve returns the absolute names of a file, with slashes: as given, and with
	// links followed. nil = the path itself.
	Resolve func(path string) []string

	written        []string // all names of the files that an editing tool wrote
	commands       []string // each may have changed the files that it names
	anyChange      bool     // the calls may have made any change
	mayHaveDeleted bool     // another tool than an editing one ran
	leftRunning    bool     // a process that they started may still run
	attributed     bool     // changes were attributed since
}

// BeginTurn drops the calls whose changes were attributed. unseen means that the turn's
// tool calls cannot be observed, so that it may make any change.
func (c *Calls) BeginTurn(unseen bool) {
	if c.attributed {
		c.Clear()
	}
	c.attributed = false
	c.anyChange = c.anyChange || c.leftRunning || unseen
}

// Clear drops all calls.
func (c *Calls) Clear() {
	c.written, c.commands, c.anyChange, c.mayHaveDeleted, c.attributed = nil, nil, false, false, false
}

// Add adds a call that ran or is about to run. A command may make any change, since its
// text does not say what it does. besideUser means that a user works in the same files:
// then a command counts only for files that it names, since most commands change nothing.
func (c *Calls) Add(call Call, besideUser bool) {
	if call.Path != "" && !call.Kind.ReadOnly() {
		c.written = append(c.written, c.resolve(call.Path)...)
	}
	if call.Command != "" {
		c.commands = append(c.commands, call.Command)
	}
	ran := (call.Tool != "" || call.Command != "") && call.Path == "" && !call.Kind.ReadOnly()
	c.anyChange = c.anyChange || call.AnyChange || ran && !besideUser
	c.mayHaveDeleted = c.mayHaveDeleted || ran
}

// AddAnyChange records that any change may come from the calls.
func (c *Calls) AddAnyChange() { c.anyChange = true }

// MarkAttributed records that all changes so far were attributed.
func (c *Calls) MarkAttributed() { c.attributed = true }

// SetLeftRunning records whether a process that the calls started runs on after a turn.
func (c *Calls) SetLeftRunning(running bool) { c.leftRunning = running }

// MayHaveChanged reports whether a call may have changed a file.
func (c *Calls) MayHaveChanged(file string) bool { return c.anyChange || c.Named(file) }

// Named reports whether a call names a file: as the file that it writes, or anywhere in a
// command.
func (c *Calls) Named(file string) bool {
	if len(c.written)+len(c.commands) == 0 { // resolving the links of very many files is slow
		return false
	}
	names := c.resolve(file)
	return c.wroteAny(names) || slices.ContainsFunc(c.commands, func(text string) bool { return strings.Contains(text, path.Base(names[0])) })
}

// Wrote reports whether an editing tool wrote a file, or one in a folder. Some file
// systems do not distinguish upper and lower case.
func (c *Calls) Wrote(file string) bool { return len(c.written) > 0 && c.wroteAny(c.resolve(file)) }

func (c *Calls) wroteAny(names []string) bool {
	return slices.ContainsFunc(c.written, func(written string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			rest := len(written) - len(name)
			return rest >= 0 && strings.EqualFold(written[:len(name)], name) && (rest == 0 || written[len(name)] == '/')
		})
	})
}

// MayHaveDeleted reports whether a call may have deleted a file: any but those of editing tools.
func (c *Calls) MayHaveDeleted() bool { return c.anyChange || c.leftRunning || c.mayHaveDeleted }

// MayHaveCommitted reports whether a command may have made a commit. False positives are
// harmless: it decides only whether later diffs start at that commit.
func (c *Calls) MayHaveCommitted() bool {
	return c.anyChange || slices.ContainsFunc(c.commands, func(command string) bool {
		commits := func(verb string) bool { return strings.Contains(command, verb) }
		return commits("git") && slices.ContainsFunc([]string{"commit", "merge", "rebase", "cherry-pick", "revert", "pull", " am"}, commits)
	})
}

// MayHaveStaged reports whether a command may have put a file into git's index: it stages all files, or
// is one of git's that names this one.
func (c *Calls) MayHaveStaged(file string) bool {
	return slices.ContainsFunc(c.commands, func(command string) bool {
		return stagesAll.MatchString(command) || strings.Contains(command, "git") && strings.Contains(command, path.Base(file))
	})
}

// stagesAll matches git add and git commit of all files.
var stagesAll = regex.New(`\bgit\b[^|;&\n]*\b(?:(?:add|stage)\b[^|;&\n]* (?:-\w*[Au]\w*|--all|--update|\.|:/|\*)(?:[\s;&|]|$)|commit\b[^|;&\n]* (?:-\w*a\w*|--all)(?:[\s;&|]|$))`)

func (c *Calls) resolve(file string) []string {
	if c.Resolve == nil {
		return []string{file}
	}
	return c.Resolve(file)
}
