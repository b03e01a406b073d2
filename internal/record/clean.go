package record

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Encode makes JSON of what is to be kept, with secrets taken out of each string
// in it; redact is nil where none is known. As JSON writes a secret it may look
// like none, so each is decoded first.
func Encode(data any, redact func(string) string) (json.RawMessage, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return withoutSecrets(raw, redact)
}

// withoutSecrets is JSON with the secrets taken out of its strings.
func withoutSecrets(raw json.RawMessage, redact func(string) string) (json.RawMessage, error) {
	if redact == nil {
		return raw, nil
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

// Event is an event as it is to be kept, without secrets, in JSON and for the
// machine: what the machine takes is what stands in the journal.
func Event(e loop.Event, redact func(string) string) (loop.Event, json.RawMessage, error) {
	e.At = e.At.Round(0).UTC() // a clock reading does not survive JSON
	raw, err := json.Marshal(e)
	if err != nil {
		return e, nil, err
	}
	clean, err := withoutSecrets(raw, redact)
	if err != nil || bytes.Equal(clean, raw) {
		return e, clean, err
	}
	e = loop.Event{}
	return e, clean, json.Unmarshal(clean, &e)
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
