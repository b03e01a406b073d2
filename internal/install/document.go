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
	maxDepth = 10_000 // the limit of encoding/json, so that recursion does not exhaust the stack
)

// document is a settings file as a tree that keeps every byte.
type document struct {
	file    []byte // the whole file
	bom     string // the byte order mark, or ""
	isBlank bool   // the file has only white space
	value   hujson.Value
	root    *hujson.Object
}

// parse reads a settings file: JSON with comments and trailing commas and an object at the top. An
// empty file counts as an empty object.
func parse(file []byte) (*document, error) {
	d := &document{file: file}
	text := file
	if bytes.HasPrefix(text, []byte(bom)) {
		d.bom, text = bom, text[len(bom):]
	}
	if len(bytes.Trim(text, blanks)) == 0 {
		d.isBlank, d.root = true, &hujson.Object{}
		d.value = hujson.Value{Value: d.root, AfterExtra: []byte(lineEnd(text))}
		return d, nil
	}
	if at := tooDeepOffset(text); at >= 0 {
		return nil, d.errorAt(at, "nested more than %d deep", maxDepth)
	}
	// hujson requires a line end after a comment on the last line.
	v, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, notJSON(text)
	}
	v.AfterExtra = v.AfterExtra[:len(v.AfterExtra)-1]
	d.value = v
	var ok bool
	if d.root, ok = v.Value.(*hujson.Object); !ok {
		return nil, d.errorAt(v.StartOffset, "the top is %s, not an object", kindName(v))
	}
	return d, nil
}

func (d *document) pack() []byte {
	return append([]byte(d.bom), d.value.Pack()...)
}

// errorAt returns an error at an offset after the byte order mark.
func (d *document) errorAt(at int, format string, args ...any) error {
	before := d.file[len(d.bom):][:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := at - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
}

// maxMessageBytes limits what a message quotes of a file.
const maxMessageBytes = 160

func notJSON(text []byte) error {
	_, err := hujson.Parse(text)
	if err == nil {
		return errors.New("not JSON")
	}
	message := strings.TrimPrefix(err.Error(), "hujson: ")
	if len(message) > maxMessageBytes {
		message = strings.ToValidUTF8(message[:maxMessageBytes], "") + "…"
	}
	return errors.New(message)
}

// tooDeepOffset returns where brackets nest deeper than maxDepth, or -1.
func tooDeepOffset(text []byte) int {
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
			i += commentEnd(text[i:])
		}
	}
	return -1
}

// commentEnd returns the offset of a comment's last byte, 0 if text does not begin with a comment.
func commentEnd(text []byte) int {
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

// lastMember returns the value of a name, nil if there is none. If a name occurs twice, the client
// uses the last one.
func lastMember(obj *hujson.Object, name string) *hujson.Value {
	if i := lastIndex(obj, name); i >= 0 {
		return &obj.Members[i].Value
	}
	return nil
}

func lastIndex(obj *hujson.Object, name string) int {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if key, _ := stringValue(&obj.Members[i].Name); key == name {
			return i
		}
	}
	return -1
}

// stringValue returns the content of a JSON string.
func stringValue(v *hujson.Value) (string, bool) {
	if v == nil || v.Value.Kind() != '"' {
		return "", false
	}
	lit, ok := v.Value.(hujson.Literal)
	return lit.String(), ok
}

// decodeValue returns a value as encoding/json decodes it.
func decodeValue(v hujson.Value) (out any, err error) {
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
