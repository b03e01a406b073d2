package testdiff

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// wholeFile is the name for changes of a file instead of a test.
const wholeFile = "the file"

// span is a test with its place.
type span struct {
	test
	from, head, to int // of the lines above it, of its head's end, of its end
}

// read returns the tests, and what the file contains outside them.
func (l language) read(text string) []test {
	s := source.Bare(text, l.style())
	spans := l.spans(s)
	tests := make([]test, 0, len(spans)+1)
	for _, sp := range spans {
		tests = append(tests, sp.test)
	}
	return append(tests, l.outsideTests(s, spans))
}

// spans returns the tests with their places. Each name begins with its groups.
func (l language) spans(s source.Source) []span {
	var spans []span
	for _, m := range l.head.FindAllStringSubmatchIndex(s.Code, -1) {
		if found, ok := l.span(s, m); ok {
			spans = append(spans, found)
		}
	}
	for i, sp := range spans {
		for _, outer := range slices.Backward(spans[:i]) {
			if outer.group && outer.head <= sp.from && sp.to <= outer.to {
				sp.name = outer.name + " > " + sp.name
				break
			}
		}
		spans[i].name = sp.name
	}
	return spans
}

// span reads the test with its head at a match.
func (l language) span(s source.Source, m []int) (span, bool) {
	start := m[0] + source.Indent(s.Code[m[0]:m[1]])
	sp := span{head: m[1], from: l.beginning(s, start)}
	head := s.Code[start:m[1]]
	name, mark := l.nameOf(s, m, "name"), l.nameOf(s, m, "mark")
	sp.group = l.group != nil && l.group.MatchString(head)
	switch l.extent {
	case braces:
		sp.to = s.Block(m[1])
	case parens:
		sp.to = s.Parens(m[1] - 1)
		if strings.Contains(mark, ".each") { // the table comes before the call
			sp.to = s.Parens(sp.to)
		}
	case indents:
		sp.to = s.Indented(start, "")
	case ends:
		sp.to = s.Indented(start, "end")
	}
	switch {
	case name != "":
	case l.extent == parens:
		name, sp.computed = l.title(s, m[1], mark)
	default:
		name = s.Quoted(start, sp.to)
	}
	if name == "" || l.annotated && !sp.group && !testMark.MatchString(s.Code[sp.from:start]) {
		return sp, false
	}
	sp.name, sp.line = strings.Join(strings.Fields(strings.ReplaceAll(name, "DISABLED_", "")), " "), s.LineOf(start)
	l.classify(s, &sp, start, mark)
	return sp, true
}

// title returns a test's first argument from behind its bracket: a literal, or the expression that
// computes the name.
func (l language) title(s source.Source, from int, mark string) (name string, computed bool) {
	if strings.Contains(mark, ".each") {
		from = min(s.Parens(from-1)+1, len(s.Code))
	}
	end := from
	for depth := 0; end < len(s.Code); end++ {
		if depth += source.Depth(s.Code[end]); depth < 0 || depth == 0 && s.Code[end] == ',' {
			break
		}
	}
	if name = s.Quoted(from, end); name != "" {
		return name, false
	}
	if name = strings.TrimSpace(s.Code[from:end]); strings.ContainsAny(name, "{\n") {
		return "", false
	}
	return name, true
}

// testMark matches an annotation that identifies a test.
var testMark = regex.New(`(?i)[@#\[].*(?:test|fact|theory|spec)`)

// beginning returns where the annotations above a head begin.
func (l language) beginning(s source.Source, start int) int {
	at := strings.LastIndexByte(s.Code[:start], '\n') + 1
	for l.above != nil && at > 0 {
		before := s.StatementStart(at - 1)
		if !l.above.MatchString(s.Code[before:at]) {
			break
		}
		at = before
	}
	return at
}

func (l language) nameOf(s source.Source, m []int, group string) string {
	i := l.head.SubexpIndex(group)
	if i < 0 || m[2*i] < 0 {
		return ""
	}
	return s.Code[m[2*i]:m[2*i+1]]
}

// classify reads a test's marks and assertions.
func (l language) classify(s source.Source, sp *span, start int, mark string) {
	above := s.Code[sp.from:start]
	body := s.Code[start:sp.to]
	if sp.group { // its content belongs to its tests
		body = body[:source.LineEnd(body)]
	}
	hit := func(re *regex.Regex, texts ...string) bool {
		return re != nil && slices.ContainsFunc(texts, re.MatchString)
	}
	sp.skipped, sp.focused = hit(l.skip, mark, above, body), hit(l.focus, mark, above, body[:source.LineEnd(body)])
	sp.body, sp.text = s.Plain(sp.head, sp.to), s.Plain(sp.from, sp.to)
	if sp.group {
		return
	}
	sp.assertions = l.assertions(s, sp.head, sp.to)
	sp.empty = exitsEarly.MatchString(s.Code[sp.head:sp.to])
}

// exitsEarly matches a test that ends before it does anything.
var exitsEarly = regex.New(`^[^\n]*(?:[{:]|\bdo)\s*(?:return\b\s*(?:;|\n|None\b)|exit 0\b|process\.exit\()`)

// assertions returns the asserting statements in a range.
func (l language) assertions(s source.Source, from, to int) []string {
	var found []string
	end := from
	for _, m := range l.assert.FindAllStringIndex(s.Code[from:to], -1) {
		at := from + m[0]
		if at < end {
			continue // in the one before
		}
		end = statementEnd(s, at, to)
		found = append(found, strings.TrimRight(s.Plain(at, end), ";,"))
	}
	return found
}

// statementEnd returns the end of a statement: of its line, or of its open brackets.
func statementEnd(s source.Source, at, to int) int {
	depth := 0
	for i := at; i < to; i++ {
		switch c := s.Code[i]; {
		case c == '{' && depth == 0 && strings.HasPrefix(s.Code[at:], "if "): // what it does then is a message
			return i
		case source.Depth(c) != 0:
			if depth += source.Depth(c); depth < 0 {
				return i
			}
		case c == ';' && depth == 0:
			return i
		case c == '\n' && depth <= 0:
			if next := strings.TrimLeft(s.Code[i:to], " \t\r\n"); !strings.HasPrefix(next, ".") {
				return i
			}
		}
	}
	return to
}

// outsideTests returns what is outside all tests. In some languages the file is the test.
func (l language) outsideTests(s source.Source, spans []span) test {
	t := test{name: wholeFile, line: 1, group: true}
	if l.whole != nil {
		if m := l.whole.FindStringIndex(s.Code); m != nil {
			t.skipped, t.line = true, s.LineOf(m[0])
		}
	}
	if path.Ext(strings.Fields(l.names)[0]) == ".t" {
		all := l.assertions(s, 0, len(s.Code))
		for _, sp := range spans {
			for _, a := range sp.assertions {
				if i := slices.Index(all, a); i >= 0 {
					all = slices.Delete(all, i, i+1)
				}
			}
		}
		t.assertions, t.body, t.group = all, s.Plain(0, len(s.Code)), false
	}
	return t
}
