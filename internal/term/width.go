package term

import (
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// width returns the number of columns of s, which must be clean.
func width(s string) int { return ansi.StringWidth(s) }

// cut shortens s to at most n columns, and ends it with … if it was longer.
func cut(s string, n int) string { return ansi.Truncate(s, max(0, n), "…") }

// pad adds blanks to s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

// Clean makes hostile text safe for one line of a terminal. It removes escape sequences, other
// control characters, and characters that reorder or hide text. It quotes bytes that are not UTF-8
// and folds white space.
func Clean(s string) string {
	const most = 4096 // maximum length of a field in bytes
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	text := CleanText(strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, plan.Visible(s)))
	return strings.Join(strings.Fields(text), " ")
}

// CleanText makes hostile text of several lines safe for a terminal, as Clean does. It keeps lines,
// tabs and other white space.
func CleanText(s string) string {
	var b strings.Builder
	for l := range strings.Lines(plan.Visible(s)) { // an unterminated sequence ends with its line
		l, ended := strings.CutSuffix(l, "\n")
		for _, r := range ansi.Strip(sevenBit().Replace(l)) {
			if r == '\t' || !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
				b.WriteRune(r)
			}
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// sevenBit replaces 8-bit control characters by the equivalent escape sequences.
var sevenBit = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for c := rune(0x80); c < 0xa0; c++ {
		pairs = append(pairs, string(c), "\x1b"+string(c-0x40))
	}
	return strings.NewReplacer(pairs...)
})

// ASCII replaces each symbol that Pawl prints with one ASCII character, so that columns stay
// aligned. Titles and file names belong to the user and do not change.
func ASCII(text string) string {
	return strings.NewReplacer(
		"·", "-", "…", ".", "→", ">", "✓", "+", "✗", "x", "●", "*", "◌", "o", "–", "-", "×", "x", "≤", "<", "⟲", "@",
	).Replace(text)
}

// asciiWriter writes text converted by ASCII.
type asciiWriter struct{ to io.Writer }

// Write converts and writes p. The printers never split a symbol between two calls.
func (w asciiWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, ASCII(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
