package install

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// layout is how a file is written, so that what is added looks as if its author
// had.
type layout struct {
	newline string // what ends its lines
	unit    string // one more step to the right
	space   string // after a comma and a colon on the same line
}

// place is where the things in a list stand: each on a line of its own, indented,
// or all on one.
type place struct {
	lines  bool
	indent string
}

// around is the place of a whole file: where that is empty, lines are begun.
func around() place { return place{lines: true} }

func (d *document) layout() layout {
	l := layout{newline: newline(d.file), unit: "  ", space: " "}
	if len(d.root.Members) == 0 {
		return l
	}
	first := d.root.Members[0]
	if len(first.Value.BeforeExtra) == 0 {
		l.space = ""
	}
	if indent, ok := indentation(first.Name.BeforeExtra); ok {
		outer, _ := indentation(d.root.AfterExtra)
		l.unit = strings.TrimPrefix(indent, outer)
	}
	return l
}

// inside is where things stand in a list that stands at a place itself. An empty
// list has them as what is around it does.
func (l layout) inside(in list, outer place) place {
	n := in.len()
	if n == 0 {
		return place{outer.lines, outer.indent + l.unit}
	}
	if indent, ok := indentation(*in.before(n - 1)); ok {
		return place{true, indent}
	}
	return place{false, outer.indent}
}

// gap is the white space before something that is added to a list, and before
// the closing bracket if the list was empty.
func (l layout) gap(in list, outer place) (before, end string) {
	p := l.inside(in, outer)
	_, rest := cut(*in.tail())
	comments := len(rest) < len(*in.tail())
	switch {
	case p.lines, comments && bytes.ContainsRune(rest, '\n'): // the comment may reach to the end of its line
		return l.newline + p.indent, l.newline + outer.indent
	case in.len() > 0 || comments:
		return l.space, ""
	}
	return "", ""
}

// render writes a value that stands at a place.
func (l layout) render(v any, p place) (hujson.Literal, error) {
	data, err := compact(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if p.lines {
		if err := json.Indent(&b, data, p.indent, l.unit); err != nil {
			return nil, err
		}
		return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(l.newline)), nil
	}
	if l.space == "" {
		return data, nil
	}
	if err := json.Indent(&b, data, "", ""); err != nil {
		return nil, err
	}
	// No line break is inside a string, so each of these is between two things.
	return []byte(strings.NewReplacer(",\n", ", ", "\n", "").Replace(b.String())), nil
}

// indentation is what follows the last line break; false if there is none.
func indentation(e hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(e, '\n')
	if i < 0 {
		return "", false
	}
	line := e[i+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]), true
}

// newline is what the first line of a text ends with.
func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// colon is the white space after a colon, in a list whose things have this gap
// before them.
func (l layout) colon(gap string) string {
	if gap != "" && gap != l.space {
		return " "
	}
	return l.space
}

// standing is the place of a thing that is there, in a list at a place.
func (l layout) standing(v hujson.Value, outer place) place {
	if indent, ok := indentation(v.BeforeExtra); ok {
		return place{true, indent}
	}
	return place{false, outer.indent}
}
