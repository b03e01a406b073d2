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

// readMarkdown reads a plan in the first Markdown format that matches it.
func readMarkdown(name string, data []byte) parseResult {
	var r parseResult
	if line := tooDeepLine(data); line > 0 {
		r.addProblem("", line, "lists are nested too deep", fmt.Sprintf("at most %d characters before the text of a line", maxIndent))
		return r
	}
	d := outline(data)
	for _, c := range codecs() {
		if c.read != nil && c.matches(filepath.ToSlash(name), d) {
			d.dialect = c.dialect
			r = c.read(d)
			r.plan.Format = c.Name
			break
		}
	}
	r.plan.Title = d.title()
	r.text = d.withOpenBoxes(d.source, 0, len(d.source))
	r.warnOfIgnoredBoxes(d)
	r.warnOfIgnoredComments(d)
	r.isMarkdown = true
	return r
}

// readChecklist reads a GitHub task list with any nesting. A box without boxes below it is a task.
// A box with boxes below it is a group: it is set together with its last task. For example:
//
//   - [ ] Sign-in               a group
//   - [ ] US-007: Log in      task US-007, part of "Sign-in"
//   - wrong password: 401   its criterion
//   - [ ] Log out             task 2
//
// A box with the number 2 is also a group if others have the numbers 2.1 and 2.2. Items without a
// box are criteria, and other text below a task is its detail. The detail names the headings and
// groups above the task; their text is its context. The id is the one that begins the title (see
// ids.go), else the position among the tasks of the file.
func readChecklist(d *document) parseResult {
	r := parseResult{want: `a line such as "- [ ] first task"`}
	d.assignIDs(&r)
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
		t := r.newTask(d, text, it.box, it.id)
		t.Detail = paragraphs(d.partOf(it), t.Detail, d.prose(it.body, it.end, it.children))
		t.Criteria = d.criteriaTexts(it.children)
		t.Context = d.contextOfItem(it)
		index[it] = len(r.plan.Tasks)
		m := d.readMark(it.box)
		for up := it.parent; up != nil; up = up.parent {
			m.optional = m.optional || up.box >= 0 && d.readMark(up.box).optional
		}
		r.locations = append(r.locations, d.itemLocation(it))
		r.appendTask(t, m)
	}
	r.addGroups(d, index)
	r.plan.Overview = d.overviewText(func(heading) bool { return false })
	if d.dialect.refine != nil {
		d.dialect.refine(d, &r, index)
	} else {
		r.followDependencies()
	}
	return r
}

// followDependencies adds the dependencies that titles name, as in "… (depends on T1, T2)". A
// comment with depends_on has precedence.
func (r *parseResult) followDependencies() {
	for i, t := range r.plan.Tasks {
		m := namedDependencies.FindStringSubmatch(t.Title)
		if m == nil || len(t.DependsOn) > 0 {
			continue
		}
		for _, id := range idInText.FindAllString(m[1], -1) {
			r.addDependency(i, id, func(int) bool { return false })
		}
	}
}

var (
	namedDependencies = regex.New(`(?i)\(depends on:?\s+([\w.#-]*\d[\w.#-]*(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[\w.#-]*\d[\w.#-]*)*)\)`)
	idInText          = regex.New(`[\w.#-]*\d[\w.#-]*`)
)

