package atomicfile

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON returns v as one line of JSON with a newline. It does not escape characters for HTML, so
// that "&&" in commands stays readable.
func EncodeJSON(v any) ([]byte, error) { return encodeJSON(v, "") }

// EncodeIndentedJSON is EncodeJSON with indented lines.
func EncodeIndentedJSON(v any) ([]byte, error) { return encodeJSON(v, "  ") }

func encodeJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// ReadJSON decodes a file that Pawl wrote itself into v. After an error, v may hold a part of it.
func ReadJSON(path string, v any) error {
	data, err := Read(path, Large)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// WriteJSON writes v as JSON into a file that only its owner may read, see Write.
func WriteJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Write(path, append(data, '\n'), 0o600)
}

// WriteIndentedJSON is WriteJSON with indented lines, for files that users read.
func WriteIndentedJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return Write(path, append(data, '\n'), 0o600)
}

// SwapJSON is WriteJSON without waiting for the disk, see Swap.
func SwapJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Swap(path, append(data, '\n'), 0o600)
}
