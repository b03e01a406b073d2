package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// encode makes JSON of what is to be kept, with secrets taken out of each string
// in it. As JSON writes a secret it may look like none, so each is decoded first.
func (r *Runner) encode(data any) (json.RawMessage, error) {
	raw, err := json.Marshal(data)
	if err != nil || r.Redact == nil {
		return raw, err
	}
	var out bytes.Buffer
	for len(raw) > 0 {
		at := bytes.IndexByte(raw, '"')
		if at < 0 {
			break
		}
		end := at + closing(raw[at:])
		out.Write(raw[:at])
		text, err := r.cleanString(raw[at:end])
		if err != nil {
			return nil, err
		}
		out.Write(text)
		raw = raw[end:]
	}
	out.Write(raw)
	return out.Bytes(), nil
}

// closing is the length of the string literal that b begins with.
func closing(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// cleanString takes the secrets out of a string literal.
func (r *Runner) cleanString(literal []byte) ([]byte, error) {
	var s string
	if err := json.Unmarshal(literal, &s); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	clean := r.Redact.String(s)
	if clean == s {
		return literal, nil
	}
	return json.Marshal(clean)
}
