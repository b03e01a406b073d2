package mutant

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// functions returns the functions of a file, without nested ones and those in test blocks.
func (l *language) functions(text string) []function {
	s := l.bare(text)
	var found []function
	skip, classes := l.testBlocks(s), l.classes(s)
	end := 0
	for _, m := range l.head.FindAllStringSubmatchIndex(s.Code, -1) {
		name, at := l.functionName(s, m)
		start := m[0] + source.Indent(s.Code[m[0]:m[1]])
		if start < end || name == "" || isHead(classes, at+len(name)) || l.notFunctions.MatchString(name[strings.LastIndexByte(name, '.')+1:]) || within(skip, start) {
			continue
		}
		b, ok := l.body(s, m[1])
		if !ok {
			continue
		}
		if l.indent {
			if b.to = s.Indented(start, ""); b.to < b.from { // it is not closed, or has no body
				continue
			}
		}
		end = b.to
		f := function{
			name: enclosingClasses(classes, start) + name, line: s.LineOf(start), from: start,
			text: strings.TrimRight(text[start:b.to], " \t\r\n"), plain: l.plain(s, start, b),
		}
		before := s.Text[strings.LastIndexByte(s.Code[:at], '\n')+1 : at]
		f.abstract = abstract.MatchString(lineBefore(s.Code, start))
		f.params, f.enter, f.code = parameters(s, m[1], b), l.entry(s, b), l.statements(s, b)
		f.mutants = l.mutants(s, b, l.result(before, strings.TrimSuffix(s.Text[b.head:b.from], "{")))
		found = append(found, f)
	}
	return found
}

// plain returns a function's text without comments, white space and docstring.
func (l *language) plain(s source.Source, start int, b body) string {
	if l.indent {
		if at, _ := firstStatement(s, b); at < b.to {
			return s.Plain(start, b.from) + s.Plain(at, b.to)
		}
	}
	return s.Plain(start, b.to)
}

// abstract matches what is said before a function that others write.
var abstract = regex.New(`@(?:\w+\.)*(?:abstract\w*|overload)\b`)

// lineBefore is the line that stands before the one of an offset.
func lineBefore(code string, at int) string {
	code = code[:max(0, strings.LastIndexByte(code[:at], '\n'))]
	return code[strings.LastIndexByte(code, '\n')+1:]
}

// functionName returns a function's name and its place, from the match of its head.
func (l *language) functionName(s source.Source, m []int) (string, int) {
	for i := range l.head.SubexpNames() {
		if i > 0 && m[2*i] >= 0 {
			return s.Code[m[2*i]:m[2*i+1]], m[2*i]
		}
	}
	return "", m[0]
}

// class is a class with its range.
type class struct {
	name     string
	from, to int
}

// classes returns the classes of a file in order.
func (l *language) classes(s source.Source) (found []class) {
	if l.class == nil {
		return nil
	}
	for _, m := range l.class.FindAllStringSubmatchIndex(s.Code, -1) {
		at := m[0] + source.Indent(s.Code[m[0]:m[1]])
		found = append(found, class{name: s.Code[m[2]:m[3]], from: m[1], to: l.blockEnd(s, at, at)})
	}
	return found
}

// isHead reports whether a class name ends at a place. A record's name precedes "(", like a
// function's.
func isHead(classes []class, end int) bool {
	return slices.ContainsFunc(classes, func(c class) bool { return c.from == end })
}

// enclosingClasses returns the classes around a function, each with a dot.
func enclosingClasses(classes []class, start int) string {
	var names strings.Builder
	for _, c := range classes {
		if c.from > start {
			break
		}
		if c.to > start {
			names.WriteString(c.name + ".")
		}
	}
	return names.String()
}

// testBlocks returns the ranges of inline tests.
func (l *language) testBlocks(s source.Source) (blocks [][2]int) {
	if l.tests == nil {
		return nil
	}
	for _, m := range l.tests.FindAllStringIndex(s.Code, -1) {
		blocks = append(blocks, [2]int{m[0], l.blockEnd(s, m[0]+source.Indent(s.Code[m[0]:m[1]]), m[1])})
	}
	return blocks
}

