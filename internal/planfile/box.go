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

// boxed matches a text that begins with a box: brackets around at most one
// character, and the star with which Kiro marks a task as optional. Every such
// box is a task, whatever its mark: one that was passed over would make the plan
// look done. "[x](…)", "[x][…]" and "[x]:" are links.
var boxed = regex.New(`^\[([ \t]*(?:[^\s\[\]]\p{M}*)?[ \t]*)\](\*?)(?:[ \t]+(\S.*)|([^\s(\[:].*))$`)

// numbered matches a heading such as "[1] Set-up", whose brackets are not a box.
var numbered = regex.New(`^\[[0-9A-WYZa-wyz]\]`)

// split takes a box off the beginning of text, which stands at an offset.
func (d *document) split(text string, at int) (rest string, box int) {
	m := boxed.FindStringSubmatch(text)
	at += d.indent(at)
	if m == nil || !bytes.HasPrefix(d.data[at:], []byte(text[:len(m[1])+2])) {
		return text, -1
	}
	return m[3] + m[4], at + 1
}

// mark reads the box at an offset. Only an x is done; a mark that is neither
// that, nor a blank, nor one that the format has for work that is begun or
// waits, is open and odd.
func (d *document) mark(at int) mark {
	m := mark{at: at, end: at + bytes.IndexByte(d.data[at:], ']'), open: " ", done: cmp.Or(d.dialect.done, "x")}
	sign := strings.TrimSpace(string(d.data[m.at:m.end]))
	m.set = sign == "x" || sign == "X"
	m.optional = m.end+1 < len(d.data) && d.data[m.end+1] == '*'
	if !m.set && sign != "" && !strings.Contains("/"+d.dialect.begun, sign) {
		m.odd = string(d.data[m.at-1 : m.end+1])
	}
	return m
}

// findBoxes collects the boxes of headings and items.
func (d *document) findBoxes() {
	add := func(box int) {
		if box >= 0 {
			d.boxes = append(d.boxes, d.mark(box))
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

// opened is data of this file between two offsets with all its boxes open, those
// of headings too.
func (d *document) opened(data []byte, from, to int) []byte {
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

// Odd names the tasks whose mark is neither an x, nor a blank, nor one that the
// format knows: they are taken as open. It names what looks like a task and is
// none here, too. It is for people to look at, and nothing that is wrong.
func (f *File) Odd() []plan.Problem {
	found := slices.Clone(f.notes)
	for i, t := range f.plan.Tasks {
		for _, m := range f.marks[i] {
			if m.odd != "" {
				found = append(found, plan.Problem{
					ID: t.ID, Line: f.lineOf(i, m),
					Message: fmt.Sprintf("task %s is marked %s, which is taken as open", plan.OneLine(t.ID, 20), plan.OneLine(m.odd, 20)),
					Want:    cmp.Or(f.wantMark, `"[ ]" for open, "[x]" for done`),
				})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b plan.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return found
}

// lineOf is the line of a mark of a task, in its own file.
func (f *File) lineOf(task int, m mark) int {
	if folderFiles(f.data) != nil {
		return f.plan.Tasks[task].Line
	}
	return newLines(f.data).of(m.at)
}

// boxLine matches a line that looks like a task, wherever it stands.
var boxLine = regex.New(`^[ \t>|]*(?:[-*+]|\d+[.)])?[ \t]*\[[ xX]?\]\*?[ \t]+\S`)

// unspaced matches a line whose box follows the sign of the list at once.
var unspaced = regex.New(`^[ \t>]*(?:[-*+]|\d+[.)])\[[ xX]?\]`)

// emptyBox matches an item that is a box and nothing else, otherBox one that begins with
// a sign in place of a box.
var (
	emptyBox = regex.New(`^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\[[ \txX]?\]\*?[ \t]*\r?\n?$`)
	otherBox = regex.New(`^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+([☐☑☒⬜✅])`)
)

// notTasks names the lines that look like a task, though nothing is worked on for
// their sake: in code, outside of a list, or outside of the sections that are the
// tasks of this format. What is commented out is meant to be.
func (r *reading) notTasks(d *document) {
	known := make(map[int]bool)
	for _, h := range d.headings {
		known[d.lines.of(h.start)] = true
	}
	next, end := 0, 0
	for _, it := range d.items {
		for ; next < len(r.regions) && r.regions[next].from <= it.start; next++ {
			end = max(end, r.regions[next].to)
		}
		if it.box < 0 {
			continue
		}
		line := d.lines.of(it.box)
		if known[line] = true; len(r.regions) > 0 && it.start >= end {
			r.note(line, "this box belongs to no task of the plan: it is not worked on", r.want)
		}
	}
	n := 0
	text := comment.ReplaceAllFunc(d.data, func(c []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(c, []byte("\n"))) })
	for line := range bytes.Lines(text) {
		if n++; known[n] {
			continue
		}
		switch sign := otherBox.FindSubmatch(line); {
		case unspaced.Match(line):
			r.note(n, "this line looks like a task but is not one: it has no space before the box", `"- [ ] task"`)
		case boxLine.Match(line):
			r.note(n, "this line looks like a task but is not one: it is in code or in no list", `"- [ ] task" in a list`)
		case emptyBox.Match(line):
			r.note(n, "this box has no text, so it is not a task", `"- [ ] task"`)
		case sign != nil:
			r.note(n, string(sign[1])+" is no box of a task: this line is none", `"- [ ] task"`)
		}
	}
}

func (r *reading) note(line int, message, want string) {
	r.notes = append(r.notes, plan.Problem{Line: line, Message: message, Want: want})
}
