package planfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Examples of the JSON formats, for messages.
const (
	prdJSONWant     = `{"userStories": [{"id": "US-001", "title": "…", "passes": false}]}`
	featureListWant = `[{"description": "…", "passes": false}]`
	ralphyWant      = `{"tasks": [{"title": "…", "completed": false}]}`
)

// readJSON reads the JSON formats, which differ in their list of tasks: prd.json and ralph-tui's
// (userStories), feature_list.json (a bare array, or features), task-master's and ralphy's (tasks).
// A task's id is its "id", else its position. Its title is the first of title, name and
// description. Its mark is "passes" or "completed"; a task without a mark is open and gets one when
// ticked. Other fields are left alone.
func readJSON(data []byte) parseResult {
	r := readJSONFormat(data)
	lines := newLines(data)
	for _, at := range pawlComment.FindAllSubmatchIndex(data, -1) {
		r.warn(lines.lineAt(at[0]), "this comment is ignored: "+plan.OneLine(string(data[at[0]:at[1]]), 60), `a field of the task, such as "evidence": "unproven"`)
	}
	return r
}

// readJSONFormat reads a plan in the first format whose list of tasks exists.
func readJSONFormat(data []byte) parseResult {
	root, bad := parseJSON(data)
	if bad != nil {
		var r parseResult
		r.addProblem("", newLines(data).lineAt(bad.at), bad.message, "a JSON plan such as "+prdJSONWant)
		return r
	}
	var wants []string
	for _, c := range jsonCodecs() {
		wants = append(wants, c.want)
		if c.listField == "" {
			if r, ok := readTaskMaster(data, root); ok {
				r.plan.Format = c.Name
				return r
			}
			continue
		}
		list := root.field(c.listField)
		if c.Name == FeatureList && root.kind == '[' {
			list = root
		}
		if list == nil || list.kind != '[' {
			continue
		}
		s := jsonTaskReader{data: data, key: c.markField, lines: newLines(data)}
		s.want, s.plan.Format = c.want, c.Name
		for _, v := range list.elements {
			s.list = list
			s.readTask(v)
		}
		s.plan.Title = plan.OneLine(root.firstText("name", "project", "title"), maxTitleChars)
		s.plan.Overview = root.firstText("description", "overview")
		s.text = canonicalJSON(data, func(root any) { removeMarks(root, c.listField) })
		return s.parseResult
	}
	var r parseResult
	r.addProblem("", newLines(data).lineAt(root.start), "this JSON is not a known plan format", strings.Join(wants, " or "))
	return r
}

// jsonTaskReader collects the tasks of a list.
type jsonTaskReader struct {
	parseResult
	data  []byte
	lines lineOffsets
	key   string     // the mark of tasks that have none
	list  *jsonValue // the list that contains the task
}

func (s *jsonTaskReader) readTask(v *jsonValue) {
	t := plan.Task{ID: strconv.Itoa(len(s.plan.Tasks) + 1), Line: s.lines.lineAt(v.start)}
	if v.kind != '{' {
		s.addProblem(t.ID, t.Line, "task "+t.ID+" is not an object", s.want)
		return
	}
	t.ID = cmp.Or(clean(v.firstText("id")), t.ID)
	m := s.readMark(v, &t)
	title := v.field("title", "name", "description")
	if title != nil {
		setTitle(&t, title.text)
	}
	if t.Title == "" {
		s.addProblem(t.ID, t.Line, "task "+strconv.Quote(t.ID)+" has no title", `"title" or "description" with a text`)
	}
	if d := v.field("description"); d != nil && d != title {
		t.Detail = paragraphs(t.Detail, d.text)
	}
	t.Detail = paragraphs(t.Detail, v.firstText("details"), v.firstText("notes"))
	t.Criteria = s.texts(v.field("acceptanceCriteria", "acceptance_criteria", "steps"))
	t.DependsOn = s.texts(v.field("dependsOn", "depends_on", "dependencies"))
	for i, id := range t.DependsOn {
		t.DependsOn[i] = clean(id)
	}
	if n, err := strconv.Atoi(v.firstText("priority")); err == nil {
		t.Priority = n
	}
	if e := v.field("evidence"); e != nil {
		t.Evidence = e.text
		if !slices.Contains(evidenceLevels, e.text) {
			s.addProblem(t.ID, s.lines.lineAt(e.start), `the evidence wanted is `+strings.TrimSpace(string(s.data[e.start:e.end])), strings.Join(evidenceLevels, ", "))
		}
	}
	t.Optional = v.field("optional") != nil && v.field("optional").kind == 't'
	s.readScope(v.field("scope"), &t)
	if a := v.field("allow_test_changes"); a != nil {
		t.AllowTestChanges = a.kind == 't'
		if a.kind != 't' && a.kind != 'f' {
			s.addProblem(t.ID, s.lines.lineAt(a.start), `"allow_test_changes" is neither true nor false`, "true or false")
		}
	}
	s.addLocation(v, title)
	s.appendTask(t, m)
}

// addLocation stores where a task is.
func (s *jsonTaskReader) addLocation(object, title *jsonValue) {
	p := taskLocation{object: object, list: s.list, box: -1}
	if title != nil {
		p.head = region{title.start, title.end}
	}
	s.locations = append(s.locations, p)
}

// readMark returns the mark of a task, or where to insert one.
func (s *jsonTaskReader) readMark(v *jsonValue, t *plan.Task) mark {
	key := s.key
	for _, other := range []string{"passes", "completed"} {
		if v.member(key) == nil && v.member(other) != nil {
			key = other
		}
	}
	if m := v.member(key); m != nil {
		t.Line = s.lines.lineAt(m.value.start)
		if bytes.IndexByte([]byte("tfn"), m.value.kind) < 0 {
			s.addProblem(t.ID, t.Line, strconv.Quote(key)+" is neither true nor false", "true or false")
		}
		return mark{at: m.value.start, end: m.value.end, set: m.value.kind == 't', open: "false", done: "true"}
	}
	if status := v.field("status"); status != nil {
		s.addProblem(t.ID, s.lines.lineAt(status.start), `task `+strconv.Quote(t.ID)+` keeps its state in "status"`, strconv.Quote(key)+": false or true")
	}
	return insertedMark(s.data, v, key, "true")
}

// insertedMark returns a mark to insert into an object without one.
func insertedMark(data []byte, v *jsonValue, key, done string) mark {
	at := v.start + 1
	text := strconv.Quote(key) + ": " + done
	if n := len(v.members); n > 0 { // in the style of the last member
		last := v.members[n-1]
		at = last.value.end
		text = "," + string(data[last.after:last.start]) + strconv.Quote(key) + string(data[last.end:last.value.start]) + done
	}
	return mark{at: at, end: at, done: text}
}

// firstText returns the first of these fields that is a string or a number, "" for none.
func (v *jsonValue) firstText(names ...string) string {
	if f := v.field(names...); f != nil {
		return f.text
	}
	return ""
}

// texts returns the texts of a list, or of a single value. Values that are neither strings nor
// numbers are returned as written.
func (s *jsonTaskReader) texts(v *jsonValue) []string {
	if v == nil {
		return nil
	}
	list := []*jsonValue{v}
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

// removeMarks deletes the marks of all tasks.
func removeMarks(root any, list string) {
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

// canonicalJSON returns JSON in a fixed style, so that texts can be compared. It calls without to
// remove values.
func canonicalJSON(data []byte, without func(root any)) []byte {
	var root any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&root) != nil {
		return nil // not reached: the data was parsed before
	}
	without(root)
	text, _ := atomicfile.EncodeIndentedJSON(root) // it was read from JSON
	return text
}
