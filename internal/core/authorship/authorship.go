// Package authorship decides who made a change: the agent, the user or Pawl's gates. Package
// attribution explains the rule, and reads files, clocks and git for it.
//
// Calls says what tool calls may have changed, Timeline compares the times of a file with the
// spans in which they ran. In doubt both attribute a change to the agent.
package authorship

import (
	"slices"
	"strings"
	"time"
)

// Author is who made a change.
type Author string

// The authors.
const (
	Agent Author = "agent" // also in doubt
	User  Author = "user"
	Gates Author = "gates"
)

// NewFileAuthor returns who created a file. fileTimes has the times of the file, and of
// each new folder that it lies in, since the files of a moved folder keep their old times.
// named reports whether a tool call names the file. A command that only mentions a file
// does not attribute it to the agent.
func NewFileAuthor(file string, fileTimes [][]time.Time, calls *Calls, timeline Timeline) (author Author, named bool) {
	if calls.Wrote(file) {
		return Agent, true
	}
	if author := timeline.FileAuthor(fileTimes...); author != Agent {
		return author, false
	}
	return Agent, calls.Named(file)
}

// Edit is a change of a tracked file, with what was attributed to the user before.
type Edit struct {
	File        string      // absolute, with slashes
	Times       []time.Time // of the file; of a deleted one, those of its folder; empty: unknown
	Deleted     bool
	UserEdited  bool        // the user changed the file
	UserTimes   []time.Time // its times then
	UserDeleted bool        // the user deleted the file
}

// EditAuthor returns who changed a tracked file: Agent or User. A deletion by the user stays
// theirs, since other changes in the folder alter its times, and so does an edit that is still
// the same, even if a turn started soon after. A deletion is also theirs if the agent ran no command:
// an editing tool deletes nothing, though it alters the folder's times.
func EditAuthor(e Edit, calls *Calls, timeline Timeline) Author {
	known := e.UserEdited && !e.Deleted
	same := known && len(e.Times) > 0 && slices.EqualFunc(e.Times, e.UserTimes, time.Time.Equal)
	switch {
	case e.Deleted && (e.UserDeleted || !calls.MayHaveDeleted() && !timeline.mayHaveDeleted(e.Times)):
		return User
	case !same && timeline.editAuthor(e.Times, known) == Agent, e.Deleted && calls.Named(e.File), !e.Deleted && calls.Wrote(e.File):
		return Agent
	}
	return User
}

// Mentions reports whether the input of a tool call has a word that contains one of the
// names of a file. Such a call may have created or replaced the file, or have written a
// script that does so later. Words that end in exceptSuffix do not count.
func Mentions(input string, names []string, exceptSuffix string) bool {
	for word := range strings.FieldsFuncSeq(input, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`\\;|&()<>=", r) }) {
		if !strings.HasSuffix(word, exceptSuffix) && slices.ContainsFunc(names, func(n string) bool { return strings.Contains(word, n) }) {
			return true
		}
	}
	return false
}
