package planfile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// readMarkdown reads a plan in the first of the formats that it has the signs of.
func readMarkdown(name string, data []byte) reading {
	var r reading
	if line := tooDeep(data); line > 0 {
		r.problem("", line, "lists are nested too deep", fmt.Sprintf("at most %d characters before the text of a line", maxIndent))
		return r
	}
	d := outline(data)
	for _, c := range codecs() {
		if c.read != nil && c.is(filepath.ToSlash(name), d) {
			d.dialect = c.dialect
			r = c.read(d)
			r.plan.Format = c.Name
			break
		}
	}
	r.plan.Title = d.title()
	r.text = d.opened(d.source, 0, len(d.source))
	r.notTasks(d)
	r.notSettings(d)
	r.markdown = true
	return r
}

// readChecklist reads a GitHub task list, in any nesting. Each box with no box
// below it is a task. A box with boxes below it is a group: what is asked for is
// below it, it is not a task, and it is set together with the last task in it. So
//
//   - [ ] Sign-in              group
//   - [ ] US-007: Log in     task US-007, part of "Sign-in"
//   - wrong password: 401  its criteria
//   - [ ] Log out            task 2
//
// A box numbered 2 is a group too where others have the numbers 2.1, 2.2.
// Sub-items without a box are criteria, other text below a task is its detail,
// the headings and groups above it are named there, and their text is its
// context. The id is what begins the title, if it looks like one (see ids.go),
// otherwise the position among the tasks of the file.
func readChecklist(d *document) reading {
	r := reading{want: `a line such as "- [ ] first task"`}
	d.numberItems(&r)
	index := make(map[*item]int)
	for _, it := range d.items {
		if it.box < 0 || it.group {
			continue
		}
		text := it.text
		if it.id != "" {
			text = cmp.Or(it.rest, it.id)
		}
		text = d.withSettings(text, region{it.start, it.body}, region{it.body, it.end})
		t := r.task(d, text, it.box, it.id)
		t.Detail = paragraphs(d.place(it), t.Detail, d.prose(it.body, it.end, it.children))
		t.Criteria = d.criteria(it.children)
		t.Context = d.aroundItem(it)
		index[it] = len(r.plan.Tasks)
		m := d.mark(it.box)
		for up := it.parent; up != nil; up = up.parent {
			m.optional = m.optional || up.box >= 0 && d.mark(up.box).optional
		}
		r.parts = append(r.parts, d.part(it))
		r.add(t, m)
	}
	r.gather(d, index)
	r.plan.Overview = d.overview(func(heading) bool { return false })
	if d.dialect.refine != nil {
		d.dialect.refine(d, &r, index)
	} else {
		r.followDependencies()
	}
	return r
}

// followDependencies has a task wait for those that its title names, unless a comment says for which: "… (depends
// on T1, T2)".
func (r *reading) followDependencies() {
	for i, t := range r.plan.Tasks {
		m := namedDependencies.FindStringSubmatch(t.Title)
		if m == nil || len(t.DependsOn) > 0 {
			continue
		}
		for _, id := range idInText.FindAllString(m[1], -1) {
			r.depend(i, id, func(int) bool { return false })
		}
	}
}

var (
	namedDependencies = regex.New(`(?i)\(depends on:?\s+([\w.#-]*\d[\w.#-]*(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[\w.#-]*\d[\w.#-]*)*)\)`)
	idInText          = regex.New(`[\w.#-]*\d[\w.#-]*`)
)

// gather makes groups of the boxes that are not tasks.
func (r *reading) gather(d *document, index map[*item]int) {
	groups := make(map[*item]int)
	for _, it := range d.items {
		if _, isTask := index[it]; !isTask && it.box >= 0 {
			groups[it] = len(r.groups)
			r.groups = append(r.groups, group{mark: d.mark(it.box)})
		}
	}
	for _, it := range d.items { // members in the order of the file
		i, isTask := index[it]
		for up := it.parent; isTask && up != nil; up = up.parent {
			if g, ok := groups[up]; ok {
				r.groups[g].members = append(r.groups[g].members, i)
			}
		}
	}
}

// place names the headings and items that a task stands under; "" for none.
// The title of the whole plan is not among them.
func (d *document) place(it *item) string {
	var above []string
	for up := it.parent; up != nil; up = up.parent {
		above = append(above, clean(comment.ReplaceAllString(up.text, "")))
	}
	for i := d.section(it.start); i >= 0; i = d.headings[i].parent {
		if i > 0 || d.headings[i].level > 1 {
			above = append(above, clean(d.headings[i].text))
		}
	}
	if len(above) == 0 {
		return ""
	}
	slices.Reverse(above)
	return "Part of: " + strings.Join(above, " › ")
}

// criteria are the items as text, each with all that stands below it.
func (d *document) criteria(items []*item) []string {
	var out []string
	for _, it := range items {
		text := comment.ReplaceAllString(it.text, "")
		out = append(out, paragraphs(strings.TrimSpace(text), d.prose(it.body, it.end, nil)))
	}
	return out
}

