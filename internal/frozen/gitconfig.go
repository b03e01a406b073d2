package frozen

import "strings"

// gitSetting is one setting of a configuration of git.
type gitSetting struct {
	key     string // section, subsection if any, name; all small but the subsection
	value   string // as it is written, without quotes, comment and outer spaces
	section int    // the number of its section
}

// gitSettings reads a configuration as git does, which is its only grammar: the
// settings, and where each section begins. What git would refuse is not ok.
func gitSettings(text string) (settings []gitSetting, heads []int, ok bool) {
	p := gitParser{text: strings.TrimPrefix(text, "\ufeff")}
	skipped := len(text) - len(p.text)
	section := ""
	for {
		at := p.at
		switch c := p.next(); {
		case c == 0:
			return settings, heads, true
		case isGitSpace(c):
		case c == '#' || c == ';':
			p.skipLine()
		case c == '[':
			heads = append(heads, at+skipped)
			if section, ok = p.head(); !ok {
				return nil, nil, false
			}
		case isGitLetter(c) && len(heads) > 0:
			p.at = at
			name := strings.ToLower(p.while(isGitKey))
			value, ok := p.value()
			if !ok {
				return nil, nil, false
			}
			settings = append(settings, gitSetting{key: section + "." + name, value: value, section: len(heads) - 1})
		default:
			return nil, nil, false
		}
	}
}

// gitParser walks through the text, in which a line ends with \n or \r\n.
type gitParser struct {
	text string
	at   int
}

// next is the next byte, 0 at the end. A byte 0 in the text is none of git's.
func (p *gitParser) next() byte {
	if p.at >= len(p.text) {
		return 0
	}
	c := p.text[p.at]
	p.at++
	if c == '\r' && strings.HasPrefix(p.text[p.at:], "\n") {
		p.at++
		return '\n'
	}
	if c == 0 {
		return 1 // stands nowhere in what is well formed
	}
	return c
}

func (p *gitParser) while(is func(byte) bool) string {
	from := p.at
	for p.at < len(p.text) && is(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

func (p *gitParser) skipLine() {
	for c := p.next(); c != 0 && c != '\n'; c = p.next() {
	}
}

// head reads a section's name, from behind its bracket.
func (p *gitParser) head() (string, bool) {
	name := strings.ToLower(p.while(func(c byte) bool { return isGitKey(c) || c == '.' }))
	c := p.next()
	if c == ']' {
		return name, true
	}
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	if c != '"' {
		return "", false
	}
	var sub strings.Builder
	for c = p.next(); c != '"'; c = p.next() {
		if c == '\\' {
			c = p.next()
		}
		if c == 0 || c == '\n' {
			return "", false
		}
		sub.WriteByte(c)
	}
	return name + "." + sub.String(), p.next() == ']'
}

// value reads what follows a name, to the end of the line or beyond it.
func (p *gitParser) value() (string, bool) {
	p.while(func(c byte) bool { return c == ' ' || c == '\t' })
	switch p.next() {
	case 0, '\n':
		return "true", true // a name alone
	case '=':
	default:
		return "", false
	}
	var out strings.Builder
	quoted := false
	for {
		c := p.next()
		switch {
		case c == 0 || c == '\n':
			return strings.Trim(out.String(), " \t"), !quoted
		case !quoted && (c == '#' || c == ';'):
			p.skipLine()
			return strings.Trim(out.String(), " \t"), true
		case c == '"':
			quoted = !quoted
		case c == '\\':
			if c = p.next(); c == 0 {
				return "", false
			}
			if c != '\n' {
				out.WriteByte('\\')
				out.WriteByte(c)
			}
		default:
			out.WriteByte(c)
		}
	}
}

func isGitSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r'
}

func isGitLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isGitKey(c byte) bool { return isGitLetter(c) || '0' <= c && c <= '9' || c == '-' }
