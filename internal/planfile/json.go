package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// jsonValue is a JSON value at the bytes [start, end).
type jsonValue struct {
	start, end int
	kind       byte   // { [ " 0 t f n
	text       string // of a string: decoded; of a number: as written
	members    []jsonMember
	elements   []*jsonValue
}

// jsonMember is a name and a value of an object. The name begins at start. The brace or comma
// before it ends at after.
type jsonMember struct {
	name       string
	after      int
	start, end int
	value      *jsonValue
}

// member returns the last member with a name: readers of JSON let the last one win.
func (v *jsonValue) member(name string) *jsonMember {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return &v.members[i]
		}
	}
	return nil
}

// field returns the first of these fields that is not null, nil for none.
func (v *jsonValue) field(names ...string) *jsonValue {
	for _, name := range names {
		if m := v.member(name); m != nil && m.value.kind != 'n' {
			return m.value
		}
	}
	return nil
}

// parseJSON reads JSON with its offsets.
func parseJSON(data []byte) (*jsonValue, *jsonError) {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw) // as strict as other tools: no comments, a limited depth
	if err != nil {
		return nil, explainJSONError(data, err)
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, explainJSONError(data, err)
	}
	return newJSONValue(root), nil
}

func newJSONValue(in hujson.Value) *jsonValue {
	v := &jsonValue{start: in.StartOffset, end: in.EndOffset, kind: byte(in.Value.Kind())}
	switch in := in.Value.(type) {
	case *hujson.Object:
		for _, m := range in.Members {
			name := newJSONValue(m.Name)
			v.members = append(v.members, jsonMember{
				name: name.text, after: name.start - len(m.Name.BeforeExtra), start: name.start, end: name.end, value: newJSONValue(m.Value),
			})
		}
	case *hujson.Array:
		for _, e := range in.Elements {
			v.elements = append(v.elements, newJSONValue(e))
		}
	case hujson.Literal:
		if v.kind == '"' || v.kind == '0' {
			v.text = in.String()
		}
	}
	return v
}

// jsonError is where and why a file is not valid JSON.
type jsonError struct {
	at      int
	message string
}

func explainJSONError(data []byte, err error) *jsonError {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return &jsonError{0, "this is not JSON: " + err.Error()}
	}
	at := min(max(int(syntax.Offset)-1, 0), len(data))
	trimmed := len(bytes.TrimRight(data, " \t\r\n"))
	if trimmed == 0 {
		return &jsonError{0, "the file is empty"}
	}
	if int(syntax.Offset) >= len(data) && syntax.Error() == "unexpected end of JSON input" {
		return &jsonError{trimmed - 1, "this is not JSON: it ends too early"}
	}
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	return &jsonError{at, fmt.Sprintf("this is not JSON: column %d: %v", at-start+1, err)}
}
