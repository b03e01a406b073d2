package verifyactive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/claim"
)

// walker finds markers in a prompt, outside of code and quotations. A prompt is Markdown, in which
// nothing is malformed. Each byte is read a few times at most.
type walker struct {
	text  string
	at    int    // all before it has been read
	fence string // what ends the current code block, "" = none
	quote rune   // of the quotation that may include at, 0 = none
}

// next returns where the next marker begins, and moves past it.
func (w *walker) next() (at int, found bool) {
	for w.at < len(w.text) {
		start := strings.LastIndexByte(w.text[:w.at], '\n') + 1
		line, _, _ := strings.Cut(w.text[start:], "\n")
		if w.at == start {
			w.quote = 0 // a quotation ends on its line
			if !w.isProse(line) {
				w.at = min(start+len(line)+1, len(w.text))
				continue
			}
		}
		if at, found = w.inline(start + len(line)); found {
			return at, true
		}
		w.at = min(w.at+1, len(w.text))
	}
	return 0, false
}

// isProse reports whether a line is neither code, nor quoted, nor blank. It tracks code fences.
func (w *walker) isProse(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	if w.fence != "" {
		if claim.ClosesFence(trimmed, w.fence) {
			w.fence = ""
		}
		return false
	}
	w.fence = claim.OpeningFence(trimmed)
	switch {
	case w.fence != "":
		return false
	case len(line)-len(trimmed) >= 4, strings.HasPrefix(trimmed, "\t"):
		return false
	case strings.HasPrefix(trimmed, ">"):
		// >>name calls a prompt of claude-prompts.
		name, called := strings.CutPrefix(trimmed, ">>")
		return called && name != "" && inWord([]rune(name[:1])[0])
	}
	return strings.TrimSpace(line) != ""
}

// inline finds a marker up to the end of the line.
func (w *walker) inline(end int) (at int, found bool) {
	for w.at < end {
		r, size := utf8.DecodeRuneInString(w.text[w.at:])
		switch {
		case r == '`':
			w.at = w.code(end)
			continue
		case r == ':' && w.quote == 0 && w.startsMarker(end):
			at = w.at
			w.at = end
			return at, true
		case r == ':' && w.startsMarker(end):
			if past := w.quoted(end); past > 0 {
				w.at, w.quote = past, 0
				continue
			}
			at, w.quote = w.at, 0
			w.at = end
			return at, true
		case w.quote == 0 && closingQuote(r) != 0 && !inWord(w.before()):
			w.quote = closingQuote(r)
		case w.quote != 0 && r == w.quote && w.endsQuotation(w.at, size):
			w.quote = 0
		}
		w.at += size
	}
	return 0, false
}

// code returns the offset after the code in backticks that begins here, or after the backticks if
// they begin none. Code ends on its line.
func (w *walker) code(end int) int {
	rest := w.text[w.at:end]
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	ticks := rest[:n]
	for at := n; at < len(rest); {
		i := strings.Index(rest[at:], ticks)
		if i < 0 {
			break
		}
		at += i
		run := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
		if at += run; run == n {
			return w.at + at
		}
	}
	return w.at + n
}

// startsMarker reports whether a marker begins here.
func (w *walker) startsMarker(end int) bool {
	if !strings.HasPrefix(w.text[w.at:], "::") || w.at > 0 && !unicode.IsSpace(w.before()) {
		return false
	}
	_, past := command(w.text, w.at, end)
	return past > 0
}

// quoted returns the offset after the quotation around the marker here, 0 if there is none. The
// quotation must end outside of the marker's own quotes.
func (w *walker) quoted(end int) int {
	_, at := command(w.text, w.at, end)
	for i, r := range w.text[at:end] {
		if size := utf8.RuneLen(r); r == w.quote && w.endsQuotation(at+i, size) {
			return at + i + size
		}
	}
	return 0
}

func (w *walker) before() rune {
	if w.at == 0 {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(w.text[:w.at])
	return r
}

// endsQuotation reports whether the quote at the offset, size bytes long, looks like the end of a quotation:
// no word follows directly.
func (w *walker) endsQuotation(at, size int) bool {
	r, n := utf8.DecodeRuneInString(w.text[at+size:])
	return n == 0 || !inWord(r)
}

// closingQuote returns the quote that closes this one, 0 if it opens nothing.
func closingQuote(r rune) rune {
	switch r {
	case '"', '\'':
		return r
	case '“':
		return '”'
	case '‘':
		return '’'
	}
	return 0
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
