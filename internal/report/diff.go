package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// DiffLine is one line of a diff. Kind is add, del, at, file (a header line) or "".
type DiffLine struct {
	Kind, Text string
	File       string // file of the line, relative to the root
	Number     int    // line number in the new file, or in the old one for a removed line; 0 = not a line of the file
}

// DiffLines returns the lines of a unified diff for display, at most so many.
func DiffLines(diff string, most int) []DiffLine {
	var out []DiffLine
	var h hunk
	for line := range strings.Lines(diff) {
		if len(out) == most {
			return append(out, DiffLine{Text: fmt.Sprintf("… and %d more lines", strings.Count(diff, "\n")-most)})
		}
		out = append(out, h.line(strings.TrimRight(line, "\r\n")))
	}
	return out
}

// asCode returns a line of code for display, with its spaces but without control characters.
func asCode(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			return -1
		}
		return r
	}, strings.ReplaceAll(plan.Visible(line), "\t", "    "))
}

// hunk is the position of a line in a diff.
type hunk struct {
	file             string
	old, now         int // number of the next line in each file
	oldLeft, nowLeft int // remaining lines of the hunk in each file
}

// line reads the next line.
func (h *hunk) line(text string) DiffLine {
	out := DiffLine{Text: asCode(text), File: h.file}
	first := byte(' ')
	if text != "" {
		first = text[0]
	}
	switch inside := h.oldLeft > 0 || h.nowLeft > 0; {
	case inside && first == '+':
		out.Kind, out.Number = "add", h.now
		h.now, h.nowLeft = h.now+1, h.nowLeft-1
	case inside && first == '-':
		out.Kind, out.Number = "del", h.old
		h.old, h.oldLeft = h.old+1, h.oldLeft-1
	case inside && first == ' ':
		out.Number = h.now
		h.old, h.oldLeft, h.now, h.nowLeft = h.old+1, h.oldLeft-1, h.now+1, h.nowLeft-1
	case strings.HasPrefix(text, "@@ -"):
		out.Kind = "at"
		h.startHunk(text)
	case first == '\\': // no newline at the end of the file
	default:
		h.readFileName(text)
		out.Kind, out.File = "file", h.file
	}
	return out
}

// startHunk reads the header of a hunk, such as "@@ -3,2 +3,4 @@".
func (h *hunk) startHunk(head string) {
	fields := strings.Fields(head)
	if len(fields) < 3 {
		return
	}
	h.old, h.oldLeft = position(fields[1])
	h.now, h.nowLeft = position(fields[2])
}

// position reads "-3,2": the first line and the number of lines, which is 1 if missing.
func position(text string) (first, count int) {
	from, size, sized := strings.Cut(text[1:], ",")
	first, _ = strconv.Atoi(from) // git writes a number, anything else counts as line 0
	if !sized {
		return first, 1
	}
	count, _ = strconv.Atoi(size)
	return first, count
}

// readFileName reads the file's name from the lines before its hunks.
func (h *hunk) readFileName(text string) {
	for _, side := range []string{"--- ", "+++ "} {
		name, ok := strings.CutPrefix(text, side)
		if !ok || name == "/dev/null" {
			continue
		}
		name = strings.TrimRight(name, "\t")
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		if _, path, ok := strings.Cut(name, "/"); ok {
			h.file = path
		}
	}
}
