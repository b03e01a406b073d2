package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

const (
	blanks   = " \t\r\n"
	bom      = "\ufeff"
	maxDepth = 10_000 // as encoding/json has it: a parser that recurses must not be led to the end of the stack
)

// document is a settings file as a tree that holds every byte of it.
type document struct {
	file  []byte // all of it
	mark  string // the byte order mark, or nothing
	blank bool   // nothing is in it
	value hujson.Value
	root  *hujson.Object
}

// parse reads a settings file: JSON with comments and trailing commas, whose top
// is an object. A file without anything in it counts as an empty object.
func parse(file []byte) (*document, error) {
	d := &document{file: file}
	text := file
	if bytes.HasPrefix(text, []byte(bom)) {
		d.mark, text = bom, text[len(bom):]
	}
	if len(bytes.Trim(text, blanks)) == 0 {
		d.blank, d.root = true, &hujson.Object{}
		d.value = hujson.Value{Value: d.root, AfterExtra: []byte(newline(text))}
		return d, nil
	}
	if at := tooDeep(text); at >= 0 {
		return nil, d.fault(at, "nested more than %d deep", maxDepth)
	}
	// A comment on the last line needs the line's end to be understood.
	v, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, notJSON(text)
	}
	v.AfterExtra = v.AfterExtra[:len(v.AfterExtra)-1]
	d.value = v
	var ok bool
	if d.root, ok = v.Value.(*hujson.Object); !ok {
		return nil, d.fault(v.StartOffset, "the top is %s, not an object", kindName(v))
	}
	return d, nil
}

func (d *document) pack() []byte {
	return append([]byte(d.mark), d.value.Pack()...)
}

// fault says what is wrong at an offset behind the byte order mark.
func (d *document) fault(at int, format string, args ...any) error {
	before := d.file[len(d.mark):][:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := at - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
}

// maxMessage bounds what is quoted of a file.
const maxMessage = 160

func notJSON(text []byte) error {
	_, err := hujson.Parse(text)
	if err == nil {
		return errors.New("not JSON")
	}
	message := strings.TrimPrefix(err.Error(), "hujson: ")
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return errors.New(message)
}

// tooDeep is where brackets nest deeper than maxDepth, or -1.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i += comment(text[i:])
		}
	}
	return -1
}

// comment is how far the last byte of a comment lies behind its first; 0 where
// there is none.
func comment(text []byte) int {
	end, from := "", 2
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text, []byte("/*")):
		end = "*/"
	default:
		return 0
	}
	n := bytes.Index(text[from:], []byte(end))
	if n < 0 {
		return len(text)
	}
	return from + n + len(end) - 1
}

// last is the value of a name; of several the last, as the client has it. nil if
// there is none.
func last(obj *hujson.Object, name string) *hujson.Value {
	if i := lastIndex(obj, name); i >= 0 {
		return &obj.Members[i].Value
	}
	return nil
}

func lastIndex(obj *hujson.Object, name string) int {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if key, _ := text(&obj.Members[i].Name); key == name {
			return i
		}
	}
	return -1
}

// text is the content of a JSON string.
func text(v *hujson.Value) (string, bool) {
	if v == nil || v.Value.Kind() != '"' {
		return "", false
	}
	lit, ok := v.Value.(hujson.Literal)
	return lit.String(), ok
}

// plain is a value as encoding/json decodes it.
func plain(v hujson.Value) (out any, err error) {
	v = v.Clone()
	v.Standardize()
	err = json.Unmarshal(v.Pack(), &out)
	return out, err
}

func kindName(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a truth value"
}
