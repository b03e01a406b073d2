package term

import (
	"io"
	"strings"
)

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
