package planfile

import (
	"slices"
	"sort"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// title returns the text of the first heading if its level is 1, else "".
func (d *document) title() string {
	if len(d.headings) == 0 || d.headings[0].level != 1 {
		return ""
	}
	text := planPrefix.ReplaceAllString(comment.ReplaceAllString(d.headings[0].text, ""), "")
	return plan.OneLine(text, maxTitleChars)
}

var planPrefix = regex.New(`^(?i:plan|prd)\s*:\s*`)

// overviewText returns the text for all tasks: the text above the first section, the section
// "Overview", and each section without tasks. The text of other sections is the context of their
// tasks. skip selects headings whose sections are tasks or no text.
func (d *document) overviewText(skip func(heading) bool) string {
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
			text := d.prose(h.body, h.end, d.outermostBoxes(h.body, h.end))
			if text != "" && !overview {
				text = strings.Repeat("#", h.level) + " " + h.text + "\n\n" + text
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// hasTasks reports whether there is a task in the section of a heading.
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
	return !d.hasTaskSections && len(d.outermostBoxes(h.body, h.end)) > 0
}

// ownText returns the text of a section without its tasks and its sections. For -1, it returns the
// text above all sections.
func (d *document) ownText(section int) string {
	from, to := 0, len(d.data)
	if section >= 0 {
		from, to = d.headings[section].body, d.headings[section].end
	}
	if section+1 < len(d.headings) {
		to = min(to, d.headings[section+1].start)
	}
	return d.prose(from, to, d.outermostTaskItems(from, to))
}

// contextOfSection returns the texts of a section and of the sections around it, outermost first.
// It omits what the overview contains.
func (d *document) contextOfSection(i int) []string {
	if i < 0 || i == 0 && d.title() != "" {
		return nil
	}
	h := &d.headings[i]
	if h.context == nil {
		h.context = appendContext(d.contextOfSection(h.parent), d.ownText(i))
	}
	return h.context
}

// contextOfItem returns the texts of the items and sections around an item, outermost first.
func (d *document) contextOfItem(it *item) []string {
	up := it.parent
	if up == nil {
		return d.contextOfSection(d.section(it.start))
	}
	if up.context == nil {
		up.context = appendContext(d.contextOfItem(up), d.prose(up.body, up.end, d.outermostTaskItems(up.body, up.end)))
	}
	return up.context
}

// maxContextBytes limits the text of one section in the context of its tasks, in bytes.
const maxContextBytes = 4 << 10

// appendContext returns a context with another text. It never returns nil, since nil means that the
// context was not computed yet.
func appendContext(around []string, text string) []string {
	if around == nil {
		around = []string{}
	}
	text = thematicBreak.ReplaceAllString(comment.ReplaceAllString(text, ""), "")
	if text = plan.Excerpt(text, maxContextBytes, maxContextBytes); text == "" {
		return around
	}
	return append(slices.Clip(around), text)
}

// thematicBreak matches a line that only separates sections.
var thematicBreak = regex.New(`(?m)^(?:-{3,}|\*{3,}|_{3,})[ \t]*$`)

// outermostBoxes returns the outermost items with a box between two offsets.
func (d *document) outermostBoxes(from, to int) []*item {
	return d.outermostItems(from, to, func(it *item) bool { return it.box >= 0 })
}

// outermostTaskItems returns the outermost items between two offsets that are or contain tasks.
func (d *document) outermostTaskItems(from, to int) []*item {
	return d.outermostItems(from, to, func(it *item) bool { return it.box >= 0 || it.group })
}

// outermostItems returns the chosen items between two offsets that are not in another chosen item.
func (d *document) outermostItems(from, to int, chosen func(*item) bool) []*item {
	var out []*item
	covered := from
	for _, it := range d.itemsIn(from, to) {
		if it.start >= covered && chosen(it) {
			out = append(out, it)
			covered = it.end
		}
	}
	return out
}

// itemsIn returns the items that begin between two offsets.
func (d *document) itemsIn(from, to int) []*item {
	first := func(at int) int {
		return sort.Search(len(d.items), func(i int) bool { return d.items[i].start >= at })
	}
	return d.items[first(from):first(max(from, to))]
}
