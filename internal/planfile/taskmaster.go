package planfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

const taskMasterWant = `{"master": {"tasks": [{"id": 1, "title": "…", "status": "pending"}]}}`

// taskMasterReader collects the tasks of a task-master file: subtasks, and tasks without subtasks.
type taskMasterReader struct {
	jsonTaskReader
	units    map[string][]string // the tasks of the plan that stand for an id of the file
	excluded map[string]string   // ids that are left out, with their status
}

// readTaskMaster reads task-master's file, {"TAG": {"tasks": […]}} or the older {"tasks": […]}. It
// returns false for any other. The "status" of its tasks distinguishes it from ralphy's.
func readTaskMaster(data []byte, root *jsonValue) (parseResult, bool) {
	tags := map[string]*jsonValue{}
	var names []string
	candidates := append([]jsonMember{{name: "", value: root}}, root.members...)
	for _, c := range candidates {
		if list := c.value.field("tasks"); list != nil && list.kind == '[' && hasStatuses(list) {
			tags[c.name] = list
			names = append(names, c.name)
		}
	}
	if len(names) == 0 {
		return parseResult{}, false
	}
	m := taskMasterReader{jsonTaskReader: jsonTaskReader{data: data, lines: newLines(data)}, units: map[string][]string{}, excluded: map[string]string{}}
	m.want, m.wantMarks = taskMasterWant, "pending, in-progress, review or done"
	if len(names) > 1 {
		m.addProblem("", m.lines.lineAt(tags[names[1]].start), "there are tasks under several tags: "+clean(strings.Join(names, ", ")),
			fmt.Sprintf("one of them; make a plan of it:  jq '{tag: .[%q]}' FILE > plan.json", clean(names[0])))
		return m.parseResult, true
	}
	list := tags[names[0]]
	m.list = list
	for _, v := range list.elements {
		m.readTask(v)
	}
	m.readDependencies(list)
	m.text = canonicalJSON(data, func(root any) { removeKeys(root, "status", "updatedAt", "previousStatus", "updated") })
	return m.parseResult, true
}

func hasStatuses(list *jsonValue) bool {
	return slices.ContainsFunc(list.elements, func(v *jsonValue) bool {
		return v.field("status") != nil && v.member("completed") == nil && v.member("passes") == nil
	})
}

// subtasks returns the subtasks of a task, if any.
func (v *jsonValue) subtasks() []*jsonValue {
	if s := v.field("subtasks"); s != nil && s.kind == '[' {
		return s.elements
	}
	return nil
}

// readTask reads a task with its subtasks.
func (m *taskMasterReader) readTask(v *jsonValue) {
	id := clean(v.firstText("id"))
	if v.kind != '{' || id == "" {
		m.addProblem(id, m.lines.lineAt(v.start), "a task is not an object with an id", taskMasterWant)
		return
	}
	subtasks := v.subtasks()
	if out := excludedStatus(v); out != "" {
		m.exclude(id, out, v)
		for _, s := range subtasks {
			m.excluded[subtaskID(id, s)] = out
		}
		return
	}
	if len(subtasks) == 0 {
		m.addUnit(v, id, priorities[v.firstText("priority")])
		m.units[id] = []string{id}
		return
	}
	around, top := m.contextOfSubtasks(id, v), m.list
	var members []int
	for _, s := range subtasks {
		sub := subtaskID(id, s)
		if out := excludedStatus(s); out != "" {
			m.exclude(sub, out, s)
			continue
		}
		members = append(members, len(m.plan.Tasks))
		m.list = v.field("subtasks")
		m.addUnit(s, sub, priorities[v.firstText("priority")])
		m.list = top
		m.locations[len(m.locations)-1].root = &taskLocation{object: v, list: top}
		m.plan.Tasks[len(m.plan.Tasks)-1].Context = around
		m.units[id], m.units[sub] = append(m.units[id], sub), []string{sub}
	}
	if len(members) > 0 {
		m.groups = append(m.groups, group{mark: m.statusMark(v), members: members})
	}
}

// priorities are task-master's, as numbers.
var priorities = map[string]int{"high": 1, "medium": 2, "low": 3}

// subtaskID returns the id of a subtask, whose number counts within its task.
func subtaskID(task string, v *jsonValue) string {
	id := clean(v.firstText("id"))
	if strings.HasPrefix(id, task+".") {
		return id
	}
	return task + "." + id
}

