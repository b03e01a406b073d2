package claim

import (
	"bytes"
	"strings"
)

// parser iterates over the elements of a message outside of code and quotes.
type parser struct {
	text      string
	masked    []byte // text with code, quotes and pasted output hidden
	end       int    // length of text without trailing white space
	pos       int
	lineStart int // offset of the line of the last opening tag
	searched  int // offset up to which lineStart was searched
}

// tag is an opening or closing tag in parser.masked.
type tag struct {
	name       string
	attrs      string
	closing    bool
	start, end int
}

// nextElement returns the next element in a valid position for a claim. A closing
// tag ends the innermost open tag, so that an unclosed mention hides nothing.
func (p *parser) nextElement() (element, bool) {
	var open *tag
	for {
		t, ok := p.nextTag()
		if !ok {
			return element{}, false
		}
		switch {
		case !t.closing:
			open = &t
			if i := strings.LastIndexByte(p.text[p.searched:t.start], '\n'); i >= 0 {
				p.lineStart = p.searched + i + 1
			}
			p.searched = t.start
		case open == nil || open.name != t.name:
			open = nil
		default:
			if p.isClaimPosition(open.start, t.end) {
				return element{name: t.name, attrs: open.attrs, body: p.text[open.end:t.start]}, true
			}
			open = nil
		}
	}
}

// nextTag returns the next tag at or after pos.
func (p *parser) nextTag() (tag, bool) {
	for p.pos < len(p.masked) {
		i := bytes.IndexByte(p.masked[p.pos:], '<')
		if i < 0 {
			break
		}
		start := p.pos + i
		p.pos = start + 1
		t, ok := readTag(p.masked[start:min(len(p.masked), start+maxTagBytes)])
		if !ok {
			continue
		}
		t.start, t.end = start, start+t.end
		if !t.closing { // with code in its values
			t.attrs = p.text[start+1+len(t.name) : t.end-1]
		}
		p.pos = t.end
		return t, true
	}
	p.pos = len(p.masked)
	return tag{}, false
}

// readTag reads a tag at the start of b; its offsets are relative to b.
func readTag(b []byte) (tag, bool) {
	i := 1
	t := tag{closing: len(b) > 1 && b[1] == '/'}
	if t.closing {
		i = 2
	}
	for _, name := range []string{promiseTag, "blocked", questionTag} {
		if bytes.HasPrefix(b[i:], []byte(name)) {
			t.name = name
		}
	}
	if t.name == "" {
		return tag{}, false
	}
	rest := b[i+len(t.name):]
	stop := tagEnd(rest)
	if stop < 0 || rest[stop] != '>' {
		return tag{}, false
	}
	t.attrs = string(rest[:stop])
	if t.attrs != "" && !strings.ContainsAny(t.attrs[:1], " \t\r\n") {
		return tag{}, false // <promised>
	}
	t.end = i + len(t.name) + stop + 1
	return t, true
}

// tagEnd returns the index of the first < or > outside of a quoted value, or -1. A
// quote without an end does not begin a quoted value.
func tagEnd(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '<', '>':
			return i
		case '"', '\'':
			if i == 0 || b[i-1] != '=' {
				continue
			}
			if n := bytes.IndexByte(b[i+1:], b[i]); n >= 0 {
				i += 1 + n
			}
		}
	}
	return -1
}

// isClaimPosition reports whether the element from start to end, which begins in the
// line at p.lineStart, has a valid position for a claim. It reads white space only and
// never the whole line, which may be the whole message.
func (p *parser) isClaimPosition(start, end int) bool {
	before := p.text[p.lineStart:start]
	if indentWidth(before) >= 4 {
		return false // indented code
	}
	if end == p.end {
		return true
	}
	after := strings.TrimLeft(p.text[end:], " \t\r")
	return isBlank(before) && (after == "" || after[0] == '\n')
}

func isBlank(s string) bool { return strings.TrimLeft(s, " \t\r") == "" }

// indentWidth returns the columns of white space that a line begins with. It stops
// counting at 4, where indented code begins.
func indentWidth(line string) int {
	width := 0
	for i := 0; i < len(line) && width < 4; i++ {
		switch line[i] {
		case ' ':
			width++
		case '\t':
			width += 4 - width%4
		default:
			return width
		}
	}
	return width
}
