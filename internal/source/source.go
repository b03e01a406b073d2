// Package source blanks comments and strings in source code, so that braces, words
// and indentation can be counted in a dozen languages without a parser for each. Bare text has the length of the text it was
// made of; an offset in the one is the same place in the other.
package source

import "strings"

// Source is a file with its code laid bare: code has the length of text, and where
// text has comments or the insides of strings, blanks.
type Source struct {
	Text, Code string
}

// Bare blanks comments and the insides of strings. Lines stay.
func Bare(text string, s Style) Source { return Source{text, blanked(text, s, true)} }

// Uncommented blanks comments alone. Lines stay, and so do strings.
func Uncommented(text string, s Style) string { return blanked(text, s, false) }

func blanked(text string, s Style, inStrings bool) string {
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
		case hasAny(at, s.Lines) != "" && (!s.Words || i == 0 || strings.IndexByte(" \t\n;(", text[i-1]) >= 0):
			to := i + LineEnd(at)
			blank(i, to)
			i = to
		case blockOf(at, s.Blocks) != [2]string{}:
			b := blockOf(at, s.Blocks)
			to := len(text)
			if n := strings.Index(at[len(b[0]):], b[1]); n >= 0 {
				to = i + len(b[0]) + n + len(b[1])
			}
			blank(i, to)
			i = to
		case s.Raw && rawLen(text, i) > 0:
			n, open := rawLen(text, i), 1+strings.IndexByte(at, '"')
			if inStrings {
				blank(i+open, max(i+open, i+n-open+1))
			}
			i += n
		case hasAny(at, s.Quotes) != "":
			q := hasAny(at, s.Quotes)
			n := stringEnd(at, q)
			if inStrings {
				blank(i+len(q), max(i+len(q), i+n-len(q)))
			}
			i += n
		case s.Char && at[0] == '\'':
			i += charLen(at)
		default:
			i++
		}
	}
	return string(code)
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

// LineEnd is the length of the first line of s, without its newline.
func LineEnd(s string) int {
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

// rawLen is the length of the raw string at an offset, 0 if there is none.
func rawLen(text string, at int) int {
	rest := text[at:]
	if rest[0] != 'r' || at > 0 && IsWord(text[at-1]) && (text[at-1] != 'b' || at > 1 && IsWord(text[at-2])) {
		return 0
	}
	marks := len(rest) - len(strings.TrimLeft(rest[1:], "#")) - 1
	if 1+marks >= len(rest) || rest[1+marks] != '"' {
		return 0
	}
	body := rest[2+marks:]
	closing := `"` + strings.Repeat("#", marks)
	if n := strings.Index(body, closing); n >= 0 {
		return 2 + marks + n + len(closing)
	}
	return len(rest)
}

// IsWord reports whether a byte is part of a word, in any alphabet.
func IsWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// HasWord reports whether a text contains a word, and not only as part of a longer one.
func HasWord(text, word string) bool {
	for at := 0; word != ""; at++ {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		at += i
		end := at + len(word)
		if (at == 0 || !IsWord(text[at-1])) && (end == len(text) || !IsWord(text[end])) {
			return true
		}
	}
	return false
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

// ContainsAll reports whether texts, such as lines, have each of some others, as often.
func ContainsAll(texts, others []string) bool {
	left := map[string]int{}
	for _, t := range texts {
		left[t]++
	}
	for _, t := range others {
		if left[t]--; left[t] < 0 {
			return false
		}
	}
	return true
}

// LineOf is the number of the line that an offset is on, from 1.
func (s Source) LineOf(at int) int { return 1 + strings.Count(s.Text[:at], "\n") }

// Block is the end of the block in braces that opens first at or after an offset;
// the end of the file if there is none.
func (s Source) Block(at int) int { return s.closing(at, '{', '}') }

// Parens is the end of the parentheses that open first at or after an offset.
func (s Source) Parens(at int) int { return s.closing(at, '(', ')') }

// closing is the end of the brackets that open first at or after an offset.
func (s Source) closing(at int, open, shut byte) int {
	depth := 0
	for i := at; i < len(s.Code); i++ {
		switch s.Code[i] {
		case open:
			depth++
		case shut:
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(s.Code)
}

// Indented is the end of the lines that are further in than the one at an offset, which
// continues while a bracket is open; with an end word, that of the line that closes it.
func (s Source) Indented(at int, closing string) int {
	start := strings.LastIndexByte(s.Code[:at], '\n') + 1
	own := Indent(s.Code[start:])
	end := s.statementEnd(at)
	for end < len(s.Code) {
		line := s.Code[end+1:]
		line = line[:LineEnd(line)]
		plain := strings.TrimSpace(line)
		if plain != "" && Indent(line) <= own {
			if closing != "" && strings.HasPrefix(plain, closing) {
				end += 1 + len(line)
			}
			return min(end, len(s.Code))
		}
		end += 1 + len(line)
	}
	return len(s.Code)
}

// statementEnd is the end of the first line in which no bracket is open that was opened
// since an offset; of its own line where brackets do not close.
func (s Source) statementEnd(at int) int {
	depth := 0
	for i := at; i < len(s.Code); i++ {
		if depth += Depth(s.Code[i]); s.Code[i] == '\n' && depth <= 0 {
			return i
		}
	}
	if depth <= 0 {
		return len(s.Code)
	}
	return at + LineEnd(s.Code[at:])
}

// Depth is 1 for what opens a bracket, -1 for what closes one, and 0 for all else.
func Depth(c byte) int {
	switch c {
	case '(', '[', '{':
		return 1
	case ')', ']', '}':
		return -1
	}
	return 0
}

// StatementStart is where the line begins that ends at an offset; where it closes a
// parenthesis or bracket of a line further up, where that one begins.
func (s Source) StatementStart(end int) int {
	depth := 0
	for i := end - 1; i >= 0; i-- {
		switch s.Code[i] {
		case ')', ']':
			depth++
		case '(', '[':
			depth--
		case '\n':
			if depth <= 0 {
				return i + 1
			}
		}
	}
	if depth <= 0 {
		return 0
	}
	return strings.LastIndexByte(s.Code[:end], '\n') + 1
}

// Indent is how many blanks and tabs a line begins with.
func Indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// Quoted is the first string at or after an offset and before another, without its
// quotes.
func (s Source) Quoted(at, to int) string {
	for i := at; i < to; i++ {
		if q := s.Code[i]; q == '"' || q == '\'' || q == '`' {
			if n := strings.IndexByte(s.Code[i+1:to], q); n >= 0 {
				return s.Text[i+1 : i+1+n]
			}
		}
	}
	return ""
}

// Plain is a stretch without comments and white space, its strings as they are in
// quotes of one kind.
func (s Source) Plain(from, to int) string {
	var out strings.Builder
	inString := byte(0)
	for i := from; i < to; i++ {
		c, t := s.Code[i], s.Text[i]
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

// IsGenerated reports whether the first lines of a file say that a program wrote it.
func IsGenerated(content []byte) bool {
	head := string(Head(content))
	return strings.Contains(head, "DO NOT EDIT") || strings.Contains(head, "@generated")
}

// Head returns the first lines of a file, which say where it is from.
func Head(content []byte) []byte { return content[:min(len(content), 1000)] }
