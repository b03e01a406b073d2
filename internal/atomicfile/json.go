package atomicfile

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON returns v as JSON on one line, newline included, without escapes for HTML: people
// read it, and commands are full of "&&".
func EncodeJSON(v any) ([]byte, error) { return encodeJSON(v, "") }

// EncodeIndentedJSON does the same on several lines.
func EncodeIndentedJSON(v any) ([]byte, error) { return encodeJSON(v, "  ") }

func encodeJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// ReadJSON reads into v what a file holds that Pawl wrote itself. After an error v may
// hold a part of it.
func ReadJSON(path string, v any) error {
	data, err := Read(path, Large)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// WriteJSON makes v the content of such a file, for its owner alone, as Write does.
func WriteJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Write(path, append(data, '\n'), 0o600)
}

// WriteIndentedJSON does the same to a file that people look into.
func WriteIndentedJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return Write(path, append(data, '\n'), 0o600)
}

// SwapJSON makes v the content of such a file, for its owner alone, as Swap does.
func SwapJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Swap(path, append(data, '\n'), 0o600)
}