// excludedStatus returns the status of a task that nobody works on, "" for any other.
func excludedStatus(v *jsonValue) string {
	if s := v.firstText("status"); s == "deferred" || s == "cancelled" {
		return s
	}
	return ""
}

func (m *taskMasterReader) exclude(id, status string, v *jsonValue) {
	m.excluded[id] = status
	m.warn(m.lines.lineAt(v.start), fmt.Sprintf("task %s is %s: it is skipped", plan.OneLine(id, 20), status), `another "status", if the loop should work on it`)
}

// addUnit adds a task to the plan.
func (m *taskMasterReader) addUnit(v *jsonValue, id string, priority int) {
	t := plan.Task{ID: id, Line: m.lines.lineAt(v.start), Priority: priority}
	setTitle(&t, cmp.Or(v.firstText("title"), v.firstText("description"), id))
	t.Title = cmp.Or(t.Title, id)
	t.Detail = paragraphs(t.Detail, v.firstText("description"), v.firstText("details"))
	t.Criteria = m.texts(v.field("testStrategy"))
	mark := m.statusMark(v)
	if mark.end > mark.at {
		t.Line = m.lines.lineAt(mark.at)
	}
	m.addLocation(v, v.field("title", "description"))
	m.appendTask(t, mark)
}

// contextOfSubtasks returns the text of a task, which is the context of its subtasks.
func (m *taskMasterReader) contextOfSubtasks(id string, v *jsonValue) []string {
	head := "Task " + id + ": " + v.firstText("title")
	if strategy := v.firstText("testStrategy"); strategy != "" {
		return []string{paragraphs(head, v.firstText("description"), v.firstText("details"), "Test strategy: "+strategy)}
	}
	return []string{paragraphs(head, v.firstText("description"), v.firstText("details"))}
}

// statusMark returns the mark of a task.
func (m *taskMasterReader) statusMark(v *jsonValue) mark {
	s := v.member("status")
	if s == nil || s.value.kind != '"' {
		if s != nil {
			m.addProblem("", m.lines.lineAt(s.value.start), `"status" is not text`, "pending, in-progress, review or done")
		}
		return insertedMark(m.data, v, "status", `"done"`)
	}
	found := mark{at: s.value.start, end: s.value.end, open: `"pending"`, done: `"done"`, set: s.value.text == "done" || s.value.text == "completed"}
	if !found.set && !slices.Contains([]string{"pending", "in-progress", "review"}, s.value.text) {
		found.unknown = s.value.text
	}
	return found
}

// readDependencies adds the dependencies once all tasks are known. Subtasks have those of their
// task, and a number in a subtask refers to a subtask of the same task.
func (m *taskMasterReader) readDependencies(list *jsonValue) {
	m.byID = m.plan.Index()
	for _, v := range list.elements {
		id := clean(v.firstText("id"))
		own := m.texts(v.field("dependencies"))
		subtasks := v.subtasks()
		if len(subtasks) == 0 {
			m.addDependencies(id, own)
		}
		for _, s := range subtasks {
			wanted := slices.Clone(own)
			for _, dep := range m.texts(s.field("dependencies")) {
				if _, err := strconv.Atoi(dep); err == nil {
					dep = id + "." + dep
				}
				wanted = append(wanted, dep)
			}
			m.addDependencies(subtaskID(id, s), wanted)
		}
	}
}

func (m *taskMasterReader) addDependencies(id string, wanted []string) {
	i, ok := m.byID[id]
	if !ok {
		return
	}
	t := &m.plan.Tasks[i]
	for _, dep := range wanted {
		dep = clean(dep)
		if out := m.excluded[dep]; out != "" {
			m.warn(t.Line, fmt.Sprintf("task %s depends on %s, which is %s: Pawl does not wait for it", clean(t.ID), dep, out), "a dependency on a task that is worked on")
			continue
		}
		units := m.units[dep]
		if units == nil {
			units = []string{dep} // plan.Check reports an unknown id
		}
		for _, u := range units {
			if !slices.Contains(t.DependsOn, u) {
				t.DependsOn = append(t.DependsOn, u)
			}
		}
	}
}

// removeKeys deletes all members with these names from a value.
func removeKeys(v any, keys ...string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keys {
			delete(v, key)
		}
		for _, below := range v {
			removeKeys(below, keys...)
		}
	case []any:
		for _, below := range v {
			removeKeys(below, keys...)
		}
	}
}