// blockEnd returns the end of a block whose line begins at start, and whose braces open behind head.
func (l *language) blockEnd(s source.Source, start, head int) int {
	if l.indent {
		return s.Indented(start, "")
	}
	return s.Block(head)
}

func within(blocks [][2]int, at int) bool {
	return slices.ContainsFunc(blocks, func(b [2]int) bool { return b[0] <= at && at < b[1] })
}

// body is the place of a function's body.
type body struct {
	head       int  // end of the ")" before it
	from, to   int  // from its first statement to the end of the function
	expression bool // an expression, not a block
}

// notBetween matches what ends the search for a body after the parameters.
var notBetween = regex.New(`[;}]`)

// typeAfter matches a type after the parameters in Rust, which may contain parentheses and
// semicolons.
var typeAfter = regex.New(`^\s*(?:->|where\b)`)

// openBrace returns where a body begins after types, or -1.
func openBrace(rest string) int {
	depth := 0
	for i, c := range rest {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '{':
			if depth == 0 {
				return i
			}
		case ';', '}':
			if depth <= 0 {
				return -1
			}
		}
	}
	return -1
}

// body finds the body of a function from the end of its head's match: after "(" or after a lone
// parameter's arrow.
func (l *language) body(s source.Source, end int) (body, bool) {
	b := body{head: end - len("=>")}
	if s.Code[end-1] == '(' {
		b.head = s.Parens(end - 1)
	}
	rest := s.Code[b.head:]
	if l.indent {
		colon := strings.IndexByte(rest, ':')
		if colon < 0 {
			return b, false
		}
		b.from, b.to = b.head+colon+1, len(s.Code)
		return b, true
	}
	open, arrow := strings.IndexByte(rest, '{'), -1
	if l.arrowBodies {
		arrow = strings.Index(rest, "=>")
	}
	if arrow >= 0 && (open < 0 || arrow < open) && !notBetween.MatchString(rest[:arrow]) {
		at := b.head + arrow + len("=>")
		first := at + len(s.Code[at:]) - len(strings.TrimLeft(s.Code[at:], " \t\r\n"))
		if first < len(s.Code) && s.Code[first] != '{' {
			b.from, b.to, b.expression = first, expressionEnd(s, first), true
			return b, b.to > b.from
		}
		open = first - b.head
	}
	if typeAfter.MatchString(rest) {
		if open = openBrace(rest); open < 0 {
			return b, false
		}
	} else if open < 0 || b.head+open >= len(s.Code) || notBetween.MatchString(rest[:open]) || strings.ContainsAny(rest[:open], "()") && arrow < 0 {
		return b, false
	}
	b.from, b.to = b.head+open+1, s.Block(b.head+open)
	return b, true
}

// expressionEnd returns the end of an expression: of its line, or of its open brackets.
func expressionEnd(s source.Source, at int) int {
	depth := 0
	for i := at; i < len(s.Code); i++ {
		c := s.Code[i]
		if depth += source.Depth(c); depth < 0 || depth == 0 && (c == ';' || c == ',' || c == '\n') {
			return i
		}
	}
	return len(s.Code)
}

var (
	returned  = regex.New(`\breturn\b[ \t]*`)
	generates = regex.New(`\byield\b`)
)

// mutants returns the ways to leave a function at once, with values of its declared type, or of
// what it returns.
func (l *language) mutants(s source.Source, b body, result string) []Mutant {
	code := s.Code[b.from:b.to]
	if result == "" && (l.arrowBodies || l.indent) {
		result = l.firstReturned(s, b)
	}
	t := l.valuesOf(result)
	if generates.MatchString(code) || result == noValue {
		t = typeValues{zeros: []string{""}}
	}
	opaque := strings.HasPrefix(result, "impl ") // Rust: one concrete type only, so the whole body is replaced
	if b.expression || opaque {
		all := returnMutants(b.from, func(v string) string { return "(" + v + ")" }, t.zeros, t.others)
		for i := range all {
			if all[i].to = b.to; opaque {
				all[i].to = b.to - len("}")
			}
			if all[i].text == "()" {
				all[i].text = "undefined"
			}
		}
		return all
	}
	if e := l.entry(s, b); e.leave != nil {
		return returnMutants(e.at, e.leave, t.zeros, t.others)
	}
	return nil
}

