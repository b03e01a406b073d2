package mutant

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Line is an added line with one mutant.
type Line struct {
	Number           int
	Text             string // the line
	Function         string // that it is in; "" = none
	Order            int    // the order of trial, see Lines
	WholeCondition   bool   // the whole condition, not only its last operand
	InputIndependent bool   // a condition that ignores the function's input
	Shortcut         bool   // a condition on the function's input that only leaves; the rest may do the same
	Mutant           Mutant
}

// The orders of lines: what others see of the work first, what is often the same either way
// last.
const (
	effectOrder = iota
	conditionOrder
	statementOrder
	valueOrder
)

// Lines returns every mutant of a file's added lines: statements omitted, conditions never true,
// numbers one more, comparisons with or without equality.
func Lines(file string, before, after []byte) []Line {
	added := addedLines(file, before, after)
	lines := slices.Concat(branches(file, added), statements(file, added), valueMutants(file, added))
	slices.SortStableFunc(lines, func(a, b Line) int { return a.Order - b.Order })
	return lines
}

// addedLine is a program line that a change added.
type addedLine struct {
	number    int
	at        int      // where it begins
	after     []byte   // the file
	all       string   // its code: without comments and strings
	function  function // that it is in
	inChanged bool     // the function is added or changed; always true in a shell script
	text      string   // the line
	code      string   // the line's code
}

func (l addedLine) trimmed() string { return strings.TrimSpace(l.text) }

// line returns the line with a mutant, its replaced range relative to the line.
func (l addedLine) line(order int, m Mutant) Line {
	m.from, m.to = l.at+m.from, l.at+m.to
	return Line{Number: l.number, Text: l.trimmed(), Function: l.function.name, Order: order, Mutant: m}
}

// addedLines returns the added lines of a known language or shell script, without inline tests.
func addedLines(file string, before, after []byte) (added []addedLine) {
	shell := IsShell(file)
	if !Knows(file) && !shell || source.IsGenerated(after) {
		return nil
	}
	known := map[string]int{}
	for line := range strings.Lines(string(before)) {
		known[strings.TrimSpace(line)]++
	}
	code := Code(file, after)
	inside, tests := functionsByLine(file, before, after), testLines(file, after)
	at, n := 0, 0
	for line := range strings.Lines(code) {
		n++
		l := addedLine{number: n, at: at, after: after, all: code, text: string(after[at : at+len(line)]), code: line}
		l.function, l.inChanged = inside[n]
		l.inChanged = l.inChanged || shell
		if known[l.trimmed()]--; known[l.trimmed()] < 0 && !tests[n] {
			added = append(added, l)
		}
		at += len(line)
	}
	return added
}

// functionsByLine maps body lines to their added or changed function; in a shell script, to any
// function.
func functionsByLine(file string, before, after []byte) map[int]function {
	inside := map[int]function{}
	changed := Changed(file, before, after)
	for _, f := range functions(file, after) {
		if !slices.ContainsFunc(changed, func(c Function) bool { return c.Name == f.name }) {
			continue
		}
		for n := f.line + 1; n < f.line+1+strings.Count(f.text, "\n"); n++ {
			inside[n] = f
		}
	}
	if IsShell(file) {
		shellFunctions(string(after), inside)
	}
	return inside
}

// testLines returns the lines of inline tests.
func testLines(file string, after []byte) map[int]bool {
	lines := map[int]bool{}
	l := languageOf(file)
	if l == nil {
		return lines
	}
	s := source.BareFile(file, string(after))
	for _, b := range l.testBlocks(s) {
		for n := s.LineOf(b[0]); n <= s.LineOf(b[1]-1); n++ {
			lines[n] = true
		}
	}
	return lines
}

// ChangedNames returns the names of added or changed functions; in a shell script, of those with
// added lines.
func ChangedNames(file string, before, after []byte) (names []string) {
	for _, f := range Changed(file, before, after) {
		names = append(names, f.Name)
	}
	if !IsShell(file) {
		return names
	}
	for _, l := range addedLines(file, before, after) {
		if name := l.function.name; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// NameAt returns the function at a line, after its head, or else the table declared there; "" if
// none.
func NameAt(file string, content []byte, number int) string {
	if IsShell(file) {
		inside := map[int]function{}
		shellFunctions(string(content), inside)
		return inside[number].name
	}
	for _, f := range functions(file, content) {
		if number > f.line && number <= f.line+strings.Count(f.text, "\n") {
			return f.name
		}
	}
	lines := strings.Split(Code(file, content), "\n")
	if number > len(lines) {
		return ""
	}
	indent := source.Indent(lines[number-1])
	for _, line := range slices.Backward(lines[:number-1]) {
		if strings.TrimSpace(line) == "" || source.Indent(line) >= indent {
			continue
		}
		if m := declaration.FindStringSubmatch(line); m != nil {
			return m[1]
		}
		return ""
	}
	return ""
}

// declaration matches the head of a declaration over several lines, with its name.
var declaration = regex.New(`^[^=(]*?([A-Za-z_$][\w$]*)(?:\[\w*\])*\s*(?::[^=]*)?:?=[^=>]?.*[({\[]\s*$`)
