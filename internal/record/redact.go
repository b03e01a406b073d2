package record

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Encode returns data as JSON with the secrets removed from each string in it. redact may
// be nil. Strings are decoded first, since JSON may escape parts of a secret.
func Encode(data any, redact func(string) string) (json.RawMessage, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return redactJSON(raw, redact)
}

// AppendNote adds a note to a loop's journal, without secrets.
func AppendNote(o *store.Owner, n memory.Note, redact func(string) string) error {
	data, err := Encode(n, redact)
	if err == nil {
		_, err = o.Append(journal.Entry{Type: memory.TypeNote, Data: data})
	}
	return err
}

// redactJSON removes the secrets from the strings of a JSON text.
func redactJSON(raw json.RawMessage, redact func(string) string) (json.RawMessage, error) {
	if redact == nil {
		return raw, nil
	}
	var out bytes.Buffer
	for len(raw) > 0 {
		start := bytes.IndexByte(raw, '"')
		if start < 0 {
			break
		}
		end := start + literalLen(raw[start:])
		out.Write(raw[:start])
		text, err := redactLiteral(raw[start:end], redact)
		if err != nil {
			return nil, err
		}
		out.Write(text)
		raw = raw[end:]
	}
	out.Write(raw)
	return out.Bytes(), nil
}

// Event returns an event without secrets, as JSON for the journal and for the state
// machine, so that both receive the same.
func Event(e loop.Event, redact func(string) string) (loop.Event, json.RawMessage, error) {
	e.At = e.At.Round(0).UTC() // JSON drops the monotonic clock reading
	raw, err := json.Marshal(e)
	if err != nil {
		return e, nil, err
	}
	clean, err := redactJSON(raw, redact)
	if err != nil || bytes.Equal(clean, raw) {
		return e, clean, err
	}
	e = loop.Event{}
	return e, clean, json.Unmarshal(clean, &e)
}

// literalLen returns the length of the string literal that b begins with.
func literalLen(b []byte) int {
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

// redactLiteral removes the secrets from a string literal.
func redactLiteral(literal []byte, redact func(string) string) ([]byte, error) {
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
