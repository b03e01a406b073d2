package mutant

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Line is a line that a change added, with one way to break it.
type Line struct {
	Number int
	Text   string // the line
	Within string // the function; "" where it is in none
	Order  int    // in which the lines of a change are tried, see Lines
	Whole  bool   // all of a condition, not its last operand
	Blind  bool   // a condition that looks at nothing that its function is given
	Mutant Mutant
}

// The orders of lines: what others see of the work first, what is often the same either way
// last.
const (
	effectOrder = iota
	conditionOrder
	statementOrder
	valueOrder
)

// Lines are those of a file, each broken in every way that is known: a statement is left out,
// a condition never holds, a number is one more, a comparison takes equality in or leaves it out.
func Lines(file string, before, after []byte) []Line {
	added := addedLines(file, before, after)
	lines := slices.Concat(branches(file, added), statements(file, added), changedValues(file, added))
	slices.SortStableFunc(lines, func(a, b Line) int { return a.Order - b.Order })
	return lines
}

// addedLine is a line of a program that a change added to it.
type addedLine struct {
	number   int
	at       int      // where it begins
	after    []byte   // the file
	all      string   // its code: without comments and the insides of strings
	function function // that it stands in
	inside   bool     // it stands in one that the change added or changed; all of a shell script does
	text     string   // the line
	code     string   // of it
}

func (l addedLine) plain() string { return strings.TrimSpace(l.text) }

// line is the line with a stretch of it replaced, which begins and ends in m where it does in
// the line.
func (l addedLine) line(order int, m Mutant) Line {
	m.from, m.to = l.at+m.from, l.at+m.to
	return Line{Number: l.number, Text: l.plain(), Within: l.function.name, Order: order, Mutant: m}
}

// addedLines are those of a file of a language that is known, or of a shell script. Tests
// inside a program are left out.
func addedLines(file string, before, after []byte) (added []addedLine) {
	shell := IsShell(file)
	if !Knows(file) && !shell || generated(after) {
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
		l.function, l.inside = inside[n]
		l.inside = l.inside || shell
		if known[l.plain()]--; known[l.plain()] < 0 && !tests[n] {
			added = append(added, l)
		}
		at += len(line)
	}
	return added
}

// functionsByLine are the functions that a change added or changed, by the lines of their
// bodies; of a shell script all of its functions.
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

// testLines are the lines of tests inside a program.
func testLines(file string, after []byte) map[int]bool {
	lines := map[int]bool{}
	l := languageOf(file)
	if l == nil {
		return lines
	}
	s := source.Bare(string(after), l.style)
	for _, b := range l.testBlocks(s) {
		for n := s.LineOf(b[0]); n <= s.LineOf(b[1]-1); n++ {
			lines[n] = true
		}
	}
	return lines
}

// ChangedNames are the names of the functions that a change added or changed; of a shell script
// of those to which it added lines.
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

// NameAt is the function of a file that a line stands in, behind its head, or what is declared
// there over several lines, a table; "" where nothing is.
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

// declaration matches the head of what is declared over several lines, with its name.
var declaration = regex.New(`^[^=(]*?([A-Za-z_$][\w$]*)(?:\[\w*\])*\s*(?::[^=]*)?:?=[^=>]?.*[({\[]\s*$`)
