package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks lines that are wider than columns between words and indents the rest. Text in columns
// is broken between its columns first. A word that is wider stays whole, so that users can copy it.
// If columns is 0, the width is unknown and the text does not change.
func Wrap(s string, columns int) string {
	if columns <= 0 {
		return s
	}
	var b strings.Builder
	for l := range strings.Lines(s) {
		rest, ended := strings.CutSuffix(l, "\n")
		for i, row := range (line{text(rest)}).wrap(columns, hangingIndent(rest, columns)) {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(row.String())
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// hangingIndent returns the indentation of the following rows of a wrapped line. It is behind the
// label, which a gap ends, if that leaves enough room; otherwise behind the bullet.
func hangingIndent(l string, columns int) int {
	rest := strings.TrimLeft(l, " ")
	at := len(l) - len(rest)
	label, behind, gap := strings.Cut(rest, "  ")
	if col := at + width(label) + 2 + len(behind) - len(strings.TrimLeft(behind, " ")); gap && col <= columns/2 {
		return col
	}
	if r, n := utf8.DecodeRuneInString(rest); !unicode.IsLetter(r) && !unicode.IsDigit(r) && strings.HasPrefix(rest[n:], " ") {
		return at + 2
	}
	if gap && at > 0 {
		return at + 2
	}
	return at
}

// piece is a word with the blanks before it.
type piece struct {
	style style
	gap   int
	word  string
}

// pieces returns the words of a line. Blanks at its end are dropped.
func (l line) pieces() []piece {
	var out []piece
	gap := 0
	for _, s := range l {
		for i, word := range strings.Split(s.text, " ") {
			if i > 0 {
				gap++
			}
			if word != "" {
				out = append(out, piece{s.style, gap, word})
				gap = 0
			}
		}
	}
	return out
}

// wrap breaks a line between words into rows of at most n columns, and indents all rows but the
// first. Text between two gaps (a command, a column) moves to the next row as a whole if it fits
// there. If there is too little room, the terminal breaks the line.
func (l line) wrap(n, indent int) []line {
	if width(l.String()) <= n || n < 3*indent/2 {
		return []line{l}
	}
	words := l.pieces()
	var rows []line
	var row line
	used := 0
	for i, w := range words {
		need := width(w.word)
		if w.gap > 1 && indent+groupWidth(words[i:]) <= n {
			need = groupWidth(words[i:])
		}
		if used+w.gap+need > n && used > indent && w.gap > 0 {
			rows, row, used = append(rows, row), line{text(strings.Repeat(" ", indent))}, indent
		} else {
			row, used = append(row, text(strings.Repeat(" ", w.gap))), used+w.gap
		}
		row, used = append(row, span{w.style, w.word}), used+width(w.word)
	}
	return append(rows, row)
}

// groupWidth returns the width of the words up to the next gap.
func groupWidth(words []piece) int {
	n := width(words[0].word)
	for _, w := range words[1:] {
		if w.gap > 1 {
			break
		}
		n += w.gap + width(w.word)
	}
	return n
}
