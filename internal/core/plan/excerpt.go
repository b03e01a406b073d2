package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt makes the output of a command fit for a prompt: its beginning, where a
// compiler says what is wrong, and its end, where a test runner sums up, in at
// most so many lines (3 or more) and bytes (200 or more). What was left out in
// between is counted on a line of its own, and lines that are very long lose
// their middle. As with OneLine, nothing stays that a terminal would act on, nor
// of a line what a carriage return overwrote; blank lines around it go.
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

// plainLines are the lines of a text, clean and none longer than limit bytes,
// without the blank ones around them.
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

// plainLine is a line without what only a terminal understands, nor white space
// at its end; the middle of a long one is cut out.
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
