package testdiff

import (
	"strings"
)

// style is how a language writes comments and strings.
type style struct {
	line   []string    // what begins a comment that ends with the line
	block  [][2]string // what begins and ends one that may be longer
	quotes []string    // the longest first; what a string begins with ends it
	char   bool        // ' holds one character and is no string
}

func cStyle(quotes ...string) style {
	return style{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: quotes}
}

// source is a file with its code laid bare: code has the length of text, and where
// text has comments or the insides of strings, blanks.
type source struct {
	text, code string
}

// bare blanks comments and the insides of strings. Lines stay.
func bare(text string, s style) source {
	code := []byte(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if code[i] != '\n' {
				code[i] = ' '
			}
		}
	}
	for i := 0; i < len(text); {
		switch at := text[i:]; {
		case hasAny(at, s.line) != "":
			to := i + lineEnd(at)
			blank(i, to)
			i = to
		case blockOf(at, s.block) != [2]string{}:
			b := blockOf(at, s.block)
			to := len(text)
			if n := strings.Index(at[len(b[0]):], b[1]); n >= 0 {
				to = i + len(b[0]) + n + len(b[1])
			}
			blank(i, to)
			i = to
		case hasAny(at, s.quotes) != "":
			q := hasAny(at, s.quotes)
			n := stringEnd(at, q)
			blank(i+len(q), max(i+len(q), i+n-len(q)))
			i += n
		case s.char && at[0] == '\'':
			i += charLen(at)
		default:
			i++
		}
	}
	return source{text, string(code)}
}

func hasAny(s string, prefixes []string) string {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return p
		}
	}
	return ""
}

func blockOf(s string, blocks [][2]string) [2]string {
	for _, b := range blocks {
		if strings.HasPrefix(s, b[0]) {
			return b
		}
	}
	return [2]string{}
}

func lineEnd(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// stringEnd is the length of the string that s begins with, its quotes included.
// One quote ends with its line at the latest, but for the backtick's.
func stringEnd(s, quote string) int {
	for i := len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		case s[i] == '\n' && len(quote) == 1 && quote != "`":
			return i
		}
	}
	return len(s)
}

// charLen is the length of a character in quotes; of a lone quote, one.
func charLen(s string) int {
	for i := 1; i < min(len(s), 12) && s[i] != '\n'; i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if s[i] == '\'' {
			return i + 1
		}
	}
	return 1
}

// lineOf is the number of the line that an offset is on, from 1.
func (s source) lineOf(at int) int { return 1 + strings.Count(s.text[:at], "\n") }

// block is the end of the block in braces that opens first at or after an offset;
// the end of the file if there is none.
func (s source) block(at int) int {
	depth := 0
	for i := at; i < len(s.code); i++ {
		switch s.code[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(s.code)
}

// parens is the end of the parentheses that open first at or after an offset.
func (s source) parens(at int) int {
	depth := 0
	for i := at; i < len(s.code); i++ {
		switch s.code[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(s.code)
}

// indented is the end of the lines that are further in than the one at an offset;
// with an end word, that of the line that closes it.
func (s source) indented(at int, closing string) int {
	start := strings.LastIndexByte(s.code[:at], '\n') + 1
	own := indent(s.code[start:])
	end := at + lineEnd(s.code[at:])
	for end < len(s.code) {
		line := s.code[end+1:]
		line = line[:lineEnd(line)]
		plain := strings.TrimSpace(line)
		if plain != "" && indent(line) <= own {
			if closing != "" && strings.HasPrefix(plain, closing) {
				end += 1 + len(line)
			}
			return min(end, len(s.code))
		}
		end += 1 + len(line)
	}
	return len(s.code)
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// quoted is the first string at or after an offset and before another, without its
// quotes.
func (s source) quoted(at, to int) string {
	for i := at; i < to; i++ {
		if q := s.code[i]; q == '"' || q == '\'' || q == '`' {
			if n := strings.IndexByte(s.code[i+1:to], q); n >= 0 {
				return s.text[i+1 : i+1+n]
			}
		}
	}
	return ""
}

// plain is a stretch without comments and white space, its strings as they are in
// quotes of one kind.
func (s source) plain(from, to int) string {
	var out strings.Builder
	inString := byte(0)
	for i := from; i < to; i++ {
		c, t := s.code[i], s.text[i]
		quote := c == '"' || c == '\'' || c == '`'
		switch {
		case quote && inString == 0:
			inString = c
			out.WriteByte('"')
		case quote && c == inString:
			inString = 0
			out.WriteByte('"')
		case inString != 0:
			out.WriteByte(t)
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			out.WriteByte(c)
		}
	}
	return out.String()
}
