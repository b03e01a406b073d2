// Package planfile reads plans in the formats that people already have, and
// sets the done marks in them, byte for byte.
//
//	f, err := planfile.Decode("prd.json", data)  // or Load(path)
//	task, ok := f.Plan().Next(nil)
//	f, err = f.Tick(task.ID)                     // a new File; f.Bytes() differs in that mark only
//
// A File is the bytes as they were read plus where in them the marks stand;
// nothing is ever printed anew, so comments, line ends, key order and odd white
// space survive. There is a codec for checklists (GitHub task lists), ralphex
// plans, stories (.ralph/PRD-N/plan.md) and the JSON plans; each says in its
// file what a task is there and where its id comes from. A task without an id
// in the file gets its position: "1" is the first task, whatever is done.
//
// What a plan says is hostile text. Ids and titles come out as one clean line.
package planfile

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// The formats, as they stand in plan.Plan.Format.
const (
	Checklist   = "checklist"   // Markdown with task lists
	Ralphex     = "ralphex"     // Markdown with "### Task N:" sections
	PRD         = "prd"         // Markdown with stories, "### [ ] US-001: Title"
	SpecKit     = "speckit"     // Markdown of spec-kit, tasks T001 in phases
	Kiro        = "kiro"        // Markdown of Kiro, .kiro/specs/NAME/tasks.md
	OpenSpec    = "openspec"    // Markdown of OpenSpec, openspec/changes/ID/tasks.md
	PRDJSON     = "prdjson"     // JSON, {"userStories": [{"passes": false}]}
	FeatureList = "featurelist" // JSON, [{"passes": false}] or {"features": […]}
	Ralphy      = "ralphy"      // JSON, {"tasks": [{"completed": false}]}
	Backlog     = "backlog"     // a folder of Backlog.md, a file for each task
	TaskMaster  = "taskmaster"  // JSON, {"TAG": {"tasks": [{"status": "pending"}]}}
)

// MaxSize is the largest plan that is read, in bytes.
const MaxSize = 20 << 20

// File is a plan as it stands on disk. It does not change: ticking makes
// another one.
type File struct {
	name string
	data []byte
	by   *Reader // nil: nobody keeps it
	reading
}

// reading is what a codec finds in the bytes.
type reading struct {
	plan     plan.Plan
	parts    []part         // for each task
	marks    [][]mark       // for each task of the plan; more than one where a section's boxes are the mark
	groups   []group        // boxes that stand for other tasks
	notes    []plan.Problem // what a user should know of, and is not wrong
	text     []byte         // see File.Text
	byID     map[string]int // see depend
	problems []plan.Problem // what is wrong in the file, beyond what plan.Check finds
	want     string         // what a task looks like here, for a plan that has none
	wantMark string         // the marks that are known, where they are not boxes
	regions  []region       // where the boxes of tasks stand, by their start; none: everywhere
	markdown bool           // ids and settings stand in the text of the tasks
}

// region is a part of a file, in bytes.
type region struct{ from, to int }

// mark is where a done mark stands and how it is written.
type mark struct {
	at, end    int // bytes [at, end) are the mark; empty where it must be put in first
	set        bool
	open, done string
	odd        string // the box as written, where its mark is none that says open or done
	optional   bool   // a star stands behind the box
}

// group is a box that is not a task itself: it is set when all its members are, and
// need not wait for optional ones.
type group struct {
	mark
	members []int // indexes of tasks
}

// waitsFor reports whether a group stays open until a task of it is done.
func (f *File) waitsFor(g group, member int) bool {
	return !f.plan.Tasks[member].Optional || !slices.ContainsFunc(g.members, func(i int) bool { return !f.plan.Tasks[i].Optional })
}

// checked is what is wrong with the tasks as such. Of Markdown it says how to name one.
func (r *reading) checked() []plan.Problem {
	found := r.plan.Check()
	for i := range found {
		if found[i].Want == plan.WantKnownID && r.markdown {
			found[i].Want += `, which begins its text ("W1: …") or is named in a comment there (<!-- pawl: id=W1 -->)`
		}
	}
	return found
}

