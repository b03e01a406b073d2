package planfile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
)

func TestEditChangesOneTask(t *testing.T) {
	t.Parallel()
	add := func(title string) plan.Edit { return plan.Edit{Do: plan.Add, Title: title} }
	after := func(id, title string) plan.Edit { return plan.Edit{Do: plan.Add, Title: title, After: id} }
	retitle := func(id, title string) plan.Edit { return plan.Edit{Do: plan.Retitle, Task: id, Title: title} }
	move := func(id, before string) plan.Edit { return plan.Edit{Do: plan.Move, Task: id, Before: before} }
	cases := []struct {
		name, file, before string
		edit               plan.Edit
		after, id          string
	}{
		{"checklist", "p.md", "# P\n\n- [x] a\n- [ ] b\n\nText.\n", add("c"), "# P\n\n- [x] a\n- [ ] b\n- [ ] c\n\nText.\n", "3"},
		{"no end of the last line", "p.md", "* [ ] a\r\n* [ ] b", add("c"), "* [ ] a\r\n* [ ] b\r\n* [ ] c", "3"},
		{"ids", "p.md", "- [ ] T01 a\n- [ ] T02 b\n", add("c"), "- [ ] T01 a\n- [ ] T02 b\n- [ ] T03 c\n", "T03"},
		{"ids in bold", "p.md", "- [ ] **US-001**: a\n", add("c"), "- [ ] **US-001**: a\n- [ ] **US-002**: c\n", "US-002"},
		{"in the middle", "p.md", "- [ ] T01 a\n- [ ] T02 b\n", after("T01", "c"), "- [ ] T01 a\n- [ ] T03 c\n- [ ] T02 b\n", "T03"},
		{"numbered by their place", "p.md", "- [ ] a\n- [ ] b\n", after("1", "c"), "- [ ] a\n- [ ] b\n- [ ] c\n", "3"},
		{"with details", "p.md", "- [ ] a\n  - detail\n\n  more\n\n## Notes\n\nx\n", add("c"), "- [ ] a\n  - detail\n\n  more\n- [ ] c\n\n## Notes\n\nx\n", "2"},
		{"its own id", "p.md", "- [ ] US-1: a\n", add("US-7: c"), "- [ ] US-1: a\n- [ ] US-7: c\n", "US-7"},
		{"no comment of ours", "p.md", "- [ ] a\n", add("c <!-- pawl: scope=x -->"), "- [ ] a\n- [ ] c <! -- pawl: scope=x -->\n", "2"},
		{"below a group", "p.md", "- [x] g\n  - [x] a\n", add("c"), "- [x] g\n  - [x] a\n- [ ] c\n", "2"},
		{"Kiro", ".kiro/specs/a/tasks.md", "- [x] 1. g\n  - [x] 1.1 a\n", add("c"), "- [x] 1. g\n  - [x] 1.1 a\n- [ ] 2. c\n", "2"},
		{"into a group", ".kiro/specs/a/tasks.md", "- [x] 1. g\n  - [x] 1.1 a\n  - [x] 1.2 b\n", after("1.1", "c"), "- [ ] 1. g\n  - [x] 1.1 a\n  - [ ] 1.3 c\n  - [x] 1.2 b\n", "1.3"},
		{"spec-kit", "specs/001-a/tasks.md", "- [X] T001 [P] [US1] a\n", add("c"), "- [X] T001 [P] [US1] a\n- [ ] T002 c\n", "T002"},
		{"ralphex", "p.md", "### Task 1: a\n- [x] a1\n", add("c"), "### Task 1: a\n- [x] a1\n\n### Task 2: c\n\n- [ ] Done\n", "2"},
		{"stories", "p.md", "### [ ] US-001: a\n\nText.\n", add("c"), "### [ ] US-001: a\n\nText.\n\n### [ ] US-002: c\n\n", "US-002"},
		{
			"prd.json", "prd.json", "{\"userStories\": [\n  {\"id\": \"US-001\", \"title\": \"a\", \"description\": \"x\", \"priority\": 1, \"passes\": true, \"notes\": \"\"}\n]}\n", add(`say "c"`),
			"{\"userStories\": [\n  {\"id\": \"US-001\", \"title\": \"a\", \"description\": \"x\", \"priority\": 1, \"passes\": true, \"notes\": \"\"},\n  {\"id\": \"US-002\", \"title\": \"say \\\"c\\\"\", \"description\": \"\", \"priority\": 2, \"passes\": false, \"notes\": \"\"}\n]}\n", "US-002",
		},
		{
			"feature list", "feature_list.json", "[\n  {\n    \"category\": \"ui\",\n    \"description\": \"a\",\n    \"steps\": [\"s\"],\n    \"passes\": false\n  }\n]\n", add("c"),
			"[\n  {\n    \"category\": \"ui\",\n    \"description\": \"a\",\n    \"steps\": [\"s\"],\n    \"passes\": false\n  },\n  {\n    \"category\": \"ui\",\n    \"description\": \"c\",\n    \"steps\": [],\n    \"passes\": false\n  }\n]\n", "2",
		},
		{
			"task-master", "t.json", `{"m":{"tasks":[{"id":1,"title":"a","status":"done","subtasks":[{"id":1,"title":"b","status":"done"}]}]}}`, add("c"),
			`{"m":{"tasks":[{"id":1,"title":"a","status":"done","subtasks":[{"id":1,"title":"b","status":"done"}]}, {"id":2,"title":"c","status":"pending","subtasks":[]}]}}`, "2",
		},
		{"there already", "p.md", "- [x] a\n- [ ] b\n", add("a"), "- [x] a\n- [ ] b\n", "1"},
		{"a title", "p.md", "- [ ] T01 a <!-- pawl: priority=1 -->\n- [ ] T02 b\n", retitle("T01", "c"), "- [ ] T01 c <!-- pawl: priority=1 -->\n- [ ] T02 b\n", "T01"},
		{"a title with code", "p.md", "- [ ] T01 a `b` c\n- [ ] T02 b\n", retitle("T01", "d"), "- [ ] T01 d\n- [ ] T02 b\n", "T01"},
		{"a title in JSON", "f.json", `[{"description":"a","passes":false}]`, retitle("1", `"c"`), `[{"description":"\"c\"","passes":false}]`, "1"},
		{"the title of a section", "p.md", "### Task 1: a\n- [ ] a1\n", retitle("1", "c"), "### Task 1: c\n- [ ] a1\n", "1"},
		{"moved up", "p.md", "- [ ] T01 a\n  - d\n- [ ] T02 b\n", move("T02", "T01"), "- [ ] T02 b\n- [ ] T01 a\n  - d\n", "T02"},
		{"moved to be next", "p.md", "- [x] T01 a\n- [ ] T02 b\n- [ ] T03 c\n", move("T03", ""), "- [x] T01 a\n- [ ] T03 c\n- [ ] T02 b\n", "T03"},
		{"moved down", "p.md", "- [ ] T01 a\n- [ ] T02 b", plan.Edit{Do: plan.Move, Task: "T01", After: "T02"}, "- [ ] T02 b\n- [ ] T01 a\n", "T01"},
		{
			"moved in JSON", "f.json", `[ {"id":"a","title":"a"}, {"id":"b","title":"b"} ]`, move("b", "a"),
			`[ {"id":"b","title":"b"}, {"id":"a","title":"a"} ]`, "b",
		},
		{"moved in its place", "p.md", "- [ ] a\n- [ ] b\n", move("1", ""), "- [ ] a\n- [ ] b\n", "1"},
		{"a done task", "p.md", "- [x] a\n", plan.Edit{Do: plan.Reopen, Task: "1"}, "- [ ] a\n", "1"},
		{"nothing in the file", "p.md", "- [ ] a\n", plan.Edit{Do: plan.Skip, Task: "1"}, "- [ ] a\n", "1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := decode(t, c.file, c.before)
			for range 2 { // a second edit changes nothing
				out, e, err := f.Edit(c.edit, false)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.after, string(out.Bytes())); diff != "" || e.Task != c.id {
					t.Errorf("task %q, file (-want +got):\n%s", e.Task, diff)
				}
				if c.edit.Do != plan.Move || c.edit.Before+c.edit.After != "" {
					f = out
				}
			}
		})
	}
}

func TestEditRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, file string
		edit       plan.Edit
		want       string
	}{
		{"no such task", "- [ ] a\n", plan.Edit{Do: plan.Skip, Task: "7"}, `p.md has no task "7"`},
		{"before no task", "- [ ] T1 a\n- [ ] T2 b\n", plan.Edit{Do: plan.Move, Task: "T1", Before: "T9"}, `p.md has no task "T9"`},
		{"after no task", "- [ ] T1 a\n- [ ] T2 b\n", plan.Edit{Do: plan.Move, Task: "T2", After: "T9"}, `p.md has no task "T9"`},
		{"before itself", "- [ ] T1 a\n- [ ] T2 b\n", plan.Edit{Do: plan.Move, Task: "T2", Before: "T2"}, "task T2 cannot move next to itself"},
		{"added after no task", "- [ ] T1 a\n", plan.Edit{Do: plan.Add, Title: "b", After: "T9"}, `p.md has no task "T9"`},
		{"no title", "- [ ] a\n", plan.Edit{Do: plan.Add, Title: "  "}, "the task has no title"},
		{"others' numbers", "- [ ] a\n- [ ] b\n", plan.Edit{Do: plan.Move, Task: "2", Before: "1"}, planfile.ErrKeepsOrder.Error()},
		{"a title of two lines", "- [ ] a\n  b\n", plan.Edit{Do: plan.Retitle, Task: "1", Title: "c"}, "p.md: the title of task 1 spans several lines"},
		{"priorities", "- [ ] T1 a <!-- pawl: priority=1 -->\n- [ ] T2 b\n", plan.Edit{Do: plan.Move, Task: "T2", Before: "T1"}, "p.md: task T2 has a different priority than its neighbours"},
		{"out of its group", "- [ ] g\n  - [ ] T1 a\n- [ ] T2 b\n", plan.Edit{Do: plan.Move, Task: "T2", Before: "T1"}, "p.md: task T2 cannot be moved there"},
		{"no new title", "- [ ] T1 a\n- [ ] T2 b\n", plan.Edit{Do: plan.Retitle, Task: "T1", Title: ""}, "the task has no title"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, _, err := decode(t, "p.md", c.file).Edit(c.edit, false)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
				if out != nil {
					t.Logf("%s", out.Bytes())
				}
			}
		})
	}
}

