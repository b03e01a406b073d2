package planfile

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// storyID matches the id of a story within text.
var storyID = regex.New(`\bUS-\d+[a-z]?\b`)

// story is the first id of a story in text, outside comments, or "".
func story(text string) string { return storyID.FindString(comment.ReplaceAllString(text, "")) }

// isPRD reports whether the file holds stories: a heading with a box, or a list of
// boxes that all name a story, beside sections about those or in .ralph/PRD-N.
func isPRD(name string, d *document) bool {
	if slices.ContainsFunc(d.headings, func(h heading) bool { return h.box >= 0 }) {
		return true
	}
	listed, sections := d.listedStories()
	if len(listed) == 0 {
		return false
	}
	known := prdFolder.MatchString(filepath.ToSlash(name))
	for _, it := range listed {
		id := story(it.text)
		_, ok := sections[id]
		known = known || ok
		if id == "" {
			return false
		}
	}
	return known
}

var prdFolder = regex.New(`(^|/)\.ralph/PRD-[^/]*/[^/]+$`)

// listedStories are the outermost boxes outside the sections about stories, and
// those sections by the id in their headings.
func (d *document) listedStories() ([]*item, map[string]heading) {
	sections := make(map[string]heading)
	var outside []*item
	from := 0
	for _, h := range d.headings {
		id := story(h.text)
		if _, had := sections[id]; id == "" || had || h.start < from {
			continue
		}
		sections[id] = h
		outside = append(outside, d.outermost(from, h.start)...)
		from = h.end
	}
	return append(outside, d.outermost(from, len(d.data))...), sections
}

// readPRD reads the plans of .ralph/PRD-N. A task is a story: a heading with a
// box, "### [ ] US-001: Title", whose section is its detail, the boxes there its
// criteria; only the box in the heading is its mark. Or else an item with a
// box, "- [ ] US-001: Title", its detail and criteria below it and in the
// section "### US-001 …". The id is that of the story, or what begins the
// title if it looks like an id, otherwise the position.
func readPRD(d *document) reading {
	r := reading{want: `a heading such as "### [ ] US-001: Title"`}
	d.sectioned = true
	for _, h := range d.headings {
		if h.box < 0 {
			continue
		}
		t := r.story(d, d.withSettings(h.text, region{h.start, h.body}, region{h.body, h.end}), h.box)
		inside := d.outermost(h.body, h.end)
		r.regions = append(r.regions, region{h.body, h.end})
		t.Criteria, t.Context = d.criteria(inside), d.aroundSection(h.parent)
		t.Detail = paragraphs(t.Detail, d.prose(h.body, h.end, inside))
		r.parts = append(r.parts, h.part(h.end))
		r.add(t, d.mark(h.box))
	}
	if len(r.plan.Tasks) > 0 {
		r.plan.Overview = d.overview(func(h heading) bool { return h.box >= 0 })
		return r
	}
	r.readListed(d)
	return r
}

// readListed reads stories that are items of a list.
func (r *reading) readListed(d *document) {
	listed, sections := d.listedStories()
	d.sectioned = false
	for _, it := range listed {
		told := sections[story(it.text)]
		t := r.story(d, d.withSettings(it.text, region{it.start, it.body}, region{it.body, it.end}, region{told.start, told.end}), it.box)
		t.Criteria, t.Context = d.criteria(it.children), d.aroundItem(it)
		t.Detail = paragraphs(t.Detail, d.prose(it.body, it.end, it.children))
		if h, ok := sections[t.ID]; ok {
			inside := d.outermost(h.body, h.end)
			t.Criteria = append(t.Criteria, d.criteria(inside)...)
			t.Detail = paragraphs(t.Detail, d.prose(h.body, h.end, inside))
		}
		r.parts = append(r.parts, d.part(it))
		r.add(t, d.mark(it.box))
	}
	r.plan.Overview = d.overview(func(h heading) bool {
		id := story(h.text)
		_, known := sections[id]
		return id != "" && known
	})
}

// story begins a task whose text names a story anywhere in it.
func (r *reading) story(d *document, text string, at int) plan.Task {
	id := story(text)
	if leadingID.MatchString(text) {
		id = ""
	}
	t := r.task(d, text, at, id)
	if rest, ok := strings.CutPrefix(t.Title, id); ok && id != "" {
		t.Title = cmp.Or(strings.TrimLeft(rest, " :.–—-"), id)
	}
	return t
}
