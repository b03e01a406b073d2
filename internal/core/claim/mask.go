package claim

import (
	"bytes"
	"strings"
)

// hiddenByte replaces bytes that cannot be part of a tag.
const hiddenByte = 0

// containers are elements in which agents paste the text of others. One begins only
// at the start of a line and only if it is closed, so that mentioning <output> does
// not hide the rest of a message.
var containers = [...]struct{ open, close string }{
	{"<!--", "-->"},
	{"<pre", "</pre>"},
	{"<code", "</code>"},
	{"<blockquote", "</blockquote>"},
	{"<tool_result", "</tool_result>"},
	{"<tool_use_result", "</tool_use_result>"},
	{"<function_results", "</function_results>"},
	{"<system-reminder", "</system-reminder>"},
	{"<local-command-stdout", "</local-command-stdout>"},
	{"<bash-stdout", "</bash-stdout>"},
	{"<bash-stderr", "</bash-stderr>"},
	{"<stdout", "</stdout>"},
	{"<stderr", "</stderr>"},
	{"<output", "</output>"},
}

// mask returns a copy of text with code, quotes and pasted output hidden.
func mask(text string) []byte {
	m := masker{text: text, out: []byte(text)}
	m.hideBlocks()
	hideSpans(m.out)
	return m.out
}

type masker struct {
	text        string
	out         []byte
	fence       string                // the text that closes the open code fence; "" outside of one
	neverClosed [len(containers)]bool // by container: no closing tag follows
}

// hideBlocks hides fenced code, block quotes and containers, line by line.
func (m *masker) hideBlocks() {
	for start := 0; start < len(m.text); {
		end := len(m.text)
		if i := strings.IndexByte(m.text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		line := m.text[start:end]
		switch {
		case m.fence != "":
			m.hide(start, end)
			if ClosesFence(line, m.fence) {
				m.fence = ""
			}
		case OpeningFence(line) != "":
			m.fence = OpeningFence(line)
			m.hide(start, end)
		case indentWidth(line) < 4 && strings.HasPrefix(strings.TrimLeft(line, " "), ">"):
			m.hide(start, end)
		default:
			if containerEnd := m.containerEnd(start, line); containerEnd > 0 {
				m.hide(start, containerEnd)
				end = containerEnd
			}
		}
		start = end
	}
}

// containerEnd returns the offset after the container that begins in the line at
// start, or 0 if none begins there. A container without a further closing tag is
// searched once only, so that masking takes linear time.
func (m *masker) containerEnd(start int, line string) int {
	trimmed := strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(trimmed, "<") {
		return 0
	}
	for i, c := range containers {
		if m.neverClosed[i] || !strings.HasPrefix(trimmed, c.open) {
			continue
		}
		if rest := trimmed[len(c.open):]; c.open != "<!--" && !strings.HasPrefix(rest, ">") && !strings.HasPrefix(rest, " ") {
			continue
		}
		end := strings.Index(m.text[start:], c.close)
		if end < 0 {
			m.neverClosed[i] = true
			continue
		}
		return start + end + len(c.close)
	}
	return 0
}

func (m *masker) hide(start, end int) {
	for i := start; i < end; i++ {
		if m.out[i] != '\n' {
			m.out[i] = hiddenByte
		}
	}
}

// OpeningFence returns the code fence that a line of Markdown opens, or "".
func OpeningFence(line string) string {
	if indentWidth(line) >= 4 {
		return ""
	}
	line = strings.TrimLeft(line, " ")
	for _, char := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, char)
		n := len(line) - len(rest)
		if n >= 3 && !(char == "`" && strings.Contains(rest, "`")) {
			return line[:n]
		}
	}
	return ""
}

// ClosesFence reports whether a line closes the code that a fence opened.
func ClosesFence(line, fence string) bool {
	if indentWidth(line) >= 4 {
		return false
	}
	line = strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(line, fence[:1])
	return len(line)-len(rest) >= len(fence) && strings.TrimSpace(rest) == ""
}

// backtickRun is a run of backticks in a paragraph.
type backtickRun struct{ start, end int }

// hideSpans hides inline code. A span begins with a run of backticks and ends with
// the next run of the same length in the same paragraph (CommonMark 6.1).
func hideSpans(b []byte) {
	var runs []backtickRun
	empty := true // nothing but white space on this line so far
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '`':
			end := i + len(b[i:]) - len(bytes.TrimLeft(b[i:], "`"))
			runs = append(runs, backtickRun{i, end})
			i, empty = end-1, false
		case hiddenByte:
			runs = hideParagraph(b, runs)
			empty = false
		case '\n':
			if empty {
				runs = hideParagraph(b, runs)
			}
			empty = true
		case ' ', '\t', '\r':
		default:
			empty = false
		}
	}
	hideParagraph(b, runs)
}

// hideParagraph hides the spans between the runs of one paragraph and returns
// the emptied slice. It pairs runs from the right, so that many runs without a
// partner take linear time.
func hideParagraph(b []byte, runs []backtickRun) []backtickRun {
	if len(runs) < 2 {
		return runs[:0]
	}
	partner := make([]int, len(runs))
	nextOfLength := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		n := runs[i].end - runs[i].start
		partner[i] = nextOfLength[n] // 0 if there is none: run 0 is never a partner
		nextOfLength[n] = i
	}
	for i := 0; i < len(runs); i++ {
		if partner[i] == 0 {
			continue
		}
		for j := runs[i].start; j < runs[partner[i]].end; j++ {
			if b[j] != '\n' {
				b[j] = hiddenByte
			}
		}
		i = partner[i]
	}
	return runs[:0]
}
