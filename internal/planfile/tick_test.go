package planfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
)

func decode(t *testing.T, name, data string) *planfile.File {
	t.Helper()
	f, err := planfile.Decode(name, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTickSetsTheCheckbox(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, file, before, ids, after string
	}{
		{"one of several", "p.md", "- [ ] a\n- [ ] b\n- [ ] c\n", "2", "- [ ] a\n- [x] b\n- [ ] c\n"},
		{"two at once", "p.md", "- [ ] a\n- [ ] b\n", "1 2", "- [x] a\n- [x] b\n"},
		{"done already", "p.md", "- [X] a\n- [ ] b\n", "1", "- [X] a\n- [ ] b\n"},
		{"CRLF and no line end", "p.md", "\ufeff# P\r\n\r\n* [ ] a\r\n* [ ] b", "2", "\ufeff# P\r\n\r\n* [ ] a\r\n* [x] b"},
		{"ordered, quoted", "p.md", "> 1. [ ] a\n> 2) [ ] b\n", "1", "> 1. [x] a\n> 2) [ ] b\n"},
		{"in work", "p.md", "- [/] a\n", "1", "- [x] a\n"},
		{"cancelled", "p.md", "- [-] a\n- [ ] b\n", "1", "- [x] a\n- [ ] b\n"},
		{"half done", "p.md", "- [~] a\n", "1", "- [x] a\n"},
		{"optional", "p.md", "- [ ]* a\n", "1", "- [x]* a\n"},
		{"an empty box", "p.md", "- [] a\n- [  ] b\n", "1 2", "- [x] a\n- [x] b\n"},
		{"no blank behind it", "p.md", "- [ ]a\n", "1", "- [x]a\n"},
		{"a sign", "p.md", "- [✔️] a\n- [?] b\n", "1", "- [x] a\n- [?] b\n"},
		{"blanks around an x", "p.md", "- [ x ] a\n- [ ] b\n", "1 2", "- [ x ] a\n- [x] b\n"},
		{"a story in doubt", "p.md", "### [~] US-001: a\n- [-] b\n", "US-001", "### [x] US-001: a\n- [-] b\n"},
		{"a numbered heading", "p.md", "## [1] Set-up\n- [ ] a\n", "1", "## [1] Set-up\n- [x] a\n"},
		{"odd boxes of a section", "p.md", "### Task 1: a\n- [-] b\n  - [] c\n", "1", "### Task 1: a\n- [x] b\n  - [x] c\n"},
		{"an optional task of a group", "p.md", "- [ ] g\n  - [ ] a\n  - [ ]* b\n", "1", "- [x] g\n  - [x] a\n  - [ ]* b\n"},
		{"a group of optional tasks", "p.md", "- [ ]* g\n  - [ ] a\n  - [ ] b\n", "1", "- [ ]* g\n  - [x] a\n  - [ ] b\n"},
		{"numbers of a flat list", "p.md", "- [ ] 1. g\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 2. c\n", "1.1 1.2", "- [x] 1. g\n- [x] 1.1 a\n- [x] 1.2 b\n- [ ] 2. c\n"},
		{"spec-kit", "specs/001-a/tasks.md", "- [x] T001 a\r\n- [ ] T002 b\r\n", "T001 T002", "- [x] T001 a\r\n- [X] T002 b\r\n"},
		{"Kiro, in work", ".kiro/specs/a/tasks.md", "- [-] 1. g\n  - [~] 1.1 a\n  - [ ]* 1.2 b\n", "1.1", "- [x] 1. g\n  - [x] 1.1 a\n  - [ ]* 1.2 b\n"},
		{
			"task-master", "t.json", `{"m":{"tasks":[{"id":2,"title":"a","status":"in-progress","subtasks":[{"id":1,"title":"b","status":"done"},{"id":2,"title":"c"}]}]}}`, "2.2",
			`{"m":{"tasks":[{"id":2,"title":"a","status":"done","subtasks":[{"id":1,"title":"b","status":"done"},{"id":2,"title":"c","status":"done"}]}]}}`,
		},
		{"brackets in the title", "p.md", "- [ ] a [ ] b\n", "1", "- [x] a [ ] b\n"},
		{"same titles", "p.md", "- [ ] a\n- [ ] a\n", "2", "- [ ] a\n- [x] a\n"},
		{"a group waits for its last", "p.md", "- [ ] g\n  - [ ] a\n  - [ ] b\n", "1", "- [ ] g\n  - [x] a\n  - [ ] b\n"},
		{"a group is set with its last", "p.md", "- [ ] g\n  - [x] a\n  - [ ] b\n", "2", "- [x] g\n  - [x] a\n  - [x] b\n"},
		{"groups in groups", "p.md", "- [ ] g\n  - [ ] h\n    - [ ] a\n  - [ ] b\n", "1", "- [ ] g\n  - [x] h\n    - [x] a\n  - [ ] b\n"},
		{"a group that is set too early stays", "p.md", "- [x] g\n  - [ ] a\n  - [ ] b\n", "1", "- [x] g\n  - [x] a\n  - [ ] b\n"},
		{"all boxes of a section", "p.md", "### Task 1: a\n- [ ] b\n- [x] c\n  - [ ] d\n### Task 2: e\n- [ ] f\n", "1", "### Task 1: a\n- [x] b\n- [x] c\n  - [x] d\n### Task 2: e\n- [ ] f\n"},
		{"the heading of a story", "p.md", "### [ ] US-001: a\n- [ ] b\n", "US-001", "### [x] US-001: a\n- [ ] b\n"},
		{"JSON, odd white space", "p.json", "[{\"title\":\"a\",\"passes\"\n :\tfalse }]", "1", "[{\"title\":\"a\",\"passes\"\n :\ttrue }]"},
		{"JSON, the same text elsewhere", "p.json", `[{"title":"\"passes\": false","passes":false}]`, "1", `[{"title":"\"passes\": false","passes":true}]`},
		{"JSON, not that of another object", "p.json", `[{"meta":{"passes":false},"title":"a","passes":false}]`, "1", `[{"meta":{"passes":false},"title":"a","passes":true}]`},
		{"JSON, the last of two", "p.json", `[{"title":"a","passes":false,"passes":false}]`, "1", `[{"title":"a","passes":false,"passes":true}]`},
		{"JSON, null", "p.json", `[{"title":"a","passes":null}]`, "1", `[{"title":"a","passes":true}]`},
		{"JSON, no mark, one line", "p.json", `[{"title":"a"}]`, "1", `[{"title":"a","passes":true}]`},
		{"JSON, no mark, spaced", "p.json", `[{ "id": 1, "title": "a" }]`, "1", `[{ "id": 1, "title": "a", "passes": true }]`},
		{"JSON, no mark, lines", "p.json", "[\r\n  {\r\n    \"title\": \"a\"\r\n  }\r\n]\r\n", "1", "[\r\n  {\r\n    \"title\": \"a\",\r\n    \"passes\": true\r\n  }\r\n]\r\n"},
		{"JSON, byte order mark", "p.json", "\ufeff" + `[{"title":"a","passes":false}]`, "1", "\ufeff" + `[{"title":"a","passes":true}]`},
		{"ralphy's name for it", "p.json", `{"tasks":[{"title":"a"},{"title":"b","completed":false}]}`, "1 2", `{"tasks":[{"title":"a","completed":true},{"title":"b","completed":true}]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := decode(t, c.file, c.before)
			ticked, err := f.Tick(strings.Fields(c.ids)...)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(ticked.Bytes()); got != c.after {
				t.Errorf("ticked:\n%q\nwant:\n%q", got, c.after)
			}
			if got := string(f.Bytes()); got != c.before {
				t.Errorf("the file that was ticked changed to %q", got)
			}
			if !bytes.Equal(f.Text(), ticked.Text()) {
				t.Errorf("the text changed from %q to %q", f.Text(), ticked.Text())
			}
			for id := range strings.FieldsSeq(c.ids) {
				if task, _ := ticked.Plan().Task(id); !task.Done {
					t.Errorf("task %s is not done", id)
				}
			}
		})
	}
}

func TestTickOfAnUnknownTask(t *testing.T) {
	t.Parallel()
	_, err := decode(t, "p.md", "- [ ] a\n").Tick("1", "x\x1b[2J")
	if err == nil || err.Error() != `p.md has no task "x\x1b[2J"` || failure.CodeOf(err) != failure.Usage {
		t.Errorf("error = %v", err)
	}
}

// Text ignores marks, and in JSON the formatting. Any other difference counts.
func TestTextIgnoresCheckboxes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, file, a, b string
		same             bool
	}{
		{"marks", "p.md", "- [ ] a\n  - [x] b\n", "- [X] a\n  - [/] b\n", true},
		{"odd marks", "p.md", "- [~] a\n- [] b\n- [ ]* c\n", "- [x] a\n- [x] b\n- [-]* c\n", true},
		{"boxes that are no tasks", "p.md", "### [ ] US-1: a\n- [ ] b\n", "### [ ] US-1: a\n- [x] b\n", true},
		{"a title", "p.md", "- [ ] a\n", "- [ ] b\n", false},
		{"a task less", "p.md", "- [ ] a\n- [ ] b\n", "- [ ] a\n", false},
		{"evidence", "p.md", "- [ ] a\n", "- [ ] a <!-- pawl: evidence=unproven -->\n", false},
		{"front matter", "p.md", "---\na: 1\n---\n- [ ] a\n", "---\na: 2\n---\n- [ ] a\n", false},
		{"JSON, formatted", "p.json", `[{"title":"é","passes":false}]`, "[\n {\"passes\": true, \"title\": \"\\u00e9\"}\n]", true},
		{"JSON, a step", "p.json", `[{"title":"a","steps":["b"]}]`, `[{"title":"a","steps":["c"]}]`, false},
		{"JSON, a number", "p.json", `[{"title":"a","x":1}]`, `[{"title":"a","x":10000000000000000001}]`, false},
		{"JSON, a mark elsewhere", "p.json", `{"passes":false,"features":[{"title":"a"}]}`, `{"passes":true,"features":[{"title":"a"}]}`, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, b := decode(t, c.file, c.a).Text(), decode(t, c.file, c.b).Text()
			if bytes.Equal(a, b) != c.same {
				t.Errorf("same = %v, want %v:\n%s\n%s", !c.same, c.same, a, b)
			}
		})
	}
}

func TestLoadKeepsEveryByte(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plan.md")
	if err := os.WriteFile(path, []byte("- [x] a\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := planfile.Load(path)
	if err != nil || string(f.Bytes()) != "- [x] a\r\n" || f.Plan().Open() != 0 {
		t.Errorf("loaded %v, %v", f, err)
	}
}

func TestOddListsAreReadWithWarnings(t *testing.T) {
	t.Parallel()
	f := decode(t, "p.md", "- [-] a\n- [x] b\n- [/] c\n- [] d\n- [ ]* e\n- [x]* f\n- [a](b)\n> - [✔️] g\n- [ ]\n1. [x] \n- ☐ h\n\n| [ ] i | j |\n\n- a ☐ b\n- []\n")
	var got []string
	for _, p := range f.Warnings() {
		got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Message))
	}
	want := []string{
		"1: task 1 is marked [-], so it counts as open",
		"8: task 7 is marked [✔️], so it counts as open",
		"9: this box has no text, so it is not a task",
		"10: this box has no text, so it is not a task",
		"11: ☐ is not a task's box, so this line is not a task",
		"13: this line looks like a task but is not in a list, or is in code",
		"16: this box has no text, so it is not a task",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("odd marks (-want +got):\n%s", diff)
	}
	if open := f.Plan().Open(); open != 5 {
		t.Errorf("%d open tasks, want 5", open)
	}
}
