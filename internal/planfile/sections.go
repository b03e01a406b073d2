package planfile

import (
	"slices"
	"sort"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// title is the text of the first heading of level 1, if it comes first.
func (d *document) title() string {
	if len(d.headings) == 0 || d.headings[0].level != 1 {
		return ""
	}
	text := planPrefix.ReplaceAllString(comment.ReplaceAllString(d.headings[0].text, ""), "")
	return plan.OneLine(text, titleMax)
}

var planPrefix = regex.New(`^(?i:plan|prd)\s*:\s*`)

// overview is what the file says of all tasks: the text above the first section,
// the section of that name, and each section in which no task stands. The text of
// the others is told with their tasks. Sections whose heading is skipped are tasks
// themselves, or no text.
func (d *document) overview(skip func(heading) bool) string {
	parts := []string{d.ownText(-1)}
	from := 0
	for i, h := range d.headings {
		overview := strings.EqualFold(h.text, "overview")
		switch {
		case h.start < from:
			continue
		case skip(h):
			from = h.end
		case i == 0 && d.title() != "":
			parts = append(parts, d.ownText(0))
		case overview || !d.hasTasks(i, skip):
			from = h.end
			text := d.prose(h.body, h.end, d.outermost(h.body, h.end))
			if text != "" && !overview {
				text = strings.Repeat("#", h.level) + " " + h.text + "\n\n" + text
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// hasTasks reports whether a task stands in the section of a heading.
func (d *document) hasTasks(i int, skip func(heading) bool) bool {
	h := d.headings[i]
	for _, below := range d.headings[i+1:] {
		if below.start >= h.end {
			break
		}
		if skip(below) || below.box >= 0 {
			return true
		}
	}
	return !d.sectioned && len(d.outermost(h.body, h.end)) > 0
}

// ownText is the text of a section without its tasks and the sections in it; that
// above all sections for -1.
func (d *document) ownText(section int) string {
	from, to := 0, len(d.data)
	if section >= 0 {
		from, to = d.headings[section].body, d.headings[section].end
	}
	if section+1 < len(d.headings) {
		to = min(to, d.headings[section+1].start)
	}
	return d.prose(from, to, d.holders(from, to))
}

// aroundSection is the text of a section and of those that it is part of, from the
// outermost. What all tasks share stands in the overview.
func (d *document) aroundSection(i int) []string {
	if i < 0 || i == 0 && d.title() != "" {
		return nil
	}
	h := &d.headings[i]
	if h.around == nil {
		h.around = withText(d.aroundSection(h.parent), d.ownText(i))
	}
	return h.around
}

// aroundItem is the text of the items and sections that an item is part of.
func (d *document) aroundItem(it *item) []string {
	up := it.parent
	if up == nil {
		return d.aroundSection(d.section(it.start))
	}
	if up.around == nil {
		up.around = withText(d.aroundItem(up), d.prose(up.body, up.end, d.holders(up.body, up.end)))
	}
	return up.around
}

// aroundMax bounds what one section tells with each of its tasks, in bytes.
const aroundMax = 4 << 10

// withText adds a text to those around it. It is never nil, so that it is made once.
func withText(around []string, text string) []string {
	if around == nil {
		around = []string{}
	}
	text = ruler.ReplaceAllString(comment.ReplaceAllString(text, ""), "")
	if text = plan.Excerpt(text, aroundMax, aroundMax); text == "" {
		return around
	}
	return append(slices.Clip(around), text)
}

// ruler matches a line that only parts sections.
var ruler = regex.New(`(?m)^(?:-{3,}|\*{3,}|_{3,})[ \t]*$`)

// outermost are the outermost items with a box between two offsets.
func (d *document) outermost(from, to int) []*item {
	return d.outer(from, to, func(it *item) bool { return it.box >= 0 })
}

// holders are the outermost items between two offsets that are tasks or hold some.
func (d *document) holders(from, to int) []*item {
	return d.outer(from, to, func(it *item) bool { return it.box >= 0 || it.group })
}

// outer are the items between two offsets that are chosen, and in no other such.
func (d *document) outer(from, to int, chosen func(*item) bool) []*item {
	var out []*item
	covered := from
	for _, it := range d.items[d.firstItem(from):] {
		if it.start >= to {
			break
		}
		if it.start >= covered && chosen(it) {
			out = append(out, it)
			covered = it.end
		}
	}
	return out
}

// firstItem is the index of the first item that starts at an offset or after it.
func (d *document) firstItem(at int) int {
	return sort.Search(len(d.items), func(i int) bool { return d.items[i].start >= at })
}
