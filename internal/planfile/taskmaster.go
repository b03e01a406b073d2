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

// taskMasterFile collects the tasks of a task-master file: the subtasks, and the tasks
// without any.
type taskMasterFile struct {
	shelf
	units map[string][]string // the ids of the units of work that stand for a task
	left  map[string]string   // ids that are left out, with their status
}

// readTaskMaster reads the file of task-master, {"TAG": {"tasks": […]}} or, as it
// was once, {"tasks": […]}; false for any other. Its tasks keep their state in
// "status", by which they differ from ralphy's.
func readTaskMaster(data []byte, root *value) (reading, bool) {
	tags := map[string]*value{}
	var names []string
	candidates := append([]member{{name: "", value: root}}, root.members...)
	for _, c := range candidates {
		if list := c.value.field("tasks"); list != nil && list.kind == '[' && keepsStatus(list) {
			tags[c.name] = list
			names = append(names, c.name)
		}
	}
	if len(names) == 0 {
		return reading{}, false
	}
	m := taskMasterFile{shelf: shelf{data: data, lines: newLines(data)}, units: map[string][]string{}, left: map[string]string{}}
	m.want, m.wantMark = taskMasterWant, "pending, in-progress, review or done"
	if len(names) > 1 {
		m.problem("", m.lines.of(tags[names[1]].start), "there are tasks under several tags: "+clean(strings.Join(names, ", ")),
			fmt.Sprintf("one of them; make a plan of it:  jq '{tag: .[%q]}' FILE > plan.json", clean(names[0])))
		return m.reading, true
	}
	list := tags[names[0]]
	m.list = list
	for _, v := range list.elements {
		m.task(v)
	}
	m.depend(list)
	m.text = canonical(data, func(root any) { withoutKeys(root, "status", "updatedAt", "previousStatus", "updated") })
	return m.reading, true
}

func keepsStatus(list *value) bool {
	return slices.ContainsFunc(list.elements, func(v *value) bool {
		return v.field("status") != nil && v.member("completed") == nil && v.member("passes") == nil
	})
}

// subtasks are the subtasks of a task; none for anything else.
func (v *value) subtasks() []*value {
	if s := v.field("subtasks"); s != nil && s.kind == '[' {
		return s.elements
	}
	return nil
}

// task reads a task with its subtasks.
func (m *taskMasterFile) task(v *value) {
	id := clean(v.string("id"))
	if v.kind != '{' || id == "" {
		m.problem(id, m.lines.of(v.start), "a task is no object with an id", taskMasterWant)
		return
	}
	subtasks := v.subtasks()
	if out := leftOut(v); out != "" {
		m.leave(id, out, v)
		for _, s := range subtasks {
			m.left[subID(id, s)] = out
		}
		return
	}
	if len(subtasks) == 0 {
		m.unit(v, id, priorities[v.string("priority")])
		m.units[id] = []string{id}
		return
	}
	around, top := m.around(id, v), m.list
	var members []int
	for _, s := range subtasks {
		sub := subID(id, s)
		if out := leftOut(s); out != "" {
			m.leave(sub, out, s)
			continue
		}
		members = append(members, len(m.plan.Tasks))
		m.list = v.field("subtasks")
		m.unit(s, sub, priorities[v.string("priority")])
		m.list = top
		m.parts[len(m.parts)-1].root = &part{object: v, list: top}
		m.plan.Tasks[len(m.plan.Tasks)-1].Context = around
		m.units[id], m.units[sub] = append(m.units[id], sub), []string{sub}
	}
	if len(members) > 0 {
		m.groups = append(m.groups, group{mark: m.status(v), members: members})
	}
}

// priorities are task-master's, as numbers.
var priorities = map[string]int{"high": 1, "medium": 2, "low": 3}

// subID is the id of a subtask, which counts within its task.
func subID(task string, v *value) string {
	id := clean(v.string("id"))
	if strings.HasPrefix(id, task+".") {
		return id
	}
	return task + "." + id
}

