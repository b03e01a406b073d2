package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// value is a JSON value with the bytes [start, end) it stands in.
type value struct {
	start, end int
	kind       byte   // { [ " 0 t f n
	text       string // of a string: decoded; of a number: as written
	members    []member
	elements   []*value
}

// member is a name and value of an object; the name stands at start, and what
// comes before it (a brace or a comma) ends at after.
type member struct {
	name       string
	after      int
	start, end int
	value      *value
}

// member is the last one of that name, as every reader of JSON has it.
func (v *value) member(name string) *member {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return &v.members[i]
		}
	}
	return nil
}

// field is the value of the first of these names that the object has with a
// value other than null; nil if it has none.
func (v *value) field(names ...string) *value {
	for _, name := range names {
		if m := v.member(name); m != nil && m.value.kind != 'n' {
			return m.value
		}
	}
	return nil
}

// scan reads JSON with its positions. A malformed file is one problem.
func scan(data []byte) (*value, *badJSON) {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, explain(data, err)
	}
	s := scanner{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	s.decoder.UseNumber()
	return s.value(), nil
}

// badJSON says where a file is no JSON.
type badJSON struct {
	at      int
	message string
}

func explain(data []byte, err error) *badJSON {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return &badJSON{0, "this is not JSON: " + err.Error()}
	}
	at := min(max(int(syntax.Offset)-1, 0), len(data))
	trimmed := len(bytes.TrimRight(data, " \t\r\n"))
	if trimmed == 0 {
		return &badJSON{0, "the file is empty"}
	}
	if int(syntax.Offset) >= len(data) && syntax.Error() == "unexpected end of JSON input" {
		return &badJSON{trimmed - 1, "this is not JSON: it ends too early"}
	}
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	return &badJSON{at, fmt.Sprintf("this is not JSON: column %d: %v", at-start+1, err)}
}

// scanner walks through valid JSON.
type scanner struct {
	data    []byte
	decoder *json.Decoder
}

// value reads the next value. The data is known to be valid, and no deeper than
// encoding/json allows.
func (s *scanner) value() *value {
	start := s.skip(int(s.decoder.InputOffset()))
	token, _ := s.decoder.Token()
	v := &value{start: start, kind: s.data[start]}
	switch token := token.(type) {
	case json.Delim:
		for s.decoder.More() {
			if v.kind == '[' {
				v.elements = append(v.elements, s.value())
				continue
			}
			m := member{start: s.skip(int(s.decoder.InputOffset()))}
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

// skip is the start of the token that follows an offset.
func (s *scanner) skip(at int) int {
	for bytes.IndexByte([]byte(" \t\r\n,:"), s.data[at]) >= 0 {
		at++
	}
	return at
}
