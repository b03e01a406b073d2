package testdiff

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Reformatted reports whether a file says the same as before in another layout, as after a formatter:
// other blanks, line breaks where they mean nothing, quotes of another kind, commas before a closing
// bracket. In doubt, and for other languages than the common ones, it says no.
func Reformatted(before, after File) bool {
	was, is := layoutTokens(before), layoutTokens(after)
	return was != nil && before.Path == after.Path && slices.Equal(was, is)
}

const (
	scriptExts = ".js .jsx .ts .tsx .mjs .cjs .mts .cts"
	braceExts  = scriptExts + " .go .rs .java"
)

// layout reads the tokens of a file that no formatter changes.
type layout struct {
	ext     string
	s       source.Source
	found   []string
	comment bool  // the last token is of a comment
	depth   int   // of open brackets
	indents []int // of the open blocks, in columns
}

// layoutTokens returns nil for unknown languages and unclosed strings.
func layoutTokens(f File) []string {
	l := layout{ext: path.Ext(f.Path), s: source.BareFile(f.Path, string(f.Content)), found: []string{""}}
	if l.ext != ".py" && !slices.Contains(strings.Fields(braceExts), l.ext) {
		return nil
	}
	lineStart := true
	for i := 0; i < len(l.s.Text); {
		c := l.s.Text[i]
		switch {
		case c == '\n':
			lineStart = true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case lineStart:
			l.beginLine(i)
			lineStart = false
		}
		n := l.token(i)
		if n == 0 {
			return nil
		}
		i += n
	}
	return l.found
}

// beginLine adds the line break before an offset if it means something: after a comment, which it ends; in
// Go, where it may end a statement, and formatters keep it; in Python outside of brackets, with the depth of
// the line; after a word whose statement it ends.
func (l *layout) beginLine(at int) {
	switch code := l.s.Code[at]; {
	case l.ext != ".py":
		if l.ext == ".go" || l.comment || endsWithLine.MatchString(l.found[len(l.found)-1]) {
			l.found = append(l.found, "\n")
		}
	case l.comment && (l.depth > 0 || code == ' '):
		l.found = append(l.found, "\n")
	case l.depth == 0 && code != ' ' && code != '\n': // it is no comment
		columns := 0
		for _, c := range l.s.Text[strings.LastIndexByte(l.s.Text[:at], '\n')+1 : at] {
			if columns++; c == '\t' {
				columns = (columns + tabColumns - 1) / tabColumns * tabColumns
			}
		}
		for len(l.indents) > 0 && l.indents[len(l.indents)-1] >= columns {
			l.indents = l.indents[:len(l.indents)-1]
		}
		l.indents = append(l.indents, columns)
		l.found = append(l.found, "\n"+strings.Repeat(" ", len(l.indents)))
	}
}

const tabColumns = 8

// endsWithLine matches words whose statement may end with the line.
var endsWithLine = regex.New(`^(?:return|throw|break|continue|yield)$`)

// token adds the token at an offset and returns its length; 0 if a string has no end.
func (l *layout) token(at int) int {
	c := l.s.Code[at]
	l.comment = c == ' '
	if strings.IndexByte("\"'`", c) >= 0 {
		n := strings.IndexByte(l.s.Code[at+1:], c)
		if n < 0 {
			return 0
		}
		quote := string(c)
		if c == '\'' && (l.ext == ".py" || slices.Contains(strings.Fields(scriptExts), l.ext)) {
			quote = `"`
		}
		l.found = append(l.found, quote+l.s.Text[at+1:at+1+n])
		return n + 2
	}
	m := tokens.FindStringIndex(l.s.Text[at:])
	if m == nil || m[0] > 0 {
		m = []int{0, 1}
	}
	token := l.s.Text[at : at+m[1]]
	l.depth += source.Depth(c)
	if last := len(l.found) - 1; l.found[last] == "," && l.dropsComma(token) && !strings.HasSuffix(l.found[last-1], "[") && l.found[last-1] != "," {
		l.found = l.found[:last]
	}
	l.found = append(l.found, token)
	return m[1]
}

// dropsComma reports whether a comma before a closing bracket means nothing. In Python and Rust one before a
// round one makes a tuple.
func (l *layout) dropsComma(bracket string) bool {
	return bracket == "]" || bracket == "}" || bracket == ")" && l.ext != ".py" && l.ext != ".rs"
}
