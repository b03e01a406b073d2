package thloop

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxNoteBytes limits how much of a channel a prompt contains at a time, in bytes.
const maxNoteBytes = 6000

// Note returns the text for the agent, "" if nothing is new. Of a long text it contains the end,
// and where the rest is; of the agent's own entries only their place.
func (n News) Note() string {
	var told []string
	left := maxNoteBytes
	for _, p := range slices.Backward(n.Parts) {
		text := strings.TrimSpace(cleanText(p.Text))
		place := fmt.Sprintf("%s:%d", p.File, p.First)
		switch {
		case text == "":
		case p.Own:
			told = append(told, fmt.Sprintf("(%s-%d is your own entry.)", place, p.Last))
		case left <= 0:
			told = append(told, fmt.Sprintf("(%s-%d is left out here: read it there.)", place, p.Last))
		case len(text) > left:
			cut := tail(text, left)
			told = append(told, fmt.Sprintf("From %s, the last %d of %d bytes (read the rest there):\n%s", place, len(cut), len(text), cut))
			left = 0
		default:
			told = append(told, fmt.Sprintf("From %s:\n%s", place, text))
			left -= len(text)
		}
	}
	if !n.hasOthers() {
		return ""
	}
	var b strings.Builder
	b.WriteString("New in the channel:")
	for _, text := range slices.Backward(told) {
		b.WriteString("\n\n" + text)
	}
	return b.String()
}

// hasOthers reports whether there is anything besides the agent's own entries.
func (n News) hasOthers() bool {
	return slices.ContainsFunc(n.Parts, func(p Part) bool { return !p.Own && strings.TrimSpace(cleanText(p.Text)) != "" })
}

// tail returns the end of a text, from the start of a line if possible.
func tail(text string, most int) string {
	text = strings.ToValidUTF8(text[len(text)-most:], "")
	if _, rest, ok := strings.Cut(text, "\n"); ok && len(rest) > most/2 {
		return rest
	}
	return text
}

// cleanText returns text without invalid UTF-8, control characters and carriage returns.
func cleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\ufeff' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
}
