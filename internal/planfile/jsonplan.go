package planfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// What the JSON formats look like, for messages.
const (
	prdJSONWant     = `{"userStories": [{"id": "US-001", "title": "…", "passes": false}]}`
	featureListWant = `[{"description": "…", "passes": false}]`
	ralphyWant      = `{"tasks": [{"title": "…", "completed": false}]}`
)

// readJSON reads the JSON formats, which differ in the name of their list of
// tasks: prd.json (userStories; ralph-tui's too), feature_list.json (a bare array,
// or features), task-master's and ralphy's (tasks). A task's id is its "id", otherwise
// its position; its title is the first of title, name and description; its mark is
// "passes" or "completed". A task without a mark is open, and gets one when it
// is ticked. Other fields may be there and are left alone.
func readJSON(data []byte) reading {
	r := readJSONFormat(data)
	lines := newLines(data)
	for _, at := range directive.FindAllSubmatchIndex(data, -1) {
		r.note(lines.of(at[0]), "this comment is not read: "+plan.OneLine(string(data[at[0]:at[1]]), 60), `a field of the task, such as "evidence": "unproven"`)
	}
	return r
}

// readJSONFormat reads the first of the formats that has its list.
func readJSONFormat(data []byte) reading {
	root, bad := scan(data)
	if bad != nil {
		var r reading
		r.problem("", newLines(data).of(bad.at), bad.message, "a JSON plan such as "+prdJSONWant)
		return r
	}
	var wants []string
	for _, c := range jsonCodecs() {
		wants = append(wants, c.want)
		if c.list == "" {
			if r, ok := readTaskMaster(data, root); ok {
				r.plan.Format = c.Name
				return r
			}
			continue
		}
		list := root.field(c.list)
		if c.Name == FeatureList && root.kind == '[' {
			list = root
		}
		if list == nil || list.kind != '[' {
			continue
		}
		s := shelf{data: data, key: c.key, lines: newLines(data)}
		s.want, s.plan.Format = c.want, c.Name
		for _, v := range list.elements {
			s.list = list
			s.read(v)
		}
		s.plan.Title = plan.OneLine(root.string("name", "project", "title"), titleMax)
		s.plan.Overview = root.string("description", "overview")
		s.text = canonical(data, func(root any) { withoutMarks(root, c.list) })
		return s.reading
	}
	var r reading
	r.problem("", newLines(data).of(root.start), "this JSON is no plan that pawl knows", strings.Join(wants, " or "))
	return r
}

// shelf collects the tasks of one list.
type shelf struct {
	reading
	data  []byte
	lines lines
	key   string // of the mark, where a task has none
	list  *value // that the task stands in
}

func (s *shelf) read(v *value) {
	t := plan.Task{ID: strconv.Itoa(len(s.plan.Tasks) + 1), Line: s.lines.of(v.start)}
	if v.kind != '{' {
		s.problem(t.ID, t.Line, "task "+t.ID+" is not an object", s.want)
		return
	}
	t.ID = cmp.Or(clean(v.string("id")), t.ID)
	m := s.mark(v, &t)
	title := v.field("title", "name", "description")
	if title != nil {
		setTitle(&t, title.text)
	}
	if t.Title == "" {
		s.problem(t.ID, t.Line, "task "+strconv.Quote(t.ID)+" has no title", `"title" or "description" with a text`)
	}
	if d := v.field("description"); d != nil && d != title {
		t.Detail = paragraphs(t.Detail, d.text)
	}
	t.Detail = paragraphs(t.Detail, v.string("details"), v.string("notes"))
	t.Criteria = s.strings(v.field("acceptanceCriteria", "acceptance_criteria", "steps"))
	t.DependsOn = s.strings(v.field("dependsOn", "depends_on", "dependencies"))
	for i, id := range t.DependsOn {
		t.DependsOn[i] = clean(id)
	}
	if n, err := strconv.Atoi(v.string("priority")); err == nil {
		t.Priority = n
	}
	if e := v.field("evidence"); e != nil {
		t.Evidence = e.text
		if !slices.Contains(levels, e.text) {
			s.problem(t.ID, s.lines.of(e.start), `the evidence wanted is `+strings.TrimSpace(string(s.data[e.start:e.end])), strings.Join(levels, ", "))
		}
	}
	t.Optional = v.field("optional") != nil && v.field("optional").kind == 't'
	s.scope(v.field("scope"), &t)
	if a := v.field("allow_test_changes"); a != nil {
		t.AllowTestChanges = a.kind == 't'
		if a.kind != 't' && a.kind != 'f' {
			s.problem(t.ID, s.lines.of(a.start), `"allow_test_changes" is neither true nor false`, "true or false")
		}
	}
	s.place(v, title)
	s.add(t, m)
}

// place notes where a task stands.
func (s *shelf) place(object, title *value) {
	p := part{object: object, list: s.list, box: -1}
	if title != nil {
		p.head = region{title.start, title.end}
	}
	s.parts = append(s.parts, p)
}

// mark finds the mark of a task, or where it has to be put in.
func (s *shelf) mark(v *value, t *plan.Task) mark {
	key := s.key
	for _, other := range []string{"passes", "completed"} {
		if v.member(key) == nil && v.member(other) != nil {
			key = other
		}
	}
	if m := v.member(key); m != nil {
		t.Line = s.lines.of(m.value.start)
		if bytes.IndexByte([]byte("tfn"), m.value.kind) < 0 {
			s.problem(t.ID, t.Line, strconv.Quote(key)+" is neither true nor false", "true or false")
		}
		return mark{at: m.value.start, end: m.value.end, set: m.value.kind == 't', open: "false", done: "true"}
	}
	if status := v.field("status"); status != nil {
		s.problem(t.ID, s.lines.of(status.start), `task `+strconv.Quote(t.ID)+` keeps its state in "status"`, strconv.Quote(key)+": false or true")
	}
	return putIn(s.data, v, key, "true")
}

// putIn is the mark of an object that has none yet.
func putIn(data []byte, v *value, key, done string) mark {
	at := v.start + 1
	text := strconv.Quote(key) + ": " + done
	if n := len(v.members); n > 0 { // in the style of the last member
		last := v.members[n-1]
		at = last.value.end
		text = "," + string(data[last.after:last.start]) + strconv.Quote(key) + string(data[last.end:last.value.start]) + done
	}
	return mark{at: at, end: at, done: text}
}

// string is the first of these fields that is a string or a number, "" for none.
func (v *value) string(names ...string) string {
	if f := v.field(names...); f != nil {
		return f.text
	}
	return ""
}

// strings are the texts of a list, or the one text that stands in its place;
// what is not text is kept as it is written.
func (s *shelf) strings(v *value) []string {
	if v == nil {
		return nil
	}
	list := []*value{v}
	if v.kind == '[' {
		list = v.elements
	}
	var out []string
	for _, e := range list {
		text := e.text
		if e.kind != '"' && e.kind != '0' {
			text = string(s.data[e.start:e.end])
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// withoutMarks takes the marks out of a plan.
func withoutMarks(root any, list string) {
	tasks := root
	if object, ok := root.(map[string]any); ok {
		tasks = object[list]
	}
	elements, _ := tasks.([]any)
	for _, e := range elements {
		if task, ok := e.(map[string]any); ok {
			delete(task, "passes")
			delete(task, "completed")
		}
	}
}

// canonical writes JSON in the one way in which texts are compared, less what without
// takes out of it.
func canonical(data []byte, without func(root any)) []byte {
	var root any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&root) != nil {
		return nil // not reached: the data has been scanned
	}
	without(root)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(root) != nil {
		return nil
	}
	return out.Bytes()
}
