package term

import "strings"

// style is the parameter of an SGR sequence, "" for none.
type style string

const (
	none   style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// span is a part of a line in one style. Its text is clean.
type span struct {
	style style
	text  string
}

// line is one line on the screen.
type line []span

func text(s string) span { return span{none, s} }

func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// cut shortens a line to n columns.
func (l line) cut(n int) line {
	if width(l.String()) <= n {
		return l
	}
	var out line
	for _, s := range l {
		w := width(s.text)
		if w >= n {
			// The text is longer than fits, so that cut always adds the ….
			return append(out, span{s.style, cut(s.text+"  ", n)})
		}
		out = append(out, s)
		n -= w
	}
	return out
}

func (l line) paint(color bool) string {
	if !color {
		return strings.TrimRight(l.String(), " ")
	}
	var b strings.Builder
	for _, s := range l {
		if s.style == none || s.text == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString("\x1b[" + string(s.style) + "m" + s.text + "\x1b[0m")
	}
	return b.String()
}