// addGroups makes groups of the boxes that are not tasks.
func (r *parseResult) addGroups(d *document, index map[*item]int) {
	groups := make(map[*item]int)
	for _, it := range d.items {
		if _, isTask := index[it]; !isTask && it.box >= 0 {
			groups[it] = len(r.groups)
			r.groups = append(r.groups, group{mark: d.readMark(it.box)})
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

// partOf returns the headings and items above an item as "Part of: A › B", "" for none. It omits
// the title of the plan.
func (d *document) partOf(it *item) string {
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

// criteriaTexts returns the texts of the items, each with all the text below it.
func (d *document) criteriaTexts(items []*item) []string {
	var out []string
	for _, it := range items {
		text := comment.ReplaceAllString(it.text, "")
		out = append(out, paragraphs(strings.TrimSpace(text), d.prose(it.body, it.end, nil)))
	}
	return out
}

// paragraphs joins the parts that are not empty with line breaks.
func paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// maxTitleChars limits a title, in characters. The detail of the task holds a longer one whole.
const maxTitleChars = 200

// newTask returns a task with the title, the id and the settings in the text beside its mark. The
// id is the one in a comment, else the given one, else the one that begins the text, else the
// position.
func (r *parseResult) newTask(d *document, text string, at int, id string) plan.Task {
	t := plan.Task{ID: cmp.Or(id, strconv.Itoa(len(r.plan.Tasks)+1)), Line: d.lines.lineAt(at)}
	named := false
	if m := pawlComment.FindStringSubmatch(text); m != nil {
		named = r.readSettings(&t, m[1])
	}
	text = strings.TrimSpace(comment.ReplaceAllString(text, ""))
	if pawlCommentStart.MatchString(text) {
		r.addProblem(t.ID, t.Line, "the pawl comment has no end", `"-->" behind it`)
	}
	if m := leadingID.FindStringSubmatch(text); m != nil && id == "" && !named {
		t.ID, text = m[1]+m[2]+m[3], m[4]
	}
	setTitle(&t, text)
	t.Title = cmp.Or(t.Title, t.ID)
	return t
}

// setTitle sets the title to one line of text, and keeps a longer text in the detail.
func setTitle(t *plan.Task, text string) {
	text = strings.TrimSpace(text)
	if bold := strings.TrimSuffix(strings.TrimPrefix(text, "**"), "**"); len(bold) == len(text)-4 && !strings.Contains(bold, "**") {
		text = bold
	}
	t.Title = plan.OneLine(text, maxTitleChars)
	if strings.HasSuffix(t.Title, "…") && t.Title != plan.OneLine(text, 0) || strings.Contains(text, "\n") {
		t.Detail = paragraphs(text, t.Detail)
	}
}

// leadingID matches an id at the beginning of a title: "US-001: …", "**US-001** …", "[US-001] …",
// "US-001 - …". A word such as UTF-8 without a separator after it is not an id.
var leadingID = regex.New(`^(?:([A-Z][A-Z0-9]*-\d+[a-z]?)\s*(?::|\s[-–—]\s)|\*\*([A-Z][A-Z0-9]*-\d+[a-z]?)\s*:?\*\*\s*:?|[\[(]([A-Z][A-Z0-9]*-\d+[a-z]?)[\])]\s*:?)\s*(\S.*)$`)

// comment matches an HTML comment, pawlComment one for Pawl, and pawlCommentStart its beginning.
var (
	comment          = regex.New(`<!--(?s:.*?)-->`)
	pawlComment      = regex.New(`<!--\s*pawl:\s*((?s:.*?))\s*-->`)
	pawlCommentStart = regex.New(`<!--\s*pawl:`)
)

// readSettings reads settings such as "evidence=unproven depends_on=US-001,US-002". It reports
// whether they set the id.
func (r *parseResult) readSettings(t *plan.Task, settings string) (named bool) {
	var unknown []string
	for word := range strings.FieldsSeq(settings) {
		key, value, _ := strings.Cut(word, "=")
		var ok bool
		var want string
		switch key {
		case "evidence":
			ok, want = slices.Contains(evidenceLevels, value), "evidence="+strings.Join(evidenceLevels, ", ")
			t.Evidence = value
		case "allow_test_changes":
			ok, want = value == "" || value == "true" || value == "false", "allow_test_changes=true or false"
			t.AllowTestChanges = value != "false"
		case "scope":
			t.Scope = strings.Split(clean(value), ",")
			ok, want = !slices.ContainsFunc(t.Scope, isInvalidGlob), "scope=GLOB,GLOB, "+scopeWant
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
			unknown, ok = append(unknown, strconv.Quote(word)), true
		}
		if !ok {
			r.addProblem(t.ID, t.Line, "the pawl comment says "+strconv.Quote(word), want)
		}
	}
	if len(unknown) > 0 {
		r.addProblem(t.ID, t.Line, "the pawl comment says "+strings.Join(unknown, ", "), "evidence, scope, allow_test_changes, depends_on, priority, optional or id")
	}
	return named
}

// evidenceLevels are the kinds of evidence that a task may require.
var evidenceLevels = []string{"proven", "reviewed", "unproven"}

func (r *parseResult) addProblem(id string, line int, message, want string) {
	r.problems = append(r.problems, plan.Problem{ID: id, Line: line, Message: message, Want: want})
}

// appendSection appends a task that is a section. The boxes in the section are its criteria.
func (r *parseResult) appendSection(d *document, h heading, t plan.Task, marks ...mark) {
	boxes := d.outermostBoxes(h.body, h.end)
	t.Criteria, t.Context = d.criteriaTexts(boxes), d.contextOfSection(h.parent)
	t.Detail = paragraphs(t.Detail, d.prose(h.body, h.end, boxes))
	r.taskRegions = append(r.taskRegions, region{h.body, h.end})
	r.locations = append(r.locations, taskLocation{block: region{h.start, h.end}, head: region{h.start, h.body}, box: -1})
	r.appendTask(t, marks...)
}

func (r *parseResult) appendTask(t plan.Task, marks ...mark) {
	t.Done = allSet(marks)
	t.Optional = t.Optional || len(marks) > 0 && !slices.ContainsFunc(marks, func(m mark) bool { return !m.optional })
	if len(t.Context) == 0 {
		t.Context = nil
	}
	r.plan.Tasks = append(r.plan.Tasks, t)
	r.marks = append(r.marks, marks)
}
