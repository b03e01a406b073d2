package work

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// A Makefile is a gate input except for its lists of the program's sources: new sources are
// added there.

var (
	makefileName = regex.New(`^(GNU|BSD)?[Mm]akefile(\..*)?$|\.mk$`)
	// assignment matches an assignment of a list, which may span several lines.
	assignment = regex.New(`^[ \t]*((?:export[ \t]+)?[\w.-]+[ \t]*(?:[:+?]|::)?=)((?:[^\n\\]|\\[^\n]|\\\n)*)\n?`)
)

// ListsSources reports whether a build file may list sources, see WithNewSources.
func ListsSources(file string) bool { return makefileName.MatchString(path.Base(file)) }

// WithNewSources returns the old version of a build file with the new sources that the new
// version adds to its lists. isNew reports whether a path, relative to the file's folder, is
// a new source. Only Makefiles have such lists.
func WithNewSources(file string, was, now []byte, isNew func(name string) bool) []byte {
	if !ListsSources(file) {
		return was
	}
	after := logicalLines(string(now))
	usesFirst := bytes.Contains(was, []byte("$<"))
	var out strings.Builder
	for _, line := range logicalLines(string(was)) {
		i := slices.IndexFunc(after, func(next string) bool { return addsSources(line, next, usesFirst, isNew) })
		if i >= 0 {
			line = after[i]
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}

// logicalLines splits a Makefile into assignments and other lines.
func logicalLines(text string) []string {
	var lines []string
	for text != "" {
		n := strings.IndexByte(text, '\n') + 1
		if m := assignment.FindStringIndex(text); m != nil {
			n = m[1]
		}
		if n == 0 {
			n = len(text)
		}
		lines, text = append(lines, text[:n]), text[n:]
	}
	return lines
}

// addsSources reports whether the assignment now only adds new sources to that in was. The first
// source must stay first if $< in a recipe may refer to it.
func addsSources(was, now string, usesFirst bool, isNew func(name string) bool) bool {
	a, b := assignment.FindStringSubmatch(was), assignment.FindStringSubmatch(now)
	if was == now || a == nil || b == nil || a[1] != b[1] {
		return false
	}
	before, after := sourceNames(a[2]), sourceNames(b[2])
	if len(before) == 0 || len(after) == 0 || usesFirst && before[0] != after[0] {
		return false
	}
	for _, name := range after {
		if len(before) > 0 && name == before[0] {
			before = before[1:]
			continue
		}
		if !isNew(name) && !slices.ContainsFunc(strings.Fields(".c .cc .cpp .cxx .s .f90"), func(ext string) bool {
			return path.Ext(name) == ".o" && isNew(strings.TrimSuffix(name, ".o")+ext)
		}) {
			return false
		}
	}
	return len(before) == 0
}

// sourceNames returns the words of a list, or nil if one is not the name of a source or an
// object file.
func sourceNames(list string) []string {
	words := strings.Fields(strings.ReplaceAll(list, "\\\n", " "))
	for _, word := range words {
		if path.Ext(word) != ".o" && !IsSource(word) {
			return nil
		}
	}
	return words
}