// leftOut is the status of a task that is not to be worked on, "" for any other.
func leftOut(v *value) string {
	if s := v.string("status"); s == "deferred" || s == "cancelled" {
		return s
	}
	return ""
}

func (m *taskMasterFile) leave(id, status string, v *value) {
	m.left[id] = status
	m.note(m.lines.of(v.start), fmt.Sprintf("task %s is %s: it is left out", plan.OneLine(id, 20), status), `another "status", for it to be worked on`)
}

// unit adds a unit of work.
func (m *taskMasterFile) unit(v *value, id string, priority int) {
	t := plan.Task{ID: id, Line: m.lines.of(v.start), Priority: priority}
	setTitle(&t, cmp.Or(v.string("title"), v.string("description"), id))
	t.Title = cmp.Or(t.Title, id)
	t.Detail = paragraphs(t.Detail, v.string("description"), v.string("details"))
	t.Criteria = m.strings(v.field("testStrategy"))
	mark := m.status(v)
	if mark.end > mark.at {
		t.Line = m.lines.of(mark.at)
	}
	m.place(v, v.field("title", "description"))
	m.add(t, mark)
}

// around is what a task says to its subtasks.
func (m *taskMasterFile) around(id string, v *value) []string {
	head := "Task " + id + ": " + v.string("title")
	if strategy := v.string("testStrategy"); strategy != "" {
		return []string{paragraphs(head, v.string("description"), v.string("details"), "Test strategy: "+strategy)}
	}
	return []string{paragraphs(head, v.string("description"), v.string("details"))}
}

// status is the mark of a task.
func (m *taskMasterFile) status(v *value) mark {
	s := v.member("status")
	if s == nil || s.value.kind != '"' {
		if s != nil {
			m.problem("", m.lines.of(s.value.start), `"status" is no text`, "pending, in-progress, review or done")
		}
		return putIn(m.data, v, "status", `"done"`)
	}
	found := mark{at: s.value.start, end: s.value.end, open: `"pending"`, done: `"done"`, set: s.value.text == "done" || s.value.text == "completed"}
	if !found.set && !slices.Contains([]string{"pending", "in-progress", "review"}, s.value.text) {
		found.odd = s.value.text
	}
	return found
}

// depend reads the dependencies, now that all tasks are known: those of a task are
// its subtasks' too, and a number in a subtask means one beside it.
func (m *taskMasterFile) depend(list *value) {
	m.byID = m.plan.Index()
	for _, v := range list.elements {
		id := clean(v.string("id"))
		own := m.strings(v.field("dependencies"))
		subtasks := v.subtasks()
		if len(subtasks) == 0 {
			m.dependOn(id, own)
		}
		for _, s := range subtasks {
			wanted := slices.Clone(own)
			for _, dep := range m.strings(s.field("dependencies")) {
				if _, err := strconv.Atoi(dep); err == nil {
					dep = id + "." + dep
				}
				wanted = append(wanted, dep)
			}
			m.dependOn(subID(id, s), wanted)
		}
	}
}

func (m *taskMasterFile) dependOn(id string, wanted []string) {
	i, ok := m.byID[id]
	if !ok {
		return
	}
	t := &m.plan.Tasks[i]
	for _, dep := range wanted {
		dep = clean(dep)
		if out := m.left[dep]; out != "" {
			m.note(t.Line, fmt.Sprintf("task %s depends on %s, which is %s: it is not waited for", clean(t.ID), dep, out), "a dependency on a task that is worked on")
			continue
		}
		units := m.units[dep]
		if units == nil {
			units = []string{dep} // plan.Check says that there is none
		}
		for _, u := range units {
			if !slices.Contains(t.DependsOn, u) {
				t.DependsOn = append(t.DependsOn, u)
			}
		}
	}
}

// withoutKeys takes all members of these names out of a value.
func withoutKeys(v any, keys ...string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keys {
			delete(v, key)
		}
		for _, below := range v {
			withoutKeys(below, keys...)
		}
	case []any:
		for _, below := range v {
			withoutKeys(below, keys...)
		}
	}
}