// Decode reads a plan. The name, a path, chooses between JSON and Markdown by
// its extension (by the content where it has none), and stands in errors, which
// read "FILE:LINE: what is wrong: expected …" and hold an *Invalid. The data
// is kept, not copied.
func Decode(name string, data []byte) (*File, error) {
	folder := folderFiles(data) != nil
	if problem, ok := unreadable(data); !ok && !folder {
		return nil, invalid(name, problem)
	}
	text := blankBOM(data)
	var r reading
	switch {
	case folder:
		r = readBacklog(data)
	case looksLikeYAML(name):
		return nil, invalid(name, plan.Problem{Line: 1, Message: "YAML plans are not read", Want: "Markdown (.md) or JSON (.json)"})
	case looksLikeJSON(name, text):
		r = readJSON(text)
	default:
		r = readMarkdown(name, text)
	}
	problems := r.problems
	switch {
	case len(r.plan.Tasks) > 0:
		problems = append(problems, longIDs(r.plan)...)
		problems = append(problems, r.checked()...)
	case len(problems) == 0:
		problems = append(problems, plan.Problem{Line: 1, Message: noTasks, Want: r.want})
	}
	f := &File{name: name, data: data, reading: r}
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b plan.Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, f.invalid(problems)
	}
	return f, nil
}

// Plan is what the file says.
func (f *File) Plan() plan.Plan { return f.plan }

// Bytes is the file, as it was read or with the marks that were set since. The
// caller does not write to it.
func (f *File) Bytes() []byte { return f.data }

// Text is the plan with all its marks open, to tell whether anything but marks
// differs between two versions of a file. Of Markdown it is the file itself with
// every box open; of JSON it is the same values written in one way, without the
// marks, so that formatting and the order of keys do not count.
func (f *File) Text() []byte { return f.text }

// Tick marks tasks as done. The new file differs in their marks alone, and in
// the box of a group whose last open task is one of them. A task that is done
// stays as it is; an id that is not in the plan is an error.
func (f *File) Tick(ids ...string) (*File, error) {
	chosen := make(map[int]bool, len(ids))
	for _, id := range ids {
		i := slices.IndexFunc(f.plan.Tasks, func(t plan.Task) bool { return t.ID == id })
		if i < 0 {
			return nil, noTask(f.name, id)
		}
		chosen[i] = true
	}
	var edits []mark
	for i := range chosen {
		if !f.plan.Tasks[i].Done {
			edits = append(edits, f.marks[i]...)
		}
	}
	for _, g := range f.groups {
		touched := slices.ContainsFunc(g.members, func(i int) bool { return chosen[i] })
		remains := slices.ContainsFunc(g.members, func(i int) bool { return !chosen[i] && !f.plan.Tasks[i].Done && f.waitsFor(g, i) })
		if touched && !remains {
			edits = append(edits, g.mark)
		}
	}
	return f.withMarks(edits, true)
}

// Untick marks tasks as open again, and with them the box of a group that one of
// them is in. An id that is not in the plan is left out.
func (f *File) Untick(ids ...string) (*File, error) {
	var edits []mark
	for i, t := range f.plan.Tasks {
		if t.Done && slices.Contains(ids, t.ID) {
			edits = append(edits, f.marks[i]...)
		}
	}
	for _, g := range f.groups {
		if slices.ContainsFunc(g.members, func(i int) bool { return slices.Contains(ids, f.plan.Tasks[i].ID) && f.waitsFor(g, i) }) {
			edits = append(edits, g.mark)
		}
	}
	return f.withMarks(edits, false)
}

// withMarks is the file with these marks set, or open.
func (f *File) withMarks(edits []mark, done bool) (*File, error) {
	data := apply(f.data, edits, done)
	if bytes.Equal(data, f.data) {
		return f, nil
	}
	return f.again(data, func() (*File, error) {
		if slices.ContainsFunc(edits, func(m mark) bool { return !m.inPlace() }) {
			return Decode(f.name, data)
		}
		return f.marked(data, edits, done), nil
	})
}