// entry is where a function can be left at once, and how; leave is nil if it cannot.
type entry struct {
	at    int
	leave func(value string) string
	ends  string // ends a statement there, unless it ends itself
}

// first returns a statement to insert there.
func (e entry) first(statement string) string { return statement + e.ends }

func (l *language) entry(s source.Source, b body) entry {
	switch {
	case b.expression:
		return entry{}
	case !l.indent:
		return entry{b.from, l.leave, ""}
	}
	at, ends := firstStatement(s, b)
	if unwritten.MatchString(strings.TrimSpace(s.Code[at:b.to])) {
		return entry{}
	}
	return entry{at, func(v string) string { return l.leave(v) + ends }, ends}
}

// statements returns the code of a body without its closing bracket.
func (l *language) statements(s source.Source, b body) string {
	at := b.from
	if l.indent {
		at, _ = firstStatement(s, b)
	}
	code := strings.TrimSpace(s.Code[at:b.to])
	if !l.indent && !b.expression {
		code = strings.TrimSuffix(code, "}")
	}
	return code
}

// parameters returns the text between the parentheses of a function's head.
func parameters(s source.Source, head int, b body) string {
	if s.Code[head-1] != '(' || b.head <= head {
		return ""
	}
	return s.Text[head : b.head-1]
}

// noValue is the type of a function that returns nothing.
const noValue = "\x00"

// unwritten is a body that says that it is not there, or has none.
var unwritten = regex.New(`^(?:\.\.\.|raise NotImplementedError[^\n]*)?$`)

// firstReturned returns the first returned expression, or noValue.
func (l *language) firstReturned(s source.Source, b body) string {
	if b.expression {
		return strings.TrimSpace(s.Text[b.from:b.to])
	}
	for _, m := range returned.FindAllStringIndex(s.Code[b.from:b.to], -1) {
		at := b.from + m[1]
		to := expressionEnd(s, at)
		if l.indent {
			to = at + source.LineEnd(s.Code[at:])
		}
		if value := strings.TrimSpace(s.Text[at:to]); value != "" {
			return value
		}
	}
	return noValue
}

func (l *language) valuesOf(result string) typeValues {
	for _, t := range l.types {
		if t.pattern.MatchString(result) {
			zeros := make([]string, len(t.zeros))
			for i, v := range t.zeros {
				zeros[i] = strings.ReplaceAll(v, sameType, result)
			}
			return typeValues{t.pattern, zeros, t.others}
		}
	}
	return typeValues{}
}

// firstStatement returns where the first statement after a docstring begins in an indented body,
// and what ends a statement before it.
func firstStatement(s source.Source, b body) (at int, ends string) {
	head := s.Code[b.from:b.to]
	line := source.LineEnd(head)
	if strings.TrimSpace(head[:line]) != "" { // all in the head's line
		return b.from + source.Indent(head), "; "
	}
	at = b.from + line
	for at < b.to {
		next := s.Code[at:b.to]
		trimmed := strings.TrimLeft(next, " \t\r\n")
		if trimmed == "" {
			return b.to, ""
		}
		at += len(next) - len(trimmed)
		q := docstring.FindString(trimmed)
		if q == "" {
			break
		}
		closing := strings.Index(trimmed[len(q):], strings.TrimLeft(q, "rRuUbB"))
		if closing < 0 {
			return b.to, ""
		}
		at += len(q) + closing + len(strings.TrimLeft(q, "rRuUbB"))
	}
	begins := strings.LastIndexByte(s.Code[:at], '\n') + 1
	if strings.TrimSpace(s.Code[begins:at]) != "" {
		return b.to, ""
	}
	return at, "\n" + s.Code[begins:at]
}

var docstring = regex.New(`^[rRuUbB]*(?:"""|'''|"|')`)
