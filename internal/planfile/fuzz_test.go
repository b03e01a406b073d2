package planfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
)

func FuzzMarkdown(f *testing.F) {
	seed(f, ".md")
	for _, s := range []string{
		"- [ ] a", "1. [ ] a\r\n   - [x] b\r\n   - [ ] c\r\n", "> * [ ] a\n>   + [ ] b\n", "\ufeff- [ ] a\n",
		"- - [ ] a\n", "-\t[\t] a\n", "Head\n===\n\n[ ] Story\n---\n- [ ] a", "### Task 1:\n- [ ] a\n### Task 1: b",
		"- [ ] a <!-- pawl: id=x depends_on=x -->", "### [ ] US-1: a\n", "- [ ] US-1: a\n## US-1\n- [ ] b",
		"---\n---\n- [ ] a\n", "- [ ] a\n  # h\n  - [x] b\n", "- [ ] a\n- [/] b [ ] c\n",
		"- [ ] 1. a\n- [ ] 1.1 b\n- [ ]* 1.2 c\n- [ ] 2. d", "- [ ] T01 a\n- [ ] T01 b\n", "- [ ] #1 a\n- [ ] 2\n", "- [ ] 2. a\n- [ ] b\n",
		"## Phase 1\n- [ ] T001 a\n## Phase 2\n- [ ] T002 [P] [US1] b (depends on T001, T003)\n", "- [ ] 1. a\n  - _Requirements: 1.1_\n  - _Depends: 2_\n- [-] 2. b\n",
		"- [ ] a\n```\n- [ ] b\n```\n[ ] c\n<div>\n- [ ] d\n", "# P\ntext\n## S\nmore\n- [ ] a\n\nafter\n## T\nlast\n",
		"- [] a\n- [~] b\n  - [ ]* c\n- [✔️]d\n- [  ] e\n", "### Task 1:\n- [] a\n  - [-] b\n", "### [~] US-1: a\n- [] b\n",
	} {
		f.Add([]byte(s), uint(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint) { laws(t, "plan.md", data, n) })
}

func FuzzJSON(f *testing.F) {
	seed(f, ".json")
	for _, s := range []string{
		`[{"description":"a"}]`, `{"m":{"tasks":[{"id":1,"title":"a","status":"pending","subtasks":[{"id":1},{"id":2,"status":"done","dependencies":[1]}]},{"id":2,"status":"x","dependencies":[1]}]}}`, `{"features":[{"id":1,"name":"a","passes":null},{"title":"b","completed":true}]}`,
		"\ufeff[\n {\n  \"title\" : \"a\"\n }\n]\n", `{"tasks":[{"title":"a","passes":true,"passes":false}]}`,
		`{"userStories":[{"id":"a","title":"b","dependsOn":"a","evidence":"x"}]}`, `[]`, `{`, ``, `[{"title":"a"},`,
	} {
		f.Add([]byte(s), uint(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint) { laws(t, "plan.json", data, n) })
}

func FuzzFolder(f *testing.F) {
	if data, err := planfile.Read(filepath.Join("testdata", "projects", "backlog", "backlog", "tasks")); err == nil {
		f.Add(data, uint(2))
	}
	for _, s := range []string{
		"\x00a.md\n---\nid: a\nstatus: To Do\n---\n", "\x00../config.yml\nstatuses:\n  - 'Open'\n  - \"Shut\"\n\x00a.md\n---\nid: a\nstatus: \"open\"\nparent: a\n---\n",
		"\x00a.md\n---\nid: a\nstatus:\ndependencies: [b]\n---\n<!-- AC:BEGIN --><!-- AC:END -->\x00b.md\n---\r\nid: 'b'\r\nstatus: Done # x\r\nupdated_date: 1\r\n---\r\n", "\x00", "\x00\x00a",
	} {
		f.Add([]byte(s), uint(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint) {
		if bytes.HasPrefix(data, []byte("\x00")) {
			laws(t, "backlog/tasks", data, n)
		}
	})
}

func seed(f *testing.F, ext string) {
	for _, path := range plans(f) {
		if data, err := os.ReadFile(path); err == nil && strings.HasSuffix(path, ext) {
			f.Add(data, uint(2))
		}
	}
}

// laws checks a file: either Decode refuses it and says where and what it expected, or it keeps the
// bytes, and a tick of any task changes nothing else.
func laws(t *testing.T, name string, data []byte, n uint) {
	t.Helper()
	f, err := planfile.Decode(name, bytes.Clone(data))
	if err != nil {
		refusal(t, err)
		return
	}
	if !bytes.Equal(f.Bytes(), data) {
		t.Fatal("the bytes are not those that were read")
	}
	p := f.Plan()
	task := p.Tasks[n%uint(len(p.Tasks))]
	done, err := f.Tick(task.ID)
	if err != nil {
		t.Fatalf("tick: %v", err)
	}
	switch {
	case strings.HasSuffix(name, ".md"):
		onlyBoxes(t, data, done.Bytes())
	case f.Plan().Format == planfile.Backlog: // the criteria change too; Text covers them
	case f.Plan().Format == planfile.TaskMaster: // the parent's status changes too; Text covers it
	case !task.Done:
		onlyOneToken(t, data, done.Bytes())
	case !bytes.Equal(done.Bytes(), data):
		t.Fatalf("a task that is done was changed:\n%s", done.Bytes())
	}
	want := p
	want.Tasks = append([]plan.Task{}, p.Tasks...)
	want.Tasks[n%uint(len(p.Tasks))].Done = true
	if diff := cmp.Diff(want, done.Plan(), cmpopts.IgnoreFields(plan.Task{}, "Line")); diff != "" {
		t.Fatalf("a tick changed more than that mark (-want +got):\n%s", diff)
	}
	readAsMarked(t, name, f)
	if !bytes.Equal(done.Text(), f.Text()) {
		t.Fatalf("a tick changed the text:\n%s\nto:\n%s", f.Text(), done.Text())
	}
	converts(t, p)
	editLaws(t, f, task)
	if strings.HasSuffix(name, ".md") && p.Format != planfile.PRD {
		nothingDropped(t, f)
	}
}

// readAsMarked checks that a plan with new marks equals what Decode reads from its bytes.
func readAsMarked(t *testing.T, name string, f *planfile.File) {
	t.Helper()
	for i, task := range f.Plan().Tasks {
		if i >= 8 {
			return // each step continues from the last one
		}
		for _, change := range []func(...string) (*planfile.File, error){f.Untick, f.Tick} {
			marked, err := change(task.ID)
			if err != nil {
				t.Fatalf("mark task %s: %v", task.ID, err)
			}
			again, err := planfile.Decode(name, bytes.Clone(marked.Bytes()))
			if err != nil {
				t.Fatalf("read what was marked: %v", err)
			}
			if !planfile.SameReading(marked, again) {
				t.Fatalf("task %s marked is another plan than that of its bytes:\n%s", task.ID, marked.Bytes())
			}
			f = marked
		}
	}
}

var (
	openBox   = regexp.MustCompile(`^[-*+] \[ \]\*? \S`)
	commented = regexp.MustCompile(`(?s)<!--.*?-->|\A\x{feff}? {0,3}---[ \t]*\r?\n(.*?\n)??---[ \t]*(\r?\n|$)`)
)

// nothingDropped checks that once all tasks are ticked, lines that still look open have warnings.
func nothingDropped(t *testing.T, f *planfile.File) {
	t.Helper()
	named := map[int]bool{}
	for _, p := range f.Warnings() {
		named[p.Line] = true
	}
	var ids []string
	for _, task := range f.Plan().Tasks {
		ids = append(ids, task.ID)
	}
	done, err := f.Tick(ids...)
	if err != nil {
		t.Fatal(err)
	}
	text := commented.ReplaceAllFunc(done.Bytes(), func(c []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(c, []byte("\n"))) })
	n := 0
	for line := range bytes.Lines(text) {
		if n++; openBox.Match(line) && !named[n] {
			t.Fatalf("line %d was dropped: %s", n, line)
		}
	}
}

func refusal(t *testing.T, err error) {
	t.Helper()
	var invalid *planfile.Invalid
	if !errors.As(err, &invalid) || failure.CodeOf(err) != failure.Usage || failure.Hint(err) == "" {
		t.Fatalf("error without a hint or a code: %v", err)
	}
	for _, p := range invalid.Problems {
		if p.Message == "" || p.Want == "" || strings.ContainsAny(p.Message, "\n\x1b") {
			t.Fatalf("problem %+v", p)
		}
	}
}

// onlyBoxes checks that all differences are in brackets, and are an x now.
func onlyBoxes(t *testing.T, old, now []byte) {
	t.Helper()
	for len(old) > 0 && len(now) > 0 {
		if old[0] == now[0] {
			old, now = old[1:], now[1:]
			continue
		}
		end := bytes.IndexByte(old, ']')
		if end < 0 || bytes.ContainsAny(old[:end], "[\n") || !bytes.HasPrefix(now, []byte("x]")) && !bytes.HasPrefix(now, []byte("X]")) {
			t.Fatalf("%q became %q", old, now)
		}
		old, now = old[end:], now[1:]
	}
	if len(old) > 0 || len(now) > 0 {
		t.Fatalf("%q became %q", old, now)
	}
}

// onlyOneToken checks that one mark became true or was inserted.
func onlyOneToken(t *testing.T, old, now []byte) {
	t.Helper()
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	switch string(old) + ">" + string(now) {
	case "fals>tru", "null>true":
	default:
		if len(old) > 0 || !bytes.Contains(now, []byte("true")) {
			t.Fatalf("%q became %q", old, now)
		}
	}
}

// converts checks that a plan keeps what a loop uses in every format.
func converts(t *testing.T, p plan.Plan) {
	t.Helper()
	for _, format := range planfile.Convertible() {
		out, err := planfile.Convert(p, format)
		if err != nil {
			if failure.Hint(err) == "" {
				t.Fatalf("convert to %s: %v, without a hint", format, err)
			}
			continue
		}
		f, err := planfile.Decode("", out)
		if err != nil {
			t.Fatalf("convert to %s: %v:\n%s", format, err, out)
		}
		if f.Plan().Format != format {
			t.Fatalf("convert to %s made a %s:\n%s", format, f.Plan().Format, out)
		}
		prose := cmpopts.IgnoreFields(plan.Task{}, "Line", "Title", "Detail", "Criteria", "Context")
		if diff := cmp.Diff(p.Tasks, f.Plan().Tasks, prose, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("convert to %s (-want +got):\n%s\n%s", format, diff, out)
		}
	}
}
