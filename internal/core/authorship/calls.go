package authorship

import (
	"path"
	"slices"
	"strings"
)

// Calls is what tool calls may have changed since changes were last attributed. A change
// that none of them explains is the user's. What a turn did that died before its changes
// were attributed is remembered until they are.
type Calls struct {
	// Resolve returns the absolute names of a file, with slashes: as given, and with
	// links followed. nil = the path itself.
	Resolve func(path string) []string

	written    []string // by an editing tool: all names of the files
	commands   []string // each explains what it names
	anything   bool     // any change may come from them
	background bool     // something that they started may still be at work
	attributed bool     // changes were attributed since
}

// BeginTurn forgets what was attributed. Of a turn whose tool calls cannot be seen any
// change may come.
func (c *Calls) BeginTurn(unseen bool) {
	if c.attributed {
		c.Clear()
	}
	c.attributed = false
	c.anything = c.anything || c.background || unseen
}

// Clear forgets all calls.
func (c *Calls) Clear() { c.written, c.commands, c.anything, c.attributed = nil, nil, false, false }

// Add adds a call that ran, or is about to. What a command did cannot be told from its
// text: it explains any change. Beside a user who works in the same files it explains
// only what it names, for most commands change nothing.
func (c *Calls) Add(call Call, besideUser bool) {
	if call.Path != "" && !call.Kind.ReadOnly() {
		c.written = append(c.written, c.names(call.Path)...)
	}
	if call.Command != "" {
		c.commands = append(c.commands, call.Command)
	}
	ran := (call.Tool != "" || call.Command != "") && call.Path == "" && !call.Kind.ReadOnly()
	c.anything = c.anything || call.AnyChange || ran && !besideUser
}

// AddUnknown makes the calls explain any change.
func (c *Calls) AddUnknown() { c.anything = true }

// MarkAttributed says that all changes so far were attributed.
func (c *Calls) MarkAttributed() { c.attributed = true }

// LeaveBackground says whether something that the calls started goes on after a turn.
func (c *Calls) LeaveBackground(goesOn bool) { c.background = goesOn }

// MayHaveChanged reports whether a call may have changed a file.
func (c *Calls) MayHaveChanged(file string) bool { return c.anything || c.Names(file) }

// Names reports whether a call names a file: as what it writes, or anywhere in a command.
func (c *Calls) Names(file string) bool {
	if len(c.written)+len(c.commands) == 0 { // to follow the links of very many files takes long
		return false
	}
	names := c.names(file)
	return c.wrote(names) || slices.ContainsFunc(c.commands, func(text string) bool { return strings.Contains(text, path.Base(names[0])) })
}

// Wrote reports whether an editing tool wrote a file, or one in a folder. Some file
// systems do not distinguish upper and lower case.
func (c *Calls) Wrote(file string) bool { return len(c.written) > 0 && c.wrote(c.names(file)) }

func (c *Calls) wrote(names []string) bool {
	return slices.ContainsFunc(c.written, func(written string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			rest := len(written) - len(name)
			return rest >= 0 && strings.EqualFold(written[:len(name)], name) && (rest == 0 || written[len(name)] == '/')
		})
	})
}

// MayHaveCommitted reports whether a command may have made a commit. It is wide: it
// decides only whether later diffs count from that commit.
func (c *Calls) MayHaveCommitted() bool {
	return c.anything || slices.ContainsFunc(c.commands, func(command string) bool {
		commits := func(verb string) bool { return strings.Contains(command, verb) }
		return commits("git") && slices.ContainsFunc([]string{"commit", "merge", "rebase", "cherry-pick", "revert", "pull", " am"}, commits)
	})
}

func (c *Calls) names(file string) []string {
	if c.Resolve == nil {
		return []string{file}
	}
	return c.Resolve(file)
}