// paragraphs joins what is not empty with a line break.
func paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// titleMax bounds a title, in characters; the detail has the whole of a longer one.
const titleMax = 200

// task begins a task from the text beside its mark: title, id, and what a
// comment there settles. The id is the one in a comment, else the one given,
// else the one that begins the text, else the position.
func (r *reading) task(d *document, text string, at int, id string) plan.Task {
	t := plan.Task{ID: cmp.Or(id, strconv.Itoa(len(r.plan.Tasks)+1)), Line: d.lines.of(at)}
	named := false
	if m := directive.FindStringSubmatch(text); m != nil {
		named = r.readSettings(&t, m[1])
	}
	text = strings.TrimSpace(comment.ReplaceAllString(text, ""))
	if unclosed.MatchString(text) {
		r.problem(t.ID, t.Line, "the pawl comment has no end", `"-->" behind it`)
	}
	if m := leadingID.FindStringSubmatch(text); m != nil && id == "" && !named {
		t.ID, text = m[1]+m[2]+m[3], m[4]
	}
	setTitle(&t, text)
	t.Title = cmp.Or(t.Title, t.ID)
	return t
}

// setTitle makes a title of text; the whole of a long one is kept in the detail.
func setTitle(t *plan.Task, text string) {
	text = strings.TrimSpace(text)
	if bold := strings.TrimSuffix(strings.TrimPrefix(text, "**"), "**"); len(bold) == len(text)-4 && !strings.Contains(bold, "**") {
		text = bold
	}
	t.Title = plan.OneLine(text, titleMax)
	if strings.HasSuffix(t.Title, "…") && t.Title != plan.OneLine(text, 0) || strings.Contains(text, "\n") {
		t.Detail = paragraphs(text, t.Detail)
	}
}

// leadingID matches an id at the beginning of a title: "US-001: …",
// "**US-001** …", "[US-001] …", "US-001 - …". A word such as UTF-8 that is not
// set off from what follows is none.
var leadingID = regex.New(`^(?:([A-Z][A-Z0-9]*-\d+[a-z]?)\s*(?::|\s[-–—]\s)|\*\*([A-Z][A-Z0-9]*-\d+[a-z]?)\s*:?\*\*\s*:?|[\[(]([A-Z][A-Z0-9]*-\d+[a-z]?)[\])]\s*:?)\s*(\S.*)$`)

// comment matches an HTML comment, directive one that is for Pawl, and unclosed the
// beginning of such a one.
var (
	comment   = regex.New(`<!--(?s:.*?)-->`)
	directive = regex.New(`<!--\s*pawl:\s*((?s:.*?))\s*-->`)
	unclosed  = regex.New(`<!--\s*pawl:`)
)

// readSettings reads "evidence=unproven depends_on=US-001,US-002"; it says whether
// that names the task.
func (r *reading) readSettings(t *plan.Task, settings string) (named bool) {
	for word := range strings.FieldsSeq(settings) {
		key, value, _ := strings.Cut(word, "=")
		var ok bool
		var want string
		switch key {
		case "evidence":
			ok, want = slices.Contains(levels, value), "evidence="+strings.Join(levels, ", ")
			t.Evidence = value
		case "allow_test_changes":
			ok, want = value == "" || value == "true" || value == "false", "allow_test_changes=true or false"
			t.AllowTestChanges = value != "false"
		case "scope":
			t.Scope = strings.Split(clean(value), ",")
			ok, want = !slices.ContainsFunc(t.Scope, notScope), "scope=GLOB,GLOB, "+scopeWant
		case "depends_on":
			ok, want = value != "", "depends_on=ID,ID"
			if ok {
				t.DependsOn = strings.Split(clean(value), ",")
			}
		case "optional":
			ok, want = value == "" || value == "true" || value == "false", "optional=true or false"
			t.Optional = value != "false"
		case "priority":
			n, err := strconv.Atoi(value)
			ok, want = err == nil, "priority=N"
			t.Priority = n
		case "id":
			ok, want = clean(value) != "", "id=ID"
			t.ID, named = clean(value), true
		default:
			ok, want = false, "evidence, scope, allow_test_changes, depends_on, priority, optional or id"
		}
		if !ok {
			r.problem(t.ID, t.Line, "the pawl comment says "+strconv.Quote(word), want)
		}
	}
	return named
}

// levels are the kinds of evidence that a task may ask for.
var levels = []string{"proven", "reviewed", "unproven"}

func (r *reading) problem(id string, line int, message, want string) {
	r.problems = append(r.problems, plan.Problem{ID: id, Line: line, Message: message, Want: want})
}

func (r *reading) add(t plan.Task, marks ...mark) {
	t.Done = allSet(marks)
	t.Optional = t.Optional || len(marks) > 0 && !slices.ContainsFunc(marks, func(m mark) bool { return !m.optional })
	if len(t.Context) == 0 {
		t.Context = nil
	}
	r.plan.Tasks = append(r.plan.Tasks, t)
	r.marks = append(r.marks, marks)
}
