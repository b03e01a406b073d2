package planfile

import (
	"regexp"
	"sort"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// title is the text of the first heading of level 1, if it comes first.
func (d *document) title() string {
	if len(d.headings) == 0 || d.headings[0].level != 1 {
		return ""
	}
	text := planPrefix.ReplaceAllString(comment.ReplaceAllString(d.headings[0].text, ""), "")
	return plan.OneLine(text, titleMax)
}

var planPrefix = regexp.MustCompile(`^(?i:plan|prd)\s*:\s*`)

// overview is the prose of the section of that name, or else what stands above
// the first section and the first box.
func (d *document) overview() string {
	for _, h := range d.headings {
		if strings.EqualFold(h.text, "overview") {
			return d.prose(h.body, h.end, d.outermost(h.body, h.end))
		}
	}
	from, to := 0, len(d.data)
	rest := d.headings
	if d.title() != "" {
		from, rest = rest[0].body, rest[1:]
	}
	if len(rest) > 0 {
		to = rest[0].start
	}
	for _, it := range d.items {
		if it.box >= 0 || it.group {
			to = min(to, it.start)
			break
		}
	}
	return d.prose(from, max(from, to), nil)
}

// outermost are the outermost items with a box between two offsets.
func (d *document) outermost(from, to int) []*item {
	var out []*item
	covered := from
	for _, it := range d.items[d.firstItem(from):] {
		if it.start >= to {
			break
		}
		if it.box >= 0 && it.start >= covered {
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
