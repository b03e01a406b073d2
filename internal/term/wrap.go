package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks the lines of a text between words where they are wider than columns;
// what follows hangs below what it continues with. A text in columns is broken between
// them first. A word that is wider stays whole, so that it can be copied. Where
// columns is 0 nothing is known of the width, and the text stays as it is.
func Wrap(s string, columns int) string {
	if columns <= 0 {
		return s
	}
	var b strings.Builder
	for l := range strings.Lines(s) {
		rest, ended := strings.CutSuffix(l, "\n")
		for i, row := range (line{text(rest)}).wrap(columns, hang(rest, columns)) {
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

// hang is the column below which the rows of a wrapped line stand: behind its label,
// which a gap ends, unless that leaves too little room; else behind its bullet.
func hang(l string, columns int) int {
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

// pieces are the words of a line; the blanks at its end are dropped.
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

// wrap breaks a line between words into rows of at most n columns; all but the
// first are indented. The text between two gaps (a command, a column) moves to the next
// row as a whole if it fits there. Without enough room the terminal breaks the line.
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
		if w.gap > 1 && indent+group(words[i:]) <= n {
			need = group(words[i:])
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

// group is the width of the words up to the next gap.
func group(words []piece) int {
	n := width(words[0].word)
	for _, w := range words[1:] {
		if w.gap > 1 {
			break
		}
		n += w.gap + width(w.word)
	}
	return n
}