// A comment in a title is text and sets nothing.
func TestEditTakesACommentAsText(t *testing.T) {
	t.Parallel()
	out, _, err := decode(t, "p.md", "- [ ] a\n").Edit(plan.Edit{Do: plan.Add, Title: "b <!-- pawl: gate=true -->"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("- [ ] a\n- [ ] b <! -- pawl: gate=true -->\n", string(out.Bytes())); diff != "" {
		t.Error(diff)
	}
}

// A plan that no loop works on may get other numbers.
func TestEditRenumbers(t *testing.T) {
	t.Parallel()
	f := decode(t, "p.md", "- [ ] a\n- [ ] b\n")
	out, _, err := f.Edit(plan.Edit{Do: plan.Move, Task: "2", Before: "1"}, true)
	if err != nil || string(out.Bytes()) != "- [ ] b\n- [ ] a\n" {
		t.Errorf("%v", err)
	}
	out, e, err := f.Edit(plan.Edit{Do: plan.Add, Title: "c", Before: "2"}, true)
	if err != nil || e.Task != "2" || string(out.Bytes()) != "- [ ] a\n- [ ] c\n- [ ] b\n" {
		t.Errorf("%v", err)
	}
}

// editLaws checks that an edit is refused or changes nothing else.
func editLaws(t *testing.T, f *planfile.File, task plan.Task) {
	t.Helper()
	was := f.Plan()
	for _, e := range []plan.Edit{
		{Do: plan.Add, Title: "new in the plan"},
		{Do: plan.Add, Title: "new in the plan", Before: task.ID},
		{Do: plan.Add, Title: "new in the plan", After: task.ID},
		{Do: plan.Retitle, Task: task.ID, Title: "new in the plan"},
		{Do: plan.Move, Task: task.ID},
		{Do: plan.Move, Task: task.ID, After: was.Tasks[len(was.Tasks)-1].ID},
		{Do: plan.Reopen, Task: task.ID},
	} {
		out, done, err := f.Edit(e, false)
		if err != nil {
			continue
		}
		again, _, err := out.Edit(done, false)
		if e.Do != plan.Move && (err != nil || string(again.Bytes()) != string(out.Bytes())) {
			t.Fatalf("%+v twice: %v", e, err)
		}
		now := out.Plan()
		want := slices.Clone(was.Tasks)
		for i := range want {
			switch {
			case want[i].ID != task.ID:
			case e.Do == plan.Reopen:
				want[i].Done = false
			case e.Do == plan.Retitle:
				want[i].Title = "new in the plan"
			}
		}
		got := slices.DeleteFunc(slices.Clone(now.Tasks), func(t plan.Task) bool {
			return e.Do == plan.Add && t.ID == done.Task
		})
		if e.Do == plan.Add && !slices.ContainsFunc(was.Tasks, func(t plan.Task) bool { return t.ID == done.Task }) && len(now.Tasks) != len(was.Tasks)+1 {
			t.Fatalf("%+v made %d tasks of %d", e, len(now.Tasks), len(was.Tasks))
		}
		opts := []cmp.Option{cmpopts.IgnoreFields(plan.Task{}, "Line", "Detail", "Context", "DependsOn"), cmpopts.EquateEmpty()}
		if e.Do == plan.Move {
			opts = append(opts, cmpopts.SortSlices(func(a, b plan.Task) bool { return a.ID < b.ID }))
		}
		if e.Do == plan.Add && len(now.Tasks) == len(was.Tasks) {
			got = now.Tasks // the task existed
		}
		if diff := cmp.Diff(want, got, opts...); diff != "" {
			t.Fatalf("%+v (-want +got):\n%s\n%s", e, diff, out.Bytes())
		}
	}
	if _, _, err := f.Edit(plan.Edit{Do: "nonsense"}, false); err == nil || errors.Is(err, planfile.ErrKeepsOrder) {
		t.Fatalf("nonsense: %v", err)
	}
}
