package verifyactive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// document is JSON that is known to be well-formed, with blanks for a byte order
// mark, so that places in it are places in the file.
type document []byte

// span is the bytes [at, end) of a document.
type span struct{ at, end int }

// open finds the value that a file is. An error says what is wrong with it, and
// on which line.
func open(data []byte) (document, span, error) {
	d := document(data)
	if rest, marked := bytes.CutPrefix(data, []byte("\ufeff")); marked {
		d = append(document("   "), rest...)
	}
	if !utf8.Valid(d) {
		bad := bytes.IndexFunc(d, func(r rune) bool { return r == utf8.RuneError })
		return d, span{}, &wrong{line: d.line(bad), what: "this is not UTF-8 text", want: "a file saved as UTF-8"}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(d, &raw); err != nil {
		at := len(d)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = min(int(syntax.Offset), at)
		}
		return d, span{}, &wrong{line: d.line(at), what: "this is not JSON: " + err.Error(), want: "a JSON object"}
	}
	root := span{len(d) - len(bytes.TrimLeft(d, " \t\r\n")), len(bytes.TrimRight(d, " \t\r\n"))}
	if d.kind(root) != '{' {
		return d, root, &wrong{line: d.line(root.at), what: "this is no object", want: "{ … }"}
	}
	return d, root, nil
}

// wrong is what a file should not say.
type wrong struct {
	line       int
	what, want string
}

func (w *wrong) Error() string {
	return fmt.Sprintf("%d: %s: expected %s", w.line, w.what, w.want)
}

func (d document) line(at int) int { return 1 + bytes.Count(d[:at], []byte("\n")) }

// kind is the first byte of a value: { [ " t f n - or a digit.
func (d document) kind(v span) byte { return d[v.at] }

// find is the value that an object has under a name: of several the last, as
// every reader of JSON has it. The members of other values are none.
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

// room is where in an object a new member goes, and how it is written there: at
// its beginning, in the layout of the member that stands there.
func (d document) room(object span, name, value string) (span, string) {
	at := object.at + 1
	rest := d[at:object.end]
	layout := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n"))]
	if len(layout)+1 == len(rest) { // an empty object
		return span{at, at}, fmt.Sprintf("%q: %s", name, value)
	}
	return span{at, at}, fmt.Sprintf("%s%q: %s,", layout, name, value)
}
