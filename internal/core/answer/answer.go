// Package answer reads the JSON that an agent was asked for out of its last message.
//
// The message is the object, alone or as the only fenced block at its end. Nothing
// is searched for in prose, and what does not follow the asked shape is an error
// that says so: the agent can be asked again with it.
package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxBytes is the size of the longest message that is read.
const maxBytes = 256 << 10

// Decode decodes the message into a struct. Unknown fields are an error.
func Decode(text string, into any) error {
	if len(text) > maxBytes {
		return errors.New("the answer is too long to be one")
	}
	body, err := unfenced(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	if !json.Valid([]byte(body)) { // also where something stands behind it
		return errors.New("the answer is not JSON and nothing else")
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("the answer is not the JSON that was asked for: %w", err)
	}
	return nil
}

// unfenced is the text, or what its only fence holds.
func unfenced(text string) (string, error) {
	const fence = "```"
	switch n := strings.Count(text, fence); {
	case strings.HasPrefix(text, "{"): // a fence may stand in its strings
		return text, nil
	case n == 2 && strings.HasSuffix(text, fence):
		_, body, _ := strings.Cut(text, fence)
		return strings.TrimPrefix(strings.TrimSuffix(body, fence), "json"), nil
	}
	return "", errors.New("the answer is not JSON, alone or in one fence at its end")
}
