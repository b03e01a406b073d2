package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// taskLocation is where a task is in the file.
type taskLocation struct {
	block region        // the whole task: an item with all below it, or a section
	head  region        // where its title is; for JSON: the value
	box   int           // offset after the bracket of its box, -1 = none
	id    string        // the id as written before the title, "" = none
	root  *taskLocation // the outermost task or group around it
	// For JSON: the object, and the list that contains it.
	object, list *jsonValue
}

// ErrKeepsOrder means that tasks cannot be moved. They have no ids and would get other numbers, or
// each task is a file.
var ErrKeepsOrder = errors.New("the order in the plan cannot change: its tasks are numbered by position, or are files")

// Edit applies an edit in the plan's own format. It returns the edit with the id of a new task. An
// edit that is already in effect changes nothing. If tasks would get other ids, Edit returns
// ErrKeepsOrder, unless renumber is set: nothing refers to the ids yet.
func (f *File) Edit(e plan.Edit, renumber bool) (*File, plan.Edit, error) {
	f, err := f.withLocations()
	if err != nil {
		return nil, e, err
	}
	for _, id := range []string{e.Before, e.After} {
		switch {
		case id == "":
		case !slices.Contains(f.ids(), id):
			return nil, e, errNoTask(f.name, id)
		case id == e.Task && e.Do == plan.Move:
			return nil, e, failure.New(failure.Usage, "name another task", "task %s cannot move next to itself", clean(id))
		}
	}
	switch e.Do {
	case plan.Add:
		return f.addTask(e, renumber)
	case plan.Retitle, plan.Move, plan.Reopen, plan.Skip, plan.Retry:
	default:
		return nil, e, fmt.Errorf("unknown plan edit %q", e.Do)
	}
	i := slices.IndexFunc(f.plan.Tasks, func(t plan.Task) bool { return t.ID == e.Task })
	if i < 0 {
		return nil, e, errNoTask(f.name, e.Task)
	}
	var out *File
	switch e.Do {
	case plan.Retitle:
		out, err = f.retitle(i, e.Title)
	case plan.Move:
		out, err = f.move(i, e, renumber)
	case plan.Reopen:
		out, err = f.Untick(e.Task)
	default:
		out = f
	}
	return out, e, err
}

func errNoTask(name, id string) error {
	return failure.New(failure.Usage, "pawl plan show "+clean(name)+" lists its tasks", "%s has no task %q", clean(name), id)
}

func errNoTitle(hint string) error { return failure.New(failure.Usage, hint, "the task has no title") }

// cannotEditError returns the error for an edit that this format cannot express.
func (f *File) cannotEditError(what string) error {
	return failure.New(failure.Usage, "edit the file, with the loop paused (pawl pause) if one works on it", "%s: %s", clean(f.name), what)
}

// addTask adds a task in the style of the existing ones.
func (f *File) addTask(e plan.Edit, renumber bool) (*File, plan.Edit, error) {
	title := plainLine(e.Title)
	if title == "" {
		return nil, e, errNoTitle(`pawl plan add PLAN "what is to be done"`)
	}
	for _, t := range f.plan.Tasks {
		if t.Title == title || beginsWithID(title) && strings.HasPrefix(strings.TrimLeft(title, "*[("), t.ID) && strings.HasSuffix(title, t.Title) {
			e.Task = t.ID
			return f, e, nil
		}
	}
	if folderFiles(f.data) != nil {
		return nil, e, failure.New(failure.Usage, "backlog task create adds one; it becomes part of the loop", "%s is a folder: a new task is a new file", clean(f.name))
	}
	err := ErrKeepsOrder
	at := e.Place(f.ids(), -1)
	for _, place := range slices.Compact([]int{at, len(f.plan.Tasks)}) {
		for _, data := range f.insertions(place, title) {
			out, decodeErr := Decode(f.name, data)
			if decodeErr != nil {
				continue
			}
			added, ok := f.addedTaskID(out, title, place, renumber)
			if !ok {
				continue
			}
			e.Task = added
			out, err = out.Untick(added) // its group is open again
			return out, e, err
		}
		err = f.cannotEditError("no task can be added there in the format of the others")
	}
	return nil, e, err
}

