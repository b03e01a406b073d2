// Package frontmatter reads files that begin with "key: value" lines between two --- lines, in
// which other tools keep the state of loops inside a session. It changes single values of them.
//
//	t, err := frontmatter.Parse(path, data, "status", "iteration")
//	n, given, err := t.Number("iteration", "a whole number")
//	t = t.Set("iteration", "4") // t.Bytes() differs in the digits only
//
// It is not YAML: users and scripts read and write these lines with sed. So it accepts CRLF, a byte
// order mark, no blank after the colon, unescaped quotes, comments and unknown keys. A change keeps
// every other byte.
package frontmatter

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 1 << 20

// Text is a file that begins with front matter.
type Text struct {
	path   string
	data   []byte
	fields map[string]Field
	end    span // the line that ends the front matter, in data
	number int  // the number of that line; while parsing, of the current one
}

// Field is the value of a key, without the quotes around it and without a comment after it.
type Field struct {
	Value string
	Quote byte // the " or ' around it, or 0
	Line  int  // from 1; 0 = the key does not exist

	at    span // of Value, in the file
	after int  // the end of the line
}

// span is the bytes [at, end) of a text.
type span struct{ at, end int }

// fence is the line before and after the front matter.
const fence = "---"

// Parse reads a file and the values of these keys; it ignores other keys. Errors read "PATH:LINE:
// what is wrong: expected …" and have a hint. Parse keeps data without a copy.
func Parse(path string, data []byte, keys ...string) (*Text, error) {
	t := &Text{path: path, data: data, fields: map[string]Field{}}
	if len(data) > MaxSize {
		return nil, t.LineError(1, fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("at most %d", MaxSize))
	}
	if before, _, found := bytes.Cut(data, []byte{0}); found {
		return nil, t.LineError(1+bytes.Count(before, []byte("\n")), "this is not UTF-8 text", "a file saved as UTF-8")
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	at := len(data) - len(text)
	for line := range strings.Lines(text) {
		t.number++
		place := span{at, at + len(line)}
		at = place.end
		switch line = strings.TrimRight(line, " \t\r\n"); {
		case t.number == 1 && line != fence:
			return nil, t.notBegun()
		case t.number == 1:
		case line == fence:
			t.end = place
			return t, nil
		default:
			if err := t.read(line, place, keys); err != nil {
				return nil, err
			}
		}
	}
	if t.number == 0 {
		return nil, t.notBegun()
	}
	return nil, t.LineError(1, "the front matter that begins here does not end", "a second line with --- alone")
}

func (t *Text) notBegun() error {
	return t.LineError(1, "the file does not begin with front matter", "a line with --- alone")
}

// read stores the value of the current line if its key was asked for.
func (t *Text) read(line string, place span, keys []string) error {
	key, text, ok := strings.Cut(line, ":")
	switch {
	case !slices.Contains(keys, key):
		return nil
	case !ok:
		return t.LineError(t.number, key+" has no value", key+": and a value")
	case t.fields[key].Line > 0:
		return t.LineError(t.number, key+" is set twice", fmt.Sprintf("only the one on line %d", t.fields[key].Line))
	case strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }):
		return t.LineError(t.number, key+" holds a control character", "plain text")
	}
	f := readValue(text)
	f.Line, f.after = t.number, place.end
	f.at.at += place.at + len(key) + 1
	f.at.end = f.at.at + len(f.Value)
	t.fields[key] = f
	return nil
}

// Bytes returns the file with the values that were set. Callers must not change it.
func (t *Text) Bytes() []byte { return t.data }

// Body returns the text after the front matter, with its first line end.
func (t *Text) Body() string { return string(t.data[t.end.end:]) }

// Front returns the front matter with the lines around it.
func (t *Text) Front() string { return string(t.data[:t.end.end]) }

// End returns the number of the line that ends the front matter.
func (t *Text) End() int { return t.number }

// Field returns the value of a key, the zero Field if it does not exist.
func (t *Text) Field(key string) Field { return t.fields[key] }

// Set returns the file with another value of a key and no other change. Quotes stay. A new key is
// added at the end. The value is plain text without blanks.
func (t *Text) Set(key, value string) *Text {
	f, there := t.fields[key]
	at, before := span{f.at.at, f.at.at + len(f.WithoutComment())}, ""
	switch {
	case !there:
		at, before, value = span{t.end.at, t.end.at}, key+": ", value+t.lineEnd()
	case f.Value == "" && f.Quote == 0:
		at, before = span{f.at.at, f.at.at}, " "
		if bytes.HasPrefix(t.data[at.at:], []byte("#")) {
			value += " "
		}
	}
	data := slices.Concat(t.data[:at.at], []byte(before+value), t.data[at.end:])
	// Offsets have moved, and readers must find the new value.
	again, err := Parse(t.path, data, append(slices.Collect(maps.Keys(t.fields)), key)...)
	if err != nil {
		return t // not plain text: nothing is set
	}
	return again
}

// lineEnd returns the end of the file's first line.
func (t *Text) lineEnd() string {
	if line, _, _ := bytes.Cut(t.data, []byte("\n")); bytes.HasSuffix(line, []byte("\r")) {
		return "\r\n"
	}
	return "\n"
}

// Number returns the value of a key that consists of decimal digits; 08 is eight. A key without a
// value counts as missing. want is what the error expects.
func (t *Text) Number(key, want string) (n int, given bool, err error) {
	f := t.fields[key]
	if f.Value == "" {
		return 0, false, nil
	}
	digits := f.WithoutComment()
	n, err = strconv.Atoi(digits)
	if err != nil || strings.Trim(digits, "0123456789") != "" {
		return 0, false, t.ValueError(key, want)
	}
	return n, true, nil
}

// Block returns the text of a key whose value is | or >, as in YAML: the indented lines below it,
// without their indent. Line breaks stay.
func (t *Text) Block(key string) string {
	lines := strings.SplitAfter(string(t.data[t.fields[key].after:t.end.at]), "\n")
	var block []string
	by := -1
	for _, line := range lines {
		text := strings.TrimRight(line, "\r\n")
		in := len(text) - len(strings.TrimLeft(text, " \t"))
		switch {
		case strings.TrimSpace(text) == "":
			text, in = "", max(by, 0)
		case in == 0:
			return strings.TrimRight(strings.Join(block, "\n"), "\n")
		case by < 0:
			by = in
		}
		block = append(block, text[min(by, in, len(text)):])
	}
	return strings.TrimRight(strings.Join(block, "\n"), "\n")
}

// ValueError returns the error for an unexpected value.
func (t *Text) ValueError(key, want string) error {
	f := t.fields[key]
	return t.LineError(f.Line, fmt.Sprintf("%s is %q", key, plan.OneLine(f.Value, 40)), want)
}

// LineError returns the error for a line.
func (t *Text) LineError(line int, what, want string) error {
	return failure.New(failure.Usage, "correct the file, or delete it; pawl does not change it",
		"%s:%d: %s: expected %s", t.path, line, what, want)
}
