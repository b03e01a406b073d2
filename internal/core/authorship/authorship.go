// Package authorship decides who made a change: the agent, the user or Pawl's gates.
//
// It gets the tool calls that ran (Call) and when they ran (Span). Calls says what they may
// have changed. Timeline compares the times of a file with the spans. In doubt both
// attribute a change to the agent, so that every change is gated and no work is lost. The
// package is pure: the runner and the hooks of a session read files and clocks for it.
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
