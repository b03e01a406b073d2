package planfile

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// storyID matches the id of a story in text.
var storyID = regex.New(`\bUS-\d+[a-z]?\b`)

// storyIDIn returns the first id of a story in text outside comments, or "".
func storyIDIn(text string) string { return storyID.FindString(comment.ReplaceAllString(text, "")) }

// isPRD reports whether the file holds stories: headings with boxes, or a list of boxes that all
// name a story. The list needs sections about the stories, or must be in .ralph/PRD-N.
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
		id := storyIDIn(it.text)
		_, ok := sections[id]
		known = known || ok
		if id == "" {
			return false
		}
	}
	return known
}

var prdFolder = regex.New(`(^|/)\.ralph/PRD-[^/]*/[^/]+$`)

// listedStories returns the outermost boxes outside the sections about stories, and those sections
// by the id in their headings.
func (d *document) listedStories() ([]*item, map[string]heading) {
	sections := make(map[string]heading)
	var outside []*item
	from := 0
	for _, h := range d.headings {
		id := storyIDIn(h.text)
		if _, had := sections[id]; id == "" || had || h.start < from {
			continue
		}
		sections[id] = h
		outside = append(outside, d.outermostBoxes(from, h.start)...)
		from = h.end
	}
	return append(outside, d.outermostBoxes(from, len(d.data))...), sections
}

// readPRD reads the plans of .ralph/PRD-N. A task is a story, in one of two forms. The first is a
// heading with a box, "### [ ] US-001: Title": its section holds the detail and the criteria, and
// only the box in the heading is the mark. The second is an item with a box, "- [ ] US-001: Title":
// the detail and criteria are below it and in a section "### US-001 …". The id is the story's, else
// one that begins the title, else the position.
func readPRD(d *document) parseResult {
	r := parseResult{want: `a heading such as "### [ ] US-001: Title"`}
	d.hasTaskSections = true
	for _, h := range d.headings {
		if h.box < 0 {
			continue
		}
		t := r.newStory(d, d.withSettings(h.text, region{h.start, h.body}, region{h.body, h.end}), h.box)
		r.appendSection(d, h, t, d.readMark(h.box))
	}
	if len(r.plan.Tasks) > 0 {
		r.plan.Overview = d.overviewText(func(h heading) bool { return h.box >= 0 })
		return r
	}
	r.readListed(d)
	return r
}

// readListed reads stories that are items of a list.
func (r *parseResult) readListed(d *document) {
	listed, sections := d.listedStories()
	d.hasTaskSections = false
	for _, it := range listed {
		told := sections[storyIDIn(it.text)]
		t := r.newStory(d, d.withSettings(it.text, region{it.start, it.body}, region{it.body, it.end}, region{told.start, told.end}), it.box)
		t.Criteria, t.Context = d.criteriaTexts(it.children), d.contextOfItem(it)
		t.Detail = paragraphs(t.Detail, d.prose(it.body, it.end, it.children))
		if h, ok := sections[t.ID]; ok {
			inside := d.outermostBoxes(h.body, h.end)
			t.Criteria = append(t.Criteria, d.criteriaTexts(inside)...)
			t.Detail = paragraphs(t.Detail, d.prose(h.body, h.end, inside))
		}
		r.locations = append(r.locations, d.itemLocation(it))
		r.appendTask(t, d.readMark(it.box))
	}
	r.plan.Overview = d.overviewText(func(h heading) bool {
		id := storyIDIn(h.text)
		_, known := sections[id]
		return id != "" && known
	})
}

// newStory returns a task with the id of the story that its text names.
func (r *parseResult) newStory(d *document, text string, at int) plan.Task {
	id := storyIDIn(text)
	if leadingID.MatchString(text) {
		id = ""
	}
	t := r.newTask(d, text, at, id)
	if rest, ok := strings.CutPrefix(t.Title, id); ok && id != "" {
		t.Title = cmp.Or(strings.TrimLeft(rest, " :.–—-"), id)
	}
	return t
}
