package ralphloop

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words splits a text that a user typed into words. Unlike a shell, it expands nothing.
//
// Words are separated by white space outside quotations. "…", '…' and `…` (any
// number of backticks, as in Markdown) are quotations. They do not begin in a word (don't, 5") or after
// a backslash. They do not end in a word, or where another one seems to begin ("say "hi" to all"). A
// quote without an end is text. So is an apostrophe that would hide a known flag ('em --gate make … the
// users').
//
// The results of searches are cached, so that the time is linear.
type words struct {
	text  string
	known func(word string) bool // flags that an apostrophe must not hide
	at    int                    // where the next word is searched

	ends [2]int // cached: the next end of a quotation in " and in '
	flag int    // cached: the next known flag
	code int    // runs of so many backticks or more have no other end; 0: not known yet
}

// next returns the next word. firm means that a quote here is not an apostrophe: at the start of
// the prompt, or in the value of a flag.
func (w *words) next(firm bool) (word span, ok bool) {
	rest := strings.TrimLeftFunc(w.text[w.at:], unicode.IsSpace)
	at := len(w.text) - len(rest)
	if rest == "" {
		return span{}, false
	}
	word.at = at
	for before := ' '; at < len(w.text); {
		r, size := utf8.DecodeRuneInString(w.text[at:])
		if unicode.IsSpace(r) {
			break
		}
		end := 0
		if !inWord(before) && before != '\\' {
			end = w.quotation(at, firm && at == word.at || before == '=')
		}
		if end > 0 {
			at, before = end, '"'
		} else {
			at, before = at+size, r
		}
	}
	w.at, word.end = at, at
	return word, true
}

// quotation returns the end of the quotation that begins at the offset, 0 if there is none.
func (w *words) quotation(at int, firm bool) int {
	switch q := w.text[at]; q {
	case '`':
		return w.codeEnd(at)
	case '"', '\'':
		end := w.quoteEnd(at)
		if end == len(w.text) || q == '\'' && !firm && w.nextFlag(at) < end {
			return 0
		}
		return end + 1
	}
	return 0
}

// quoteEnd returns the end of the quotation that a quote begins, the length of the text if it has
// no end.
func (w *words) quoteEnd(at int) int {
	q := w.text[at]
	end := &w.ends[0]
	if q == '\'' {
		end = &w.ends[1]
	}
	if *end > at {
		return *end
	}
	for *end = at + 1; *end < len(w.text); *end++ {
		if w.text[*end] == q && !(q == '"' && w.escaped(*end)) && w.endsHere(*end) {
			break
		}
	}
	return *end
}

// endsHere reports whether the quote at the offset looks like the end of a quotation.
func (w *words) endsHere(at int) bool {
	before, _ := utf8.DecodeLastRuneInString(w.text[:at])
	after, size := utf8.DecodeRuneInString(w.text[at+1:])
	switch {
	case size == 0 || unicode.IsSpace(after):
		return true
	case after == rune(w.text[at]) || inWord(after):
		return false // another one comes, and that one ends it; or an apostrophe
	}
	return !unicode.IsSpace(before)
}

func (w *words) escaped(at int) bool {
	before := w.text[:at]
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// codeEnd returns the end of the code that backticks begin, 0 if they begin none.
func (w *words) codeEnd(at int) int {
	if at > 0 && w.text[at-1] == '`' {
		return 0 // looked at with the first of its run
	}
	rest := w.text[at:]
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	if w.code > 0 && n >= w.code {
		return 0
	}
	end := strings.Index(rest[n:], rest[:n])
	if end < 0 {
		w.code = n
		return 0
	}
	return at + n + end + n
}

// nextFlag returns where the next known flag begins after the offset, the length of the text if
// there is none.
func (w *words) nextFlag(at int) int {
	if w.flag > at {
		return w.flag
	}
	for w.flag = at + 1; w.flag < len(w.text); w.flag++ {
		before, _ := utf8.DecodeLastRuneInString(w.text[:w.flag])
		if !unicode.IsSpace(before) || !strings.HasPrefix(w.text[w.flag:], "--") {
			continue
		}
		word := w.text[w.flag:]
		if end := strings.IndexFunc(word, unicode.IsSpace); end >= 0 {
			word = word[:end]
		}
		if w.known(word) {
			break
		}
	}
	return w.flag
}

// unquote removes the quotes of a text that is one quotation in " or ', and returns the quote.
// Otherwise it returns the text and 0. Within ", a backslash escapes " \ $ and the backtick, as in
// a shell.
func unquote(text string) (plain string, quote byte) {
	if len(text) < 2 || text[0] != '"' && text[0] != '\'' {
		return text, 0
	}
	w := words{text: text}
	if w.quoteEnd(0) != len(text)-1 {
		return text, 0
	}
	inner := text[1 : len(text)-1]
	if text[0] == '"' {
		inner = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(inner)
	}
	return inner, text[0]
}

// inWord reports whether a character can stand in the middle of a word.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
