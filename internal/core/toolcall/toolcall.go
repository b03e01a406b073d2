// Package toolcall describes what a tool call of an agent does, without the names that
// a client has for it. The agent's adapter turns what its client sends into a Call. The
// guard, the records and the attribution of changes use Calls only.
package toolcall

import (
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Kind is what a tool does.
type Kind string

// The kinds of tools.
const (
	Other    Kind = ""         // unknown: it may change any file
	Read     Kind = "read"     // shows the content of a file
	Search   Kind = "search"   // searches the files in a folder
	List     Kind = "list"     // lists the names of files
	Write    Kind = "write"    // creates a file, or replaces its content
	Edit     Kind = "edit"     // changes a part of a file
	Run      Kind = "run"      // runs a command in a POSIX shell
	Fetch    Kind = "fetch"    // reads from the network
	Internal Kind = "internal" // changes the client's own state only, such as its list of tasks
	Answer   Kind = "answer"   // returns the answer that a schema asks for
)

// ReadOnly reports whether tools of this kind change no file.
func (k Kind) ReadOnly() bool { return !slices.Contains([]Kind{Other, Write, Edit, Run}, k) }

// Call is one tool call.
type Call struct {
	Tool    string // the client's name of the tool, for display
	Server  string // MCP server that has the tool, "" = none
	Method  string // the server's name of the tool
	Kind    Kind
	Path    string // file or folder that the call names, as the client gave it; "" = none
	Glob    string // files that a search is limited to, "" = all
	Lines   bool   // a search shows lines, not only names of files
	Command string // the command that it runs, "" = none
	// Background means that the command continues to run after the call.
	Background bool
	Edits      []Replacement
	Texts      []string  // in the input of a tool that takes neither a file nor a command: each may name a file
	Dir        string    // current directory, absolute; "" = the root
	At         time.Time // of an earlier call: when it began; zero = unknown
}

// Replacement is one place that an edit changes. Both are empty if it is unknown.
type Replacement struct{ Old, New string }

// MayWrite reports whether the call may write to a file, by the text of its command.
func (c Call) MayWrite() bool {
	if c.Kind.ReadOnly() {
		return false
	}
	if c.Command == "" {
		return true
	}
	var d writeDetector
	shell.Read(c.Command, shell.Options{}, &d)
	return d.writes
}

// MayCreate reports whether the call may create a file that it names, or replace its
// content. An edit changes only a part of it.
func (c Call) MayCreate() bool { return c.Kind != Edit && c.MayWrite() }

// writeDetector reports whether a script does more than read.
type writeDetector struct{ writes bool }

// Run receives each command.
func (d *writeDetector) Run(c *shell.Command) {
	reads := len(c.Args) == 0 || slices.Contains([]string{"cat", "tail", "head", "grep", "rg", "ls", "wc", "cd", "less", "stat", "echo", "sort"}, c.Args[0].Text)
	d.writes = d.writes || !reads || slices.ContainsFunc(c.Writes, func(w shell.Word) bool { return w.Text != "/dev/null" })
}

// Script receives what cannot be parsed.
func (d *writeDetector) Script(*shell.Command, shell.Word) { d.writes = true }

// TooLong receives what is too long to be parsed.
func (d *writeDetector) TooLong(*shell.Command, shell.Word) { d.writes = true }

// Code receives code in another language.
func (d *writeDetector) Code(*shell.Command, shell.Word) { d.writes = true }
