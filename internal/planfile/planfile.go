// Package planfile reads plans in the formats that people already have, and sets the done marks in
// them, byte for byte.
//
//	f, err := planfile.Decode("prd.json", data)  // or Load(path)
//	task, ok := f.Plan().Next(nil)
//	f, err = f.Tick(task.ID)                     // a new File; f.Bytes() differs in that mark only
//
// A File holds the bytes as read, and where the marks are in them. Nothing is formatted again, so
// comments, line ends, the order of keys and white space survive. There is a codec for each format:
// checklists (GitHub task lists), ralphex plans, stories (.ralph/PRD-N/plan.md), JSON plans and
// others. Each codec's file says what a task is and where its id comes from. A task without an id
// in the file gets its position: "1" is the first task, done or not.
//
// The text of a plan is hostile input. Ids and titles are returned as one clean line.
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

// The formats, as in plan.Plan.Format.
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

// File is a plan as it is on disk. It does not change: ticking returns a new File.
type File struct {
	name   string
	data   []byte
	reader *Reader // the Reader that caches it, or nil
	parseResult
}

// parseResult is what a codec finds in the bytes.
type parseResult struct {
	plan        plan.Plan
	locations   []taskLocation // for each task
	marks       [][]mark       // for each task; several if the boxes of a section are the mark
	groups      []group        // boxes of groups of tasks
	warnings    []plan.Problem // see File.Warnings
	text        []byte         // see File.Text
	byID        map[string]int // see addDependency
	problems    []plan.Problem // problems that plan.Check does not find
	want        string         // an example of a task, for a plan without tasks
	wantMarks   string         // the known marks, if they are not boxes
	taskRegions []region       // sections of tasks, by their start; boxes elsewhere are ignored. nil = the whole file
	isMarkdown  bool           // ids and settings are in the text of the tasks
}

// region is a part of a file, in bytes.
type region struct{ from, to int }

// mark is where a done mark is and how it is written.
type mark struct {
	at, end    int // the mark's bytes [at, end); empty if it must be inserted
	set        bool
	open, done string
	unknown    string // the mark as written, if it means neither open nor done
	optional   bool   // a star follows the box
}

// group is a box that is not a task: it is set when all its members are done. It does not wait for
// optional members if it has others.
type group struct {
	mark
	members []int // indexes of tasks
}

// waitsFor reports whether a group stays open until this member is done.
func (f *File) waitsFor(g group, member int) bool {
	return !f.plan.Tasks[member].Optional || !slices.ContainsFunc(g.members, func(i int) bool { return !f.plan.Tasks[i].Optional })
}

// checkTasks returns the problems of plan.Check. For Markdown, they say how to write an id.
func (r *parseResult) checkTasks() []plan.Problem {
	found := r.plan.Check()
	for i := range found {
		if found[i].Want == plan.WantKnownID && r.isMarkdown {
			found[i].Want += `, which begins its text ("W1: …") or is named in a comment there (<!-- pawl: id=W1 -->)`
		}
	}
	return found
}

// Decode reads a plan. name is a path: its extension chooses between JSON and Markdown, or the
// content if there is none. Errors read "FILE:LINE: what is wrong: expected …" and wrap an
// *Invalid. Decode keeps data without a copy.
func Decode(name string, data []byte) (*File, error) {
	folder := folderFiles(data) != nil
	if problem, ok := unreadable(data); !ok && !folder {
		return nil, newInvalid(name, problem)
	}
	text := blankBOM(data)
	var r parseResult
	switch {
	case folder:
		r = readBacklog(data)
	case looksLikeYAML(name):
		return nil, newInvalid(name, plan.Problem{Line: 1, Message: "YAML plans are not read", Want: "Markdown (.md) or JSON (.json)"})
	case looksLikeJSON(name, text):
		r = readJSON(text)
	default:
		r = readMarkdown(name, text)
	}
	problems := r.problems
	switch {
	case len(r.plan.Tasks) > 0:
		problems = append(problems, checkIDLengths(r.plan)...)
		problems = append(problems, r.checkTasks()...)
	case len(problems) == 0:
		problems = append(problems, plan.Problem{Line: 1, Message: noTasks, Want: r.want})
	}
	f := &File{name: name, data: data, parseResult: r}
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b plan.Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, f.invalid(problems)
	}
	return f, nil
}

// Plan returns the parsed plan.
func (f *File) Plan() plan.Plan { return f.plan }

// Bytes returns the file with the marks that were set since it was read. Callers must not change
// it.
func (f *File) Bytes() []byte { return f.data }

// Text returns the plan with all marks open, to see whether two versions differ in more than their
// marks. Markdown is the file with every box open. JSON is written in a fixed style without marks,
// so that formatting and the order of keys do not count.
func (f *File) Text() []byte { return f.text }

// Tick marks tasks as done. The new file differs only in their marks and in the boxes of groups
// whose last open task is among them. A done task stays done; an unknown id is an error.
func (f *File) Tick(ids ...string) (*File, error) {
	chosen := make(map[int]bool, len(ids))
	for _, id := range ids {
		i := slices.IndexFunc(f.plan.Tasks, func(t plan.Task) bool { return t.ID == id })
		if i < 0 {
			return nil, errNoTask(f.name, id)
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

// Untick marks tasks as open again, and the boxes of their groups. It ignores unknown ids.
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

// withMarks returns the file with these marks set, or open.
func (f *File) withMarks(edits []mark, done bool) (*File, error) {
	data := applyMarks(f.data, edits, done)
	if bytes.Equal(data, f.data) {
		return f, nil
	}
	return f.derive(data, func() (*File, error) {
		if slices.ContainsFunc(edits, func(m mark) bool { return !m.keepsOffsets() }) {
			return Decode(f.name, data)
		}
		return f.markedInPlace(data, edits, done), nil
	})
}

// keepsOffsets reports whether a change of the mark changes nothing else that was parsed: a box
// with one character, or a JSON value.
func (m mark) keepsOffsets() bool {
	return m.unknown == "" && (m.end-m.at == 1 && len(m.open) == 1 && len(m.done) == 1 || m.isJSONValue())
}

// isJSONValue reports whether the mark is an existing JSON true or false. A change moves all that
// follows it.
func (m mark) isJSONValue() bool { return m.end > m.at && m.open == "false" && m.done == "true" }

// markedInPlace returns what Decode would find in data: this file with these marks set, or open.
// All marks must satisfy keepsOffsets. A changed JSON file has no locations, see withLocations.
func (f *File) markedInPlace(data []byte, edits []mark, done bool) *File {
	to, ends, grown := make(map[int]bool, len(edits)), []int(nil), []int{0}
	for _, e := range edits { // applyMarks has sorted them
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
	if slices.ContainsFunc(edits, mark.isJSONValue) {
		out.locations = nil
	}
	return &out
}

// withLocations returns the file with the locations of its tasks. They are read again only for
// edits, which are far rarer than ticks.
func (f *File) withLocations() (*File, error) {
	if f.locations != nil {
		return f, nil
	}
	whole, err := Decode(f.name, f.data)
	if err == nil {
		whole.reader = f.reader
	}
	return whole, err
}

// text returns the text of a mark.
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

// applyMarks writes marks into a copy of data.
func applyMarks(data []byte, marks []mark, done bool) []byte {
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

// looksLikeJSON reports whether a file is JSON, by its extension or else by how it begins. A
// Markdown file without an extension may begin with "[", but not with JSON up to a brace.
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
