package planfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// boxText matches a text that begins with a box: brackets around at most one character, perhaps
// with the star by which Kiro marks optional tasks. Every such box is a task, whatever its mark: if
// one were ignored, the plan could look done. "[x](…)", "[x][…]" and "[x]:" are links.
var boxText = regex.New(`^\[([ \t]*(?:[^\s\[\]]\p{M}*)?[ \t]*)\](\*?)(?:[ \t]+(\S.*)|([^\s(\[:].*))$`)

// bracketedNumber matches a heading such as "[1] Set-up", whose brackets are not a box.
var bracketedNumber = regex.New(`^\[[0-9A-WYZa-wyz]\]`)

// splitBox removes a box from the beginning of text, which starts at an offset. It returns the rest
// and the offset after the bracket, -1 without a box.
func (d *document) splitBox(text string, at int) (rest string, box int) {
	m := boxText.FindStringSubmatch(text)
	at += d.indent(at)
	if m == nil || !bytes.HasPrefix(d.data[at:], []byte(text[:len(m[1])+2])) {
		return text, -1
	}
	return m[3] + m[4], at + 1
}

// readMark reads the box at an offset. Only an x means done. A blank, a slash and the dialect's
// marks for work in progress mean open. Any other mark is open and unknown.
func (d *document) readMark(at int) mark {
	m := mark{at: at, end: at + bytes.IndexByte(d.data[at:], ']'), open: " ", done: cmp.Or(d.dialect.doneMark, "x")}
	sign := strings.TrimSpace(string(d.data[m.at:m.end]))
	m.set = sign == "x" || sign == "X"
	m.optional = m.end+1 < len(d.data) && d.data[m.end+1] == '*'
	if !m.set && sign != "" && !strings.Contains("/"+d.dialect.inProgress, sign) {
		m.unknown = string(d.data[m.at-1 : m.end+1])
	}
	return m
}

// findBoxes collects the boxes of headings and items.
func (d *document) findBoxes() {
	add := func(box int) {
		if box >= 0 {
			d.boxes = append(d.boxes, d.readMark(box))
		}
	}
	for _, it := range d.items {
		add(it.box)
	}
	for _, h := range d.headings {
		add(h.box)
	}
	slices.SortFunc(d.boxes, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
}

// withOpenBoxes returns the data of this file between two offsets, with all boxes open.
func (d *document) withOpenBoxes(data []byte, from, to int) []byte {
	var out bytes.Buffer
	first := sort.Search(len(d.boxes), func(i int) bool { return d.boxes[i].at >= from })
	for _, m := range d.boxes[first:] {
		if m.end > to {
			break
		}
		out.Write(data[from:m.at])
		out.WriteString(m.open)
		from = m.end
	}
	out.Write(data[from:to])
	return out.Bytes()
}

// Warnings returns what the user may want to check in a valid plan: marks that are not known and
// are read as open, and lines that look like tasks or comments for Pawl but are not read.
func (f *File) Warnings() []plan.Problem {
	found := slices.Clone(f.warnings)
	for i, t := range f.plan.Tasks {
		for _, m := range f.marks[i] {
			if m.unknown != "" {
				found = append(found, plan.Problem{
					ID: t.ID, Line: f.lineOfMark(i, m),
					Message: fmt.Sprintf("task %s is marked %s, so it counts as open", plan.OneLine(t.ID, 20), plan.OneLine(m.unknown, 20)),
					Want:    cmp.Or(f.wantMarks, `"[ ]" for open, "[x]" for done`),
				})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b plan.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return found
}

// lineOfMark returns the line of a task's mark in the task's file.
func (f *File) lineOfMark(task int, m mark) int {
	if folderFiles(f.data) != nil {
		return f.plan.Tasks[task].Line
	}
	return newLines(f.data).lineAt(m.at)
}

// boxLine matches a line that looks like a task, in a list or not.
var boxLine = regex.New(`^[ \t>|]*(?:[-*+]|\d+[.)])?[ \t]*\[[ xX]?\]\*?[ \t]+\S`)

// boxWithoutSpace matches a line with no space between the list marker and the box.
var boxWithoutSpace = regex.New(`^[ \t>]*(?:[-*+]|\d+[.)])\[[ xX]?\]`)

// emptyBox matches an item that is only a box. symbolBox matches one with a symbol instead of a
// box.
var (
	emptyBox  = regex.New(`^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\[[ \txX]?\]\*?[ \t]*\r?\n?$`)
	symbolBox = regex.New(`^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+([☐☑☒⬜✅])`)
)

// warnOfIgnoredBoxes warns of lines that look like tasks but are not read: in code, outside of
// lists, or outside of this format's task sections. HTML comments are ignored on purpose.
func (r *parseResult) warnOfIgnoredBoxes(d *document) {
	known := make(map[int]bool)
	for _, h := range d.headings {
		known[d.lines.lineAt(h.start)] = true
	}
	next, end := 0, 0
	for _, it := range d.items {
		for ; next < len(r.taskRegions) && r.taskRegions[next].from <= it.start; next++ {
			end = max(end, r.taskRegions[next].to)
		}
		if it.box < 0 {
			continue
		}
		line := d.lines.lineAt(it.box)
		if known[line] = true; len(r.taskRegions) > 0 && it.start >= end {
			r.warn(line, "this box belongs to no task of the plan, so it is ignored", r.want)
		}
	}
	n := 0
	text := comment.ReplaceAllFunc(d.data, func(c []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(c, []byte("\n"))) })
	for line := range bytes.Lines(text) {
		if n++; known[n] {
			continue
		}
		switch sign := symbolBox.FindSubmatch(line); {
		case boxWithoutSpace.Match(line):
			r.warn(n, "this line looks like a task but has no space before the box", `"- [ ] task"`)
		case boxLine.Match(line):
			r.warn(n, "this line looks like a task but is not in a list, or is in code", `"- [ ] task" in a list`)
		case emptyBox.Match(line):
			r.warn(n, "this box has no text, so it is not a task", `"- [ ] task"`)
		case sign != nil:
			r.warn(n, string(sign[1])+" is not a task's box, so this line is not a task", `"- [ ] task"`)
		}
	}
}

func (r *parseResult) warn(line int, message, want string) {
	r.warnings = append(r.warnings, plan.Problem{Line: line, Message: message, Want: want})
}
