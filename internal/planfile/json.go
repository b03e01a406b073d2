package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, explainJSONError(data, err)
	}
	s := jsonScanner{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	s.decoder.UseNumber()
	return s.value(), nil
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

// jsonScanner reads valid JSON with its offsets.
type jsonScanner struct {
	data    []byte
	decoder *json.Decoder
}

// value reads the next value. encoding/json has checked the data and its depth.
func (s *jsonScanner) value() *jsonValue {
	start := s.tokenStart(int(s.decoder.InputOffset()))
	token, _ := s.decoder.Token()
	v := &jsonValue{start: start, kind: s.data[start]}
	switch token := token.(type) {
	case json.Delim:
		for s.decoder.More() {
			if v.kind == '[' {
				v.elements = append(v.elements, s.value())
				continue
			}
			m := jsonMember{start: s.tokenStart(int(s.decoder.InputOffset()))}
			m.after = len(bytes.TrimRight(s.data[:m.start], " \t\r\n"))
			name, _ := s.decoder.Token()
			m.name, _ = name.(string)
			m.end = int(s.decoder.InputOffset())
			m.value = s.value()
			v.members = append(v.members, m)
		}
		_, _ = s.decoder.Token()
	case string:
		v.text = token
	case json.Number:
		v.kind, v.text = '0', token.String()
	}
	v.end = int(s.decoder.InputOffset())
	return v
}

// tokenStart returns the start of the token after an offset.
func (s *jsonScanner) tokenStart(at int) int {
	for bytes.IndexByte([]byte(" \t\r\n,:"), s.data[at]) >= 0 {
		at++
	}
	return at
}
