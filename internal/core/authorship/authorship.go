// Package authorship decides whose change it is: the agent's, the user's, or one that
// Pawl's gates made.
//
// It knows tool calls that ran (Call) and when they did (Span). Calls holds what they may
// have changed; Times tells by the times of a file who can have made it. Both are wide: in
// doubt a change is the agent's, so that none goes unjudged and no work is lost. The runner
// and the hooks of a session read files and clocks for it.
package authorship

import (
	"slices"
	"strings"
	"time"
)

// Author made a change.
type Author string

// The authors.
const (
	Agent Author = "agent" // also in doubt
	User  Author = "user"
	Gates Author = "gates"
)

// OfNewFile tells who made a file. times are those of the file, and of each new folder
// that it lies in: a folder that was moved brings its files with their old times. named
// reports whether a tool call names the file. A command that only mentions a file does not
// make it the agent's.
func OfNewFile(file string, times [][]time.Time, calls *Calls, at Times) (author Author, named bool) {
	if calls.Wrote(file) {
		return Agent, true
	}
	if author := at.Author(times...); author != Agent {
		return author, false
	}
	return Agent, calls.Names(file)
}

// Mentions reports whether the input of a tool call has a word that contains one of the
// names of a file: one that may create files may have made it then, or replaced it, or may
// have written a script that does so later. Words that end in spare do not count.
func Mentions(input string, names []string, spare string) bool {
	for word := range strings.FieldsFuncSeq(input, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`\\;|&()<>=", r) }) {
		if !strings.HasSuffix(word, spare) && slices.ContainsFunc(names, func(n string) bool { return strings.Contains(word, n) }) {
			return true
		}
	}
	return false
}
