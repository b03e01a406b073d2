package memory

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Paths are names of files, relative to a root, with slashes. A name may hold any bytes, but
// JSON only valid UTF-8. So a name that is not valid UTF-8 is stored as a quoted Go string
// such as "c\xff.txt", and so is a name that begins with a quote.
type Paths []string

// MarshalJSON encodes the names without losing a byte.
func (p Paths) MarshalJSON() ([]byte, error) {
	encoded := make([]string, len(p))
	for i, name := range p {
		if encoded[i] = name; !utf8.ValidString(name) || strings.HasPrefix(name, `"`) {
			encoded[i] = strconv.Quote(name)
		}
	}
	return json.Marshal(encoded)
}

// UnmarshalJSON decodes what MarshalJSON wrote.
func (p *Paths) UnmarshalJSON(data []byte) error {
	var encoded []string
	if err := json.Unmarshal(data, &encoded); err != nil {
		return err
	}
	for i, name := range encoded {
		if decoded, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
			encoded[i] = decoded
		}
	}
	*p = encoded
	return nil
}
