package claim

import (
	"bytes"
	"strings"
)

// parser walks over the tags of a message that are not hidden by code or
// quotes.
type parser struct {
	text string
	seen []byte // text, with what cannot hold a tag blanked out
	end  int    // of the text without its trailing white space
	pos  int
	line int // where the line of the last opening tag begins
	done int // up to here the text was searched for the beginning of a line
}

// tag is one opening or closing tag in seen.
type tag struct {
	name       string
	attrs      string
	closing    bool
	start, end int
}

// next finds the next pair that stands where a claim may. The innermost
// opening tag belongs to a closing one, so an unclosed mention hides nothing.
func (p *parser) next() (pair, bool) {
	var open *tag
	for {
		t, ok := p.tag()
		if !ok {
			return pair{}, false
		}
		switch {
		case !t.closing:
			open = &t
			if i := strings.LastIndexByte(p.text[p.done:t.start], '\n'); i >= 0 {
				p.line = p.done + i + 1
			}
			p.done = t.start
		case open == nil || open.name != t.name:
			open = nil
		default:
			if p.counts(open.start, t.end) {
				return pair{name: t.name, attrs: open.attrs, body: p.text[open.end:t.start]}, true
			}
			open = nil
		}
	}
}

// tag returns the next tag at or after pos.
func (p *parser) tag() (tag, bool) {
	for p.pos < len(p.seen) {
		i := bytes.IndexByte(p.seen[p.pos:], '<')
		if i < 0 {
			break
		}
		start := p.pos + i
		p.pos = start + 1
		t, ok := readTag(p.seen[start:min(len(p.seen), start+maxTagSize)])
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
	p.pos = len(p.seen)
	return tag{}, false
}

// readTag reads a tag at the start of b; its offsets are relative to b.
func readTag(b []byte) (tag, bool) {
	i := 1
	t := tag{closing: len(b) > 1 && b[1] == '/'}
	if t.closing {
		i = 2
	}
	for _, name := range []string{"promise", "blocked", questionTag} {
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

// tagEnd is where the first < or > stands that is not in a quoted value, -1 for nowhere. A
// quote that is not closed is none.
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

// counts tells whether a pair from start to end stands where a claim may; the
// pair begins on p.line. It looks at white space only, never at the whole line:
// a line may be the whole message.
func (p *parser) counts(start, end int) bool {
	before := p.text[p.line:start]
	if indent(before) >= 4 {
		return false // indented code
	}
	if end == p.end {
		return true
	}
	after := strings.TrimLeft(p.text[end:], " \t\r")
	return blank(before) && (after == "" || after[0] == '\n')
}

func blank(s string) bool { return strings.TrimLeft(s, " \t\r") == "" }

// indent counts the columns of white space a line begins with, up to 4 or a
// little more: what is beyond makes no difference.
func indent(line string) int {
	n := 0
	for i := 0; i < len(line) && n < 4; i++ {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}
