package memory

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Paths are names of files, relative to a root with slashes. A name may be any bytes, and
// JSON holds text alone: what is none is kept in Go's quotes, "c\xff.txt" with them, and so is a
// name that begins with a quote.
type Paths []string

// MarshalJSON keeps every byte.
func (p Paths) MarshalJSON() ([]byte, error) {
	kept := make([]string, len(p))
	for i, name := range p {
		if kept[i] = name; !utf8.ValidString(name) || strings.HasPrefix(name, `"`) {
			kept[i] = strconv.Quote(name)
		}
	}
	return json.Marshal(kept)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Paths) UnmarshalJSON(data []byte) error {
	var kept []string
	if err := json.Unmarshal(data, &kept); err != nil {
		return err
	}
	for i, name := range kept {
		if bare, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
			kept[i] = bare
		}
	}
	*p = kept
	return nil
}
