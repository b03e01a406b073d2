package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one reason why a plan cannot be worked on.
type Problem struct {
	ID      string `json:"id,omitempty" jsonschema:"the task that has it"` // "" for the plan as a whole
	Line    int    `json:"line,omitempty" jsonschema:"line in the file, from 1"`
	Message string `json:"message" jsonschema:"what is wrong"`
	Want    string `json:"want,omitempty" jsonschema:"what was expected"`
}

// Task returns the task with an id.
func (p Plan) Task(id string) (Task, bool) {
	for _, t := range p.Tasks {
		if t.ID == id {
			return t, true
		}
	}
	return Task{}, false
}

// Index returns the position of each task in the plan, by id.
func (p Plan) Index() map[string]int {
	at := make(map[string]int, len(p.Tasks))
	for i, t := range p.Tasks {
		at[t.ID] = i
	}
	return at
}

// Open returns the number of tasks that are not done.
func (p Plan) Open() int {
	n := 0
	for _, t := range p.Tasks {
		if !t.Done {
			n++
		}
	}
	return n
}

// Next returns the task to work on now. It chooses among the open tasks whose dependencies are done:
// optional tasks come last, then the lowest priority number comes first (tasks without a number last),
// then the order of the file. It leaves out tasks for which skip returns true, and tasks that depend on
// them; skip may be nil. It returns false if there is no such task. If Open() > 0 then, the rest waits
// for skipped tasks.
func (p Plan) Next(skip func(id string) bool) (Task, bool) {
	done := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		done[t.ID] = t.Done
	}
	var best *Task
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if t.Done || skip != nil && skip(t.ID) || !containsAll(t.DependsOn, done) {
			continue
		}
		if best == nil || best.Optional && !t.Optional || best.Optional == t.Optional && precedes(t.Priority, best.Priority) {
			best = t
		}
	}
	if best == nil {
		return Task{}, false
	}
	return *best, true
}

// WithoutOptional returns the tasks that are not optional, and those that they depend on.
func (p Plan) WithoutOptional() []Task {
	var ids []string
	for _, t := range p.Tasks {
		if !t.Optional {
			ids = append(ids, t.ID)
		}
	}
	return p.Needed(ids)
}

// Needed returns the tasks with these ids and all that they depend on, in the order of the file.
func (p Plan) Needed(ids []string) []Task {
	at := p.Index()
	needed := make(map[string]bool)
	for open := slices.Clone(ids); len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if !needed[id] {
			needed[id] = true
			if i, ok := at[id]; ok {
				open = append(open, p.Tasks[i].DependsOn...)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Tasks), func(t Task) bool { return !needed[t.ID] })
}

// precedes reports whether priority a comes strictly before b; 0 = no priority.
func precedes(a, b int) bool {
	if a == 0 || b == 0 {
		return a != 0 && b == 0
	}
	return a < b
}

func containsAll(ids []string, in map[string]bool) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !in[id] })
}

// WantKnownID is Problem.Want for an unknown id.
const WantKnownID = "the id of a task of this plan"

// Check returns the problems that prevent work on a plan, in the order of the file: no tasks, duplicate
// ids, unknown dependencies, and cycles. A plan whose tasks are all done has no problem.
func (p Plan) Check() []Problem {
	if len(p.Tasks) == 0 {
		return []Problem{{Message: "the plan has no tasks", Want: "at least one task with a done mark"}}
	}
	var found []Problem
	first := make(map[string]Task, len(p.Tasks))
	for _, t := range p.Tasks {
		if was, ok := first[t.ID]; ok {
			found = append(found, Problem{
				ID: t.ID, Line: t.Line,
				Message: fmt.Sprintf("task id %q is used twice, first on line %d", t.ID, was.Line),
				Want:    "a different id for each task",
			})
			continue
		}
		first[t.ID] = t
	}
	for _, t := range p.Tasks {
		for _, id := range t.DependsOn {
			if _, ok := first[id]; !ok {
				found = append(found, Problem{
					ID: t.ID, Line: t.Line,
					Message: fmt.Sprintf("task %q depends on %q, which is not in the plan", t.ID, id),
					Want:    WantKnownID,
				})
			}
		}
	}
	if path := findCycle(p.Tasks, first); path != nil {
		t := first[path[0]]
		found = append(found, Problem{
			ID: t.ID, Line: t.Line,
			Message: "tasks depend on each other in a circle: " + formatPath(path),
			Want:    "dependencies that end somewhere",
		})
	}
	return found
}

// findCycle returns the first cycle of dependencies as a path that ends with its first id, or nil.
func findCycle(tasks []Task, byID map[string]Task) []string {
	const onPath, left = 1, 2 // left: visited, leads to no circle
	state := make(map[string]int, len(tasks))
	var path []string
	var visit func(id string) []string
	visit = func(id string) []string {
		switch state[id] {
		case left:
			return nil
		case onPath:
			return append(slices.Clone(path[slices.Index(path, id):]), id)
		}
		state[id], path = onPath, append(path, id)
		for _, next := range byID[id].DependsOn {
			if found := visit(next); found != nil {
				return found
			}
		}
		state[id], path = left, path[:len(path)-1]
		return nil
	}
	for _, t := range tasks {
		if found := visit(t.ID); found != nil {
			return found
		}
	}
	return nil
}

// formatPath formats a path for a message. It omits the middle of a very long one.
func formatPath(path []string) string {
	const most = 12
	if len(path) > most {
		path = slices.Concat(path[:most-2], []string{"…"}, path[len(path)-1:])
	}
	return strings.Join(path, " → ")
}
