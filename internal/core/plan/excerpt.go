package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt shortens the output of a command for a prompt, to at most so many lines (3 or more) and bytes
// (200 or more). It keeps the beginning, which has the errors of a compiler, and the end, which has the
// summary of a test runner. A line between them counts the omitted lines. It omits the middle of very
// long lines, control sequences of terminals, text that a carriage return overwrote, and blank lines
// at both ends.
func Excerpt(text string, lines, size int) string {
	all := plainLines(text, size/8)
	total := 0
	for _, line := range all {
		total += len(line) + 1
	}
	if len(all) <= lines && total-1 <= size {
		return strings.Join(all, "\n")
	}
	const mark = "[… %d lines left out …]"
	room := size - len(mark) - 10 // digits
	front, used := 0, 0
	for front < (lines-1)/3 && used+len(all[front])+1 <= room/3 {
		used += len(all[front]) + 1
		front++
	}
	back := len(all)
	for back > front && len(all)-back < lines-1-front && used+len(all[back-1])+1 <= room {
		back--
		used += len(all[back]) + 1
	}
	left := []string{fmt.Sprintf(mark, back-front)}
	return strings.Join(slices.Concat(all[:front], left, all[back:]), "\n")
}

// plainLines returns the clean lines of a text, each at most limit bytes long, without blank lines at
// both ends.
func plainLines(text string, limit int) []string {
	var out []string
	last := 0 // behind the last line that is not blank
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		line = plainLine(line[strings.LastIndexByte(line, '\r')+1:], limit)
		if line == "" && len(out) == 0 {
			continue
		}
		if out = append(out, line); line != "" {
			last = len(out)
		}
	}
	return out[:last]
}

// plainLine returns a line without control sequences and trailing white space. It omits the middle of
// a long line.
func plainLine(line string, limit int) string {
	var b strings.Builder
	for line != "" {
		if skip := escapeLen(line); skip > 0 {
			line = line[skip:]
			continue
		}
		r, size := utf8.DecodeRuneInString(line)
		line = line[size:]
		bad := r == utf8.RuneError && size == 1 || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
		if r == '\t' || !bad {
			b.WriteRune(r)
		}
	}
	line = strings.TrimRightFunc(b.String(), unicode.IsSpace)
	if len(line) <= limit {
		return line
	}
	front := (limit - len("…")) * 2 / 3
	back := len(line) - (limit - len("…") - front)
	for !utf8.RuneStart(line[front]) {
		front--
	}
	for back < len(line) && !utf8.RuneStart(line[back]) {
		back++
	}
	return line[:front] + "…" + line[back:]
}