// inPlace reports whether setting or opening a mark changes nothing that is read but the
// mark: that of a box is one character, that of JSON false or true.
func (m mark) inPlace() bool {
	return m.odd == "" && (m.end-m.at == 1 && len(m.open) == 1 && len(m.done) == 1 || m.ofJSON())
}

// ofJSON reports whether a mark is one of JSON that is there. Then to set it moves what stands
// behind it.
func (m mark) ofJSON() bool { return m.end > m.at && m.open == "false" && m.done == "true" }

// marked is what Decode finds in data, which is this file with these marks set, or open, all
// of them in place. Of JSON it has no parts, see withParts.
func (f *File) marked(data []byte, edits []mark, done bool) *File {
	to, ends, grown := make(map[int]bool, len(edits)), []int(nil), []int{0}
	for _, e := range edits { // in their order: apply sorts them
		to[e.at] = true
		if e.set != done {
			ends, grown = append(ends, e.end), append(grown, grown[len(grown)-1]+len(e.text(done))-(e.end-e.at))
		}
	}
	moved := func(at int) int {
		before, _ := slices.BinarySearch(ends, at+1)
		return at + grown[before]
	}
	after := func(m mark) mark {
		if to[m.at] {
			m.set = done
		}
		m.at, m.end = moved(m.at), moved(m.end)
		return m
	}
	out := *f
	out.data, out.plan.Tasks, out.marks, out.groups = data, slices.Clone(f.plan.Tasks), slices.Clone(f.marks), slices.Clone(f.groups)
	for i, marks := range out.marks {
		marks = slices.Clone(marks)
		for j, m := range marks {
			marks[j] = after(m)
		}
		if !slices.Equal(marks, out.marks[i]) {
			out.marks[i], out.plan.Tasks[i].Done = marks, allSet(marks)
		}
	}
	for i, g := range out.groups {
		out.groups[i].mark = after(g.mark)
	}
	if slices.ContainsFunc(edits, mark.ofJSON) {
		out.parts = nil
	}
	return &out
}

// withParts is the file with the places of its tasks. A plan is edited far less often than
// its tasks are marked.
func (f *File) withParts() (*File, error) {
	if f.parts != nil {
		return f, nil
	}
	whole, err := Decode(f.name, f.data)
	if err == nil {
		whole.by = f.by
	}
	return whole, err
}

// text is how a mark is written.
func (m mark) text(done bool) string {
	if done {
		return m.done
	}
	return m.open
}

// allSet reports whether a task with these marks is done.
func allSet(marks []mark) bool {
	return !slices.ContainsFunc(marks, func(m mark) bool { return !m.set })
}

// apply writes marks into a copy of data.
func apply(data []byte, marks []mark, done bool) []byte {
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	var out bytes.Buffer
	last := 0
	for _, m := range marks {
		if m.set == done {
			continue
		}
		out.Write(data[last:m.at])
		out.WriteString(m.text(done))
		last = m.end
	}
	out.Write(data[last:])
	return out.Bytes()
}

// looksLikeJSON decides by the extension, then by how the content begins. A
// Markdown file without an extension may begin with "[", but not be valid JSON
// up to a brace.
func looksLikeJSON(name string, data []byte) bool {
	switch extension(name) {
	case ".json":
		return true
	case ".md", ".markdown", ".mdown", ".mdx":
		return false
	}
	data = bytes.TrimSpace(data)
	if list, ok := bytes.CutPrefix(data, []byte("[")); ok {
		data = bytes.TrimSpace(list)
		if bytes.HasPrefix(data, []byte("]")) {
			return len(data) == 1
		}
	}
	return bytes.HasPrefix(data, []byte("{"))
}

func looksLikeYAML(name string) bool {
	return extension(name) == ".yaml" || extension(name) == ".yml"
}

func extension(name string) string {
	return strings.ToLower(path.Ext(filepath.ToSlash(name)))
}
