package install

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// style is how a file is written, so that additions look like the rest.
type style struct {
	newline string // the line end
	unit    string // one step of indentation
	space   string // after a comma or a colon on the same line
}

// placement is how the elements of a list are placed: each on an indented line, or all on one line.
type placement struct {
	ownLines bool
	indent   string
}

// filePlacement returns the placement of the root: its elements get their own lines.
func filePlacement() placement { return placement{ownLines: true} }

func (d *document) style() style {
	l := style{newline: lineEnd(d.file), unit: "  ", space: " "}
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

// elementPlacement returns the placement of a list's elements. For an empty list, it follows the
// placement of the list.
func (l style) elementPlacement(in list, outer placement) placement {
	n := in.len()
	if n == 0 {
		return placement{outer.ownLines, outer.indent + l.unit}
	}
	if indent, ok := indentation(*in.before(n - 1)); ok {
		return placement{true, indent}
	}
	return placement{false, outer.indent}
}

// gapBefore returns the white space before an element added to a list, and the one before the
// closing bracket if the list was empty.
func (l style) gapBefore(in list, outer placement) (before, end string) {
	p := l.elementPlacement(in, outer)
	_, rest := splitAfterComments(*in.tail())
	comments := len(rest) < len(*in.tail())
	switch {
	case p.ownLines, comments && bytes.ContainsRune(rest, '\n'): // the comment may extend to the end of its line
		return l.newline + p.indent, l.newline + outer.indent
	case in.len() > 0 || comments:
		return l.space, ""
	}
	return "", ""
}

// render returns a value as JSON in a placement.
func (l style) render(v any, p placement) (hujson.Literal, error) {
	data, err := atomicfile.EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimSpace(data)
	var b bytes.Buffer
	if p.ownLines {
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
	// Strings contain no line breaks, so each one is between two elements.
	return []byte(strings.NewReplacer(",\n", ", ", "\n", "").Replace(b.String())), nil
}

// indentation returns the white space after the last line break, and false if there is none.
func indentation(e hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(e, '\n')
	if i < 0 {
		return "", false
	}
	line := e[i+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]), true
}

// lineEnd returns the end of the first line of a text.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// spaceAfterColon returns the white space after a colon, for elements with this gap before them.
func (l style) spaceAfterColon(gap string) string {
	if gap != "" && gap != l.space {
		return " "
	}
	return l.space
}

// placementOf returns the placement of an existing element of a list.
func (l style) placementOf(v hujson.Value, outer placement) placement {
	if indent, ok := indentation(v.BeforeExtra); ok {
		return placement{true, indent}
	}
	return placement{false, outer.indent}
}