func (f *File) ids() []string {
	var ids []string
	for _, t := range f.plan.Tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

// addedTaskID reports whether out is this plan with one more task at place and no other change. It
// returns the id of that task.
func (f *File) addedTaskID(out *File, title string, place int, renumber bool) (string, bool) {
	tasks := out.plan.Tasks
	if len(tasks) != len(f.plan.Tasks)+1 || out.plan.Format != f.plan.Format || place >= len(tasks) {
		return "", false
	}
	added := tasks[place]
	rest := slices.Delete(slices.Clone(tasks), place, place+1)
	if added.Done || added.HasSettings() || !strings.HasSuffix(title, added.Title) {
		return "", false
	}
	return added.ID, equalTasks(f.plan.Tasks, rest, renumber)
}

// equalTasks reports whether tasks are equal, except for the fields that depend on their place.
func equalTasks(was, now []plan.Task, renumber bool) bool {
	return slices.EqualFunc(was, now, func(a, b plan.Task) bool {
		if renumber {
			a.ID = b.ID
		}
		for _, t := range []*plan.Task{&a, &b} {
			t.Line, t.Detail, t.Context, t.DependsOn = 0, "", nil, nil
		}
		return reflect.DeepEqual(a, b)
	})
}

// insertions returns versions of the file with a new task at an index. The caller takes the first
// one that reads as expected.
func (f *File) insertions(place int, title string) [][]byte {
	last := len(f.plan.Tasks) - 1
	end := place > last
	if f.locations[last].object != nil {
		return f.objectInsertions(place, title)
	}
	beside, at := f.locations[min(place, last)], 0
	at = beside.block.from
	if end {
		beside = f.locations[last]
		at = f.textEnd(beside.block)
		if beside.root != nil {
			at = max(at, f.textEnd(beside.root.block))
			beside = *beside.root
		}
	}
	var out [][]byte
	for _, text := range f.taskTexts(beside, title) {
		out = append(out, f.splice(region{at, at}, text))
	}
	return out
}

// textEnd returns the end of the last line of a block that is not blank.
func (f *File) textEnd(r region) int {
	return r.from + len(bytes.TrimRight(f.data[r.from:r.to], " \t\r\n")) + f.lineEnd(r)
}

// lineEnd returns how many bytes after a block's text belong to its last line.
func (f *File) lineEnd(r region) int {
	rest := f.data[r.from+len(bytes.TrimRight(f.data[r.from:r.to], " \t\r\n")) : r.to]
	return bytes.IndexByte(rest, '\n') + 1
}

// splice returns the file with a region replaced, using the file's line ends.
func (f *File) splice(r region, text string) []byte {
	head := f.data[:r.from]
	if n := len(head); strings.HasSuffix(text, "\n") && n > 0 && head[n-1] != '\n' { // the last line has no line end
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	if bytes.Contains(f.data, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return slices.Concat(head, []byte(text), f.data[r.to:])
}

// retitle gives a task another title.
func (f *File) retitle(i int, title string) (*File, error) {
	title = plainLine(title)
	t, p := f.plan.Tasks[i], f.locations[i]
	if title == "" {
		return nil, errNoTitle(`pawl plan edit PLAN ID "its new title"`)
	}
	if t.Title == title {
		return f, nil
	}
	if p.object != nil {
		return f.withTitle(i, title, p.head, quoteJSON(title))
	}
	err := f.cannotEditError("the title of task " + clean(t.ID) + " spans several lines")
	for at := p.head.from; ; at++ { // "Task 1: a" has an "a" before the title
		n := bytes.Index(f.data[at:p.head.to], []byte(t.Title))
		if n < 0 {
			break
		}
		at += n
		var out *File
		if out, err = f.withTitle(i, title, region{at, at + len(t.Title)}, title); err == nil {
			return out, nil
		}
	}
	return nil, err
}

// withTitle returns the file with a new title, or an error if anything else would change.
func (f *File) withTitle(i int, title string, r region, text string) (*File, error) {
	want := slices.Clone(f.plan.Tasks)
	want[i].Title = title
	out, err := Decode(f.name, f.splice(r, text))
	if err != nil || !equalTasks(want, out.plan.Tasks, false) {
		return nil, f.cannotEditError("this title would change other parts of the plan")
	}
	return out, nil
}

// move moves a task to another place.
func (f *File) move(i int, e plan.Edit, renumber bool) (*File, error) {
	if folderFiles(f.data) != nil {
		return nil, ErrKeepsOrder
	}
	want := slices.Clone(f.plan.Tasks)
	t := want[i]
	want = slices.Delete(want, i, i+1)
	var ids []string
	for _, other := range want {
		ids = append(ids, other.ID)
	}
	place := e.Place(ids, slices.IndexFunc(want, func(t plan.Task) bool { return !t.Done }))
	if place == i {
		return f, nil
	}
	want = slices.Insert(want, place, t)
	if neighbour := want[max(place-1, 0)]; place > 0 && neighbour.Priority != t.Priority || place == 0 && want[1].Priority != t.Priority {
		return nil, f.cannotEditError(fmt.Sprintf("task %s has a different priority than its neighbours", clean(t.ID)))
	}
	data := f.withBlockMoved(i, place)
	out, err := Decode(f.name, data)
	switch {
	case data == nil || err != nil:
		return nil, f.cannotEditError("task " + clean(t.ID) + " cannot be moved there: it is in another list")
	case equalTasks(want, out.plan.Tasks, renumber):
		return out, nil
	case equalTasks(want, out.plan.Tasks, true):
		return nil, ErrKeepsOrder
	}
	return nil, f.cannotEditError("task " + clean(t.ID) + " cannot be moved there: it belongs to a section or a group")
}

// withBlockMoved returns the file with a task's block moved to the place of another task. It
// returns nil if their lists differ.
func (f *File) withBlockMoved(from, to int) []byte {
	if f.locations[from].object != nil {
		return f.withObjectMoved(from, to)
	}
	b := f.locations[from].block
	b.to = f.textEnd(b)
	text := string(f.data[b.from:b.to])
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	at := 0
	if to <= from {
		at = f.locations[to].block.from
	} else {
		at = f.textEnd(f.locations[to].block)
	}
	if at > b.from && at < b.to {
		return nil
	}
	put := bytes.Clone(f.data[:at])
	if n := len(put); n > 0 && put[n-1] != '\n' {
		put = append(put, '\n')
	}
	grown := len(put) - at + len(text)
	put = slices.Concat(put, []byte(text), f.data[at:])
	if at <= b.from {
		return slices.Delete(put, b.from+grown, b.to+grown)
	}
	return slices.Delete(put, b.from, b.to)
}

// WithMarksOf returns this plan with the marks of another version. A task is done if it is done
// there and asks for the same here.
func (f *File) WithMarksOf(other *File) (*File, error) {
	var done, open []string
	for _, t := range f.plan.Tasks {
		if o, ok := other.plan.Task(t.ID); ok && o.Done && o.AsksForSame(t) {
			done = append(done, t.ID)
		} else {
			open = append(open, t.ID)
		}
	}
	out, err := f.Untick(open...)
	if err != nil {
		return nil, err
	}
	return out.Tick(done...)
}
