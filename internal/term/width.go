package term

import (
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// width is the number of columns s takes; s is clean.
func width(s string) int { return ansi.StringWidth(s) }

// cut shortens s to at most n columns, with … where something is missing.
func cut(s string, n int) string { return ansi.Truncate(s, max(0, n), "…") }

// pad fills s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

// Clean makes hostile text fit for one line of a terminal: escape sequences go
// as a whole, other control characters and everything that reorders or hides
// text go too, bytes that are not UTF-8 are quoted, white space is folded.
func Clean(s string) string {
	const most = 4096 // bytes of one field; more was never meant for a line
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	var b strings.Builder
	for l := range strings.Lines(plan.Visible(s)) { // a sequence that is never closed ends with its line
		for _, r := range ansi.Strip(sevenBit().Replace(l)) {
			switch {
			case unicode.IsSpace(r):
				b.WriteByte(' ')
			case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			default:
				b.WriteRune(r)
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// sevenBit makes of control characters of 8 bits the sequences that mean the same.
var sevenBit = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for c := rune(0x80); c < 0xa0; c++ {
		pairs = append(pairs, string(c), "\x1b"+string(c-0x40))
	}
	return strings.NewReplacer(pairs...)
})

// ASCII replaces the symbols that Pawl prints with one character of ASCII each, so
// that columns stay. Other text (titles, names of files) is the user's and stays.
func ASCII(text string) string {
	return strings.NewReplacer(
		"·", "-", "…", ".", "→", ">", "✓", "+", "✗", "x", "●", "*", "◌", "o", "–", "-", "×", "x", "≤", "<", "⟲", "@",
	).Replace(text)
}

// asciiWriter writes what it is given as ASCII gives it.
type asciiWriter struct{ to io.Writer }

// Write passes whole texts on: a symbol is never cut in two by the printers.
func (w asciiWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, ASCII(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
