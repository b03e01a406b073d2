package claim

import (
	"bytes"
	"strings"
)

// hidden marks bytes that cannot be part of a tag.
const hidden = 0

// containers are elements in which agents paste what others said. They count
// only where the opening tag begins a line and a closing one follows: a word
// about <output> must not swallow the rest of a message.
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

// mask copies text with code, quotes and pasted output hidden.
func mask(text string) []byte {
	m := masker{text: text, out: []byte(text)}
	m.blocks()
	hideSpans(m.out)
	return m.out
}

type masker struct {
	text  string
	out   []byte
	fence string                // what closes the open code fence; "" outside
	spent [len(containers)]bool // no closing tag of it follows any more
}

// blocks hides fenced code, block quotes and containers, line by line.
func (m *masker) blocks() {
	for start := 0; start < len(m.text); {
		end := len(m.text)
		if i := strings.IndexByte(m.text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		line := m.text[start:end]
		switch {
		case m.fence != "":
			m.hide(start, end)
			if closes(line, m.fence) {
				m.fence = ""
			}
		case opens(line) != "":
			m.fence = opens(line)
			m.hide(start, end)
		case indent(line) < 4 && strings.HasPrefix(strings.TrimLeft(line, " "), ">"):
			m.hide(start, end)
		default:
			if past := m.container(start, line); past > 0 {
				m.hide(start, past)
				end = past
			}
		}
		start = end
	}
}

// container returns the offset behind the container that the line at start
// begins, 0 if it begins none. A kind of container that is never closed again
// is searched once, which keeps the whole linear.
func (m *masker) container(start int, line string) int {
	trimmed := strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(trimmed, "<") {
		return 0
	}
	for i, c := range containers {
		if m.spent[i] || !strings.HasPrefix(trimmed, c.open) {
			continue
		}
		if rest := trimmed[len(c.open):]; c.open != "<!--" && !strings.HasPrefix(rest, ">") && !strings.HasPrefix(rest, " ") {
			continue
		}
		end := strings.Index(m.text[start:], c.close)
		if end < 0 {
			m.spent[i] = true
			continue
		}
		return start + end + len(c.close)
	}
	return 0
}

func (m *masker) hide(start, end int) {
	for i := start; i < end; i++ {
		if m.out[i] != '\n' {
			m.out[i] = hidden
		}
	}
}

// opens returns the fence that a line opens, "" for none.
func opens(line string) string {
	if indent(line) >= 4 {
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

func closes(line, fence string) bool {
	if indent(line) >= 4 {
		return false
	}
	line = strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(line, fence[:1])
	return len(line)-len(rest) >= len(fence) && strings.TrimSpace(rest) == ""
}

// run is a run of backticks in a paragraph.
type run struct{ start, end int }

// hideSpans hides inline code. A span runs from some backticks to the next as
// many in the same paragraph (CommonMark 6.1).
func hideSpans(b []byte) {
	var runs []run
	empty := true // nothing but white space on this line so far
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '`':
			end := i + len(b[i:]) - len(bytes.TrimLeft(b[i:], "`"))
			runs = append(runs, run{i, end})
			i, empty = end-1, false
		case hidden:
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
// the emptied slice. Partners are found from the right, so that many runs
// without one cost no more than their number.
func hideParagraph(b []byte, runs []run) []run {
	if len(runs) < 2 {
		return runs[:0]
	}
	partner := make([]int, len(runs))
	next := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		n := runs[i].end - runs[i].start
		partner[i] = next[n] // 0, which is nobody's partner, where there is none
		next[n] = i
	}
	for i := 0; i < len(runs); i++ {
		if partner[i] == 0 {
			continue
		}
		for j := runs[i].start; j < runs[partner[i]].end; j++ {
			if b[j] != '\n' {
				b[j] = hidden
			}
		}
		i = partner[i]
	}
	return runs[:0]
}
