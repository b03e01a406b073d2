package planfile

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// boxed matches a text that begins with a box: brackets around at most one
// character, and the star with which Kiro marks a task as optional. Every such
// box is a task, whatever its mark: one that was passed over would make the plan
// look done. "[x](…)", "[x][…]" and "[x]:" are links.
var boxed = regexp.MustCompile(`^\[([ \t]*(?:[^\s\[\]]\p{M}*)?[ \t]*)\](\*?)(?:[ \t]+(\S.*)|([^\s(\[:].*))$`)

// numbered matches a heading such as "[1] Set-up", whose brackets are no box.
var numbered = regexp.MustCompile(`^\[[0-9A-WYZa-wyz]\]`)

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
// that, nor a blank, nor "/" (in work), is open and odd.
func (d *document) mark(at int) mark {
	m := mark{at: at, end: at + bytes.IndexByte(d.data[at:], ']'), open: " ", done: "x"}
	sign := strings.TrimSpace(string(d.data[m.at:m.end]))
	m.set = sign == "x" || sign == "X"
	optional := m.end+1 < len(d.data) && d.data[m.end+1] == '*'
	if optional && !m.set || !m.set && sign != "" && sign != "/" {
		m.odd = string(d.data[m.at-1 : m.end+1])
		if optional {
			m.odd += "*"
		}
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

// Odd names the tasks whose mark is neither an x, nor a blank, nor "/": they are
// taken as open. It is for people to look at, and nothing that is wrong.
func (f *File) Odd() []plan.Problem {
	var found []plan.Problem
	for i, t := range f.plan.Tasks {
		for _, m := range f.marks[i] {
			if m.odd != "" {
				found = append(found, plan.Problem{
					ID: t.ID, Line: newLines(f.data).of(m.at),
					Message: fmt.Sprintf("task %s is marked %s, which is taken as open", plan.OneLine(t.ID, 20), plan.OneLine(m.odd, 20)),
					Want:    `"[ ]" for open, "[x]" for done`,
				})
			}
		}
	}
	return found
}
