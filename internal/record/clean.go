package record

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode makes JSON of what is to be kept, with secrets taken out of each string
// in it; redact is nil where none is known. As JSON writes a secret it may look
// like none, so each is decoded first.
func Encode(data any, redact func(string) string) (json.RawMessage, error) {
	raw, err := json.Marshal(data)
	if err != nil || redact == nil {
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
		text, err := cleanString(raw[at:end], redact)
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
func cleanString(literal []byte, redact func(string) string) ([]byte, error) {
	var s string
	if err := json.Unmarshal(literal, &s); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	clean := redact(s)
	if clean == s {
		return literal, nil
	}
	return json.Marshal(clean)
}
