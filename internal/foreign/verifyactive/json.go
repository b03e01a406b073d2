package verifyactive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// document is valid JSON, with blanks in place of a byte order mark, so that offsets are those of
// the file.
type document []byte

// span is the bytes [at, end) of a document.
type span struct{ at, end int }

// openDocument returns the value in a file. An error says what is wrong, and on which line.
func openDocument(data []byte) (document, span, error) {
	d := document(data)
	if rest, marked := bytes.CutPrefix(data, []byte("\ufeff")); marked {
		d = append(document("   "), rest...)
	}
	if !utf8.Valid(d) {
		bad := bytes.IndexFunc(d, func(r rune) bool { return r == utf8.RuneError })
		return d, span{}, &fileError{line: d.line(bad), what: "this is not UTF-8 text", want: "a file saved as UTF-8"}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(d, &raw); err != nil {
		at := len(d)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = min(int(syntax.Offset), at)
		}
		return d, span{}, &fileError{line: d.line(at), what: "this is not JSON: " + err.Error(), want: "a JSON object"}
	}
	root := span{len(d) - len(bytes.TrimLeft(d, " \t\r\n")), len(bytes.TrimRight(d, " \t\r\n"))}
	if d.kind(root) != '{' {
		return d, root, &fileError{line: d.line(root.at), what: "this is no object", want: "{ … }"}
	}
	return d, root, nil
}

// fileError is an error in a file, with its line.
type fileError struct {
	line       int
	what, want string
}

func (w *fileError) Error() string {
	return fmt.Sprintf("%d: %s: expected %s", w.line, w.what, w.want)
}

func (d document) line(at int) int { return 1 + bytes.Count(d[:at], []byte("\n")) }

// kind returns the first byte of a value: { [ " t f n - or a digit.
func (d document) kind(v span) byte { return d[v.at] }

// find returns the value of a name in an object, not in nested ones. Of several, it returns the
// last, like all readers of JSON.
func (d document) find(object span, name string) (span, bool) {
	var value span
	found := false
	dec := json.NewDecoder(bytes.NewReader(d[object.at:object.end]))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return value, false
	}
	for dec.More() {
		key, err := dec.Token()
		var raw json.RawMessage
		if err != nil || dec.Decode(&raw) != nil {
			break
		}
		if key == name {
			end := object.at + int(dec.InputOffset())
			value, found = span{end - len(raw), end}, true
		}
	}
	return value, found
}

// insertion returns where a new member goes in an object, and its text: at the beginning, in the
// layout of the first member.
func (d document) insertion(object span, name, value string) (span, string) {
	at := object.at + 1
	rest := d[at:object.end]
	layout := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n"))]
	if len(layout)+1 == len(rest) { // an empty object
		return span{at, at}, fmt.Sprintf("%q: %s", name, value)
	}
	return span{at, at}, fmt.Sprintf("%s%q: %s,", layout, name, value)
}
