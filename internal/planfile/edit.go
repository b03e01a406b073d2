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

// part is where a task stands in the file.
type part struct {
	block region // all of it: the item with what is below it, the section
	head  region // where its title is written; of JSON: the value
	box   int    // offset behind the bracket of its box, -1 without one
	id    string // the id as it is written before the title, "" for none
	root  *part  // the outermost task or group that it is in
	// Of JSON: the object, and the list that it stands in.
	object, list *value
}

// ErrNumbers says that the order in the file stays as it is: the tasks have no ids of
// their own and would get other numbers, or they are files.
var ErrNumbers = errors.New("the order in the plan stays as it is: its tasks are known by their place, or are files")

// Edit makes an edit in the plan's own format, and returns the edit with the id of the
// new task. What is so already stays. Tasks keep their ids, or the error is
// ErrNumbers; unless the edit may renumber them, since nothing goes by the ids yet.
func (f *File) Edit(e plan.Edit, renumber bool) (*File, plan.Edit, error) {
	f, err := f.withParts()
	if err != nil {
		return nil, e, err
	}
	for _, id := range []string{e.Before, e.After} {
		switch {
		case id == "":
		case !slices.Contains(f.ids(), id):
			return nil, e, noTask(f.name, id)
		case id == e.Task && e.Do == plan.Move:
			return nil, e, failure.New(failure.Usage, "name another task", "task %s cannot be placed beside itself", clean(id))
		}
	}
	switch e.Do {
	case plan.Add:
		return f.addTask(e, renumber)
	case plan.Retitle, plan.Move, plan.Reopen, plan.Skip, plan.Retry:
	default:
		return nil, e, fmt.Errorf("no file can be edited by %q", e.Do)
	}
	i := slices.IndexFunc(f.plan.Tasks, func(t plan.Task) bool { return t.ID == e.Task })
	if i < 0 {
		return nil, e, noTask(f.name, e.Task)
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

func noTask(name, id string) error {
	return failure.New(failure.Usage, "pawl plan show "+clean(name)+" lists its tasks", "%s has no task %q", clean(name), id)
}

func noTitle(hint string) error { return failure.New(failure.Usage, hint, "the task has no title") }

// cannot says that an edit is beyond what is written in this format.
func (f *File) cannot(what string) error {
	return failure.New(failure.Usage, "edit the file, with the loop paused (pawl pause) if one works on it", "%s: %s", clean(f.name), what)
}

// addTask adds a task in the manner of those that are there.
func (f *File) addTask(e plan.Edit, renumber bool) (*File, plan.Edit, error) {
	title := inert(e.Title)
	if title == "" {
		return nil, e, noTitle(`pawl plan add PLAN "what is to be done"`)
	}
	for _, t := range f.plan.Tasks {
		if t.Title == title || bringsID(title) && strings.HasPrefix(strings.TrimLeft(title, "*[("), t.ID) && strings.HasSuffix(title, t.Title) {
			e.Task = t.ID
			return f, e, nil
		}
	}
	if folderFiles(f.data) != nil {
		return nil, e, failure.New(failure.Usage, "backlog task create adds one; it becomes part of the loop", "%s is a folder: a new task is a new file", clean(f.name))
	}
	err := ErrNumbers
	at := e.Place(f.ids(), -1)
	for _, place := range slices.Compact([]int{at, len(f.plan.Tasks)}) {
		for _, data := range f.withTask(place, title) {
			out, decodeErr := Decode(f.name, data)
			if decodeErr != nil {
				continue
			}
			added, ok := f.grewTo(out, title, place, renumber)
			if !ok {
				continue
			}
			e.Task = added
			out, err = out.Untick(added) // a group is open again
			return out, e, err
		}
		err = f.cannot("no task can be added there in the manner of the others")
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

// grewTo reports whether a plan is this one with one more task, and nothing else. It
// returns the id of that task.
func (f *File) grewTo(out *File, title string, place int, renumber bool) (string, bool) {
	tasks := out.plan.Tasks
	if len(tasks) != len(f.plan.Tasks)+1 || out.plan.Format != f.plan.Format || place >= len(tasks) {
		return "", false
	}
	added := tasks[place]
	rest := slices.Delete(slices.Clone(tasks), place, place+1)
	if added.Done || added.Evidence != "" || len(added.Scope) > 0 || added.AllowTestChanges || !strings.HasSuffix(title, added.Title) {
		return "", false
	}
	return added.ID, sameTasks(f.plan.Tasks, rest, renumber)
}

// sameTasks compares tasks, but for their marks and what follows from their place.
func sameTasks(was, now []plan.Task, renumber bool) bool {
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

// withTask are the versions of the file with one more task before that index, of which
// the first one that reads well is to be taken.
func (f *File) withTask(place int, title string) [][]byte {
	last := len(f.plan.Tasks) - 1
	end := place > last
	if f.parts[last].object != nil {
		return f.withObject(place, title)
	}
	beside, at := f.parts[min(place, last)], 0
	at = beside.block.from
	if end {
		beside = f.parts[last]
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

// textEnd is where the last line of a block ends that says something.
func (f *File) textEnd(r region) int {
	return r.from + len(bytes.TrimRight(f.data[r.from:r.to], " \t\r\n")) + f.lineEnd(r)
}

// lineEnd is the length of the line end behind the text of a block.
func (f *File) lineEnd(r region) int {
	rest := f.data[r.from+len(bytes.TrimRight(f.data[r.from:r.to], " \t\r\n")) : r.to]
	return bytes.IndexByte(rest, '\n') + 1
}

// splice is the file with a part of it replaced. Lines have the file's ends.
func (f *File) splice(r region, text string) []byte {
	head := f.data[:r.from]
	if n := len(head); strings.HasSuffix(text, "\n") && n > 0 && head[n-1] != '\n' { // the last line has no end
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	if bytes.Contains(f.data, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return slices.Concat(head, []byte(text), f.data[r.to:])
}

// retitle gives a task another title.
func (f *File) retitle(i int, title string) (*File, error) {
	title = inert(title)
	t, p := f.plan.Tasks[i], f.parts[i]
	if title == "" {
		return nil, noTitle(`pawl plan edit PLAN ID "its new title"`)
	}
	if t.Title == title {
		return f, nil
	}
	if p.object != nil {
		return f.retitled(i, title, p.head, quoteJSON(title))
	}
	err := f.cannot("the title of task " + clean(t.ID) + " stands on several lines")
	for at := p.head.from; ; at++ { // it may occur before the title, as in "Task 1: a"
		n := bytes.Index(f.data[at:p.head.to], []byte(t.Title))
		if n < 0 {
			break
		}
		at += n
		var out *File
		if out, err = f.retitled(i, title, region{at, at + len(t.Title)}, title); err == nil {
			return out, nil
		}
	}
	return nil, err
}

// retitled is the file with a title put in, if nothing else changes with it.
func (f *File) retitled(i int, title string, r region, text string) (*File, error) {
	want := slices.Clone(f.plan.Tasks)
	want[i].Title = title
	out, err := Decode(f.name, f.splice(r, text))
	if err != nil || !sameTasks(want, out.plan.Tasks, false) {
		return nil, f.cannot("with this title the plan would mean something else")
	}
	return out, nil
}

// move puts a task to another place.
func (f *File) move(i int, e plan.Edit, renumber bool) (*File, error) {
	if folderFiles(f.data) != nil {
		return nil, ErrNumbers
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
		return nil, f.cannot(fmt.Sprintf("task %s has another priority than its neighbours", clean(t.ID)))
	}
	data := f.moved(i, place)
	out, err := Decode(f.name, data)
	switch {
	case data == nil || err != nil:
		return nil, f.cannot("task " + clean(t.ID) + " cannot be moved there: it is in another list")
	case sameTasks(want, out.plan.Tasks, renumber):
		return out, nil
	case sameTasks(want, out.plan.Tasks, true):
		return nil, ErrNumbers
	}
	return nil, f.cannot("task " + clean(t.ID) + " cannot be moved there: it belongs to a section or a group")
}

// moved is the file with the block of a task before that of another; nil if they stand
// in different lists.
func (f *File) moved(from, to int) []byte {
	if f.parts[from].object != nil {
		return f.movedObject(from, to)
	}
	b := f.parts[from].block
	b.to = f.textEnd(b)
	text := string(f.data[b.from:b.to])
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	at := 0
	if to <= from {
		at = f.parts[to].block.from
	} else {
		at = f.textEnd(f.parts[to].block)
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

// MarkedAs is this version of a plan with the marks of another one: done is what is done
// there, and asks for the same here.
func (f *File) MarkedAs(other *File) (*File, error) {
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
