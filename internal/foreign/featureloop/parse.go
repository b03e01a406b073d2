package featureloop

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/regex"
)

var bom = []byte("\ufeff")

// fieldLine matches a line of the controller: a list item, indented or not, bold or
// not. Not a heading and not prose, for the agent's log says "### Iteration: 3"
// and "Feature 2 Status: COMPLETE" too; the controller takes both for its own.
var fieldLine = regex.New(`(?mi)^\x{feff}?[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:(?:current|overall|loop)[ \t]+)?` +
	`(iteration|max(?:imum)?[ \t]+iterations?|status)(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]*([^\r\n]*)[^\n]*\n?`)

// Parse reads a progress.txt. The first occurrence of each line counts; the rest is the agent's log.
// Errors read "NAME:LINE: what is wrong: expected …" and have a hint. Check, not Parse, reports invalid
// numbers. Parse keeps data without a copy.
func Parse(name string, data []byte) (*Progress, error) {
	if len(data) > MaxSize {
		return nil, fault(name, 1, fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("at most %d", MaxSize))
	}
	p := &Progress{MaxIterations: DefaultMax, name: name, data: data}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return nil, fault(name, p.lineOf(at), "this is not UTF-8 text", "a file saved as UTF-8")
	}
	for at, found := 0, 0; found < fieldCount; {
		m := fieldLine.FindSubmatchIndex(data[at:])
		if m == nil {
			break
		}
		which := status
		switch data[at+m[2]] | ' ' { // the name's first letter, small
		case 'i':
			which = iteration
		case 'm':
			which = maxIterations
		}
		if !p.lines[which].found {
			value := bytes.TrimRight(data[at+m[4]:at+m[5]], " \t")
			f := field{found: true, at: at + m[4], end: at + m[4] + len(value), from: at + m[0], to: at + m[1]}
			if f.from == 0 && bytes.HasPrefix(data, bom) {
				f.from = len(bom) // nothing goes in front of it
			}
			p.lines[which] = f
			p.read(which, string(value))
			found++
		}
		at += m[1]
	}
	return p, nil
}

func (p *Progress) read(which int, value string) {
	f := &p.lines[which]
	if which == status {
		p.Status = statusWord(value)
		return
	}
	m := countPattern.FindStringSubmatch(value)
	if m == nil {
		if value != "" {
			f.wrong = "a whole number"
			first, _, _ := strings.Cut(strings.ReplaceAll(value, "\t", " "), " ")
			f.end = f.at + len(first)
		}
		return
	}
	f.end = f.at + len(m[1])
	n, err := strconv.Atoi(m[1])
	switch {
	case err != nil:
		f.wrong = "a whole number"
	case which == iteration:
		p.Iteration = n
		if most, err := strconv.Atoi(m[2]); err == nil && !p.lines[maxIterations].found {
			p.MaxIterations = most // until a line of its own says otherwise
		}
	case n == 0:
		f.wrong = "at least 1" // the controller would end at once
	default:
		p.MaxIterations = n
	}
}

// countPattern matches a number and what users write after it: 3/15, 3 of 15, 3 (feature 2).
var countPattern = regex.New(`^([0-9]+)(?:[ \t]*(?:/|of)[ \t]*([1-9][0-9]*))?(?:$|[^0-9A-Za-z_.]|\.$)`)

// statusWord returns a status as one word: IN_PROGRESS for "In progress (feature 2)".
func statusWord(value string) string {
	value = strings.TrimLeft(value, "*_`")
	end := strings.IndexFunc(value, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == ' ' || r == '-')
	})
	if end >= 0 {
		value = value[:end]
	}
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.Trim(value, "_ -")))
}

// Check returns an error for the first field that should be a number and is not. The Python controller gives up
// at such a field, and counts from 0 to 15 again.
func (p *Progress) Check() error {
	for i, f := range p.lines {
		if f.wrong != "" {
			what := fmt.Sprintf("%s is %q", fieldNames[i], plan.OneLine(string(p.data[f.at:f.end]), 40))
			return fault(p.name, p.lineOf(f.at), what, f.wrong)
		}
	}
	return nil
}

func (p *Progress) lineOf(at int) int { return 1 + bytes.Count(p.data[:at], []byte("\n")) }

func fault(name string, line int, what, want string) error {
	return failure.New(failure.Usage, "correct the file, or delete it to restart the count; pawl does not change it",
		"%s:%d: %s: expected %s", plan.OneLine(name, 0), line, what, want)
}
