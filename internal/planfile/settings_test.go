package planfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/planfile"
)

// A comment that was meant for Pawl and is not read gets a warning; other comments do not.
func TestCommentsThatAreNotRead(t *testing.T) {
	t.Parallel()
	const text = `# Plan

- [ ] a <!-- pawl: evidence=unproven -->
- [ ] b <!-- pawl evidence=unproven -->
- [ ] c <!-- pwal: evidence=unproven -->
- [ ] d <!-- Pawl: evidence=unproven -->
- [ ] e <!-- pawl is asked for evidence -->
- [ ] f <!-- TODO: pawl -->
`
	f, err := planfile.Decode("plan.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`plan.md:4: this comment is ignored: <!-- pawl evidence=unproven -->: expected "<!-- pawl: … -->", with the colon`,
		`plan.md:5: this comment is ignored: <!-- pwal: evidence=unproven -->: expected "<!-- pawl: … -->", with the colon`,
		`plan.md:6: this comment is ignored: <!-- Pawl: evidence=unproven -->: expected "<!-- pawl: … -->", with the colon`,
	}
	if diff := cmp.Diff(want, planfile.Lines("plan.md", f.Warnings())); diff != "" {
		t.Error(diff)
	}
}

// A comment below a task's title belongs to it unless there is one beside the title. A comment
// without a task, or with a task that has another, gets a warning.
func TestCommentsBelowATitle(t *testing.T) {
	t.Parallel()
	const unproven = " <!-- pawl: evidence=unproven -->"
	const notRead = `: this comment is ignored: <!-- pawl: evidence=unproven -->: expected one such comment per task, beside its title or below it`
	for name, c := range map[string]struct {
		name, text string
		evidence   []string
		odd        []string
	}{
		"ralphex":              {"plan.md", "# P\n\n### Task 1: a\n\n- [ ] b" + unproven + "\n- [ ] c\n\n### Task 2: d\n\n- [ ] e\n", []string{"unproven", ""}, nil},
		"ralphex, heading too": {"plan.md", "# P\n\n### Task 1: a <!-- pawl: evidence=reviewed -->\n\n- [ ] b" + unproven + "\n", []string{"reviewed"}, []string{"plan.md:5" + notRead}},
		"ralphex, two":         {"plan.md", "# P\n\n### Task 1: a\n\n- [ ] b <!-- pawl: evidence=reviewed -->\n- [ ] c" + unproven + "\n", []string{"reviewed"}, []string{"plan.md:6" + notRead}},
		"ralphex, no task":     {"plan.md", "# P\n" + unproven + "\n\n### Task 1: a\n\n- [ ] b\n", []string{""}, []string{"plan.md:2" + notRead}},
		"prd, heading":         {"plan.md", "# P\n\n### [ ] US-001: a\n\n- [ ] b" + unproven + "\n\n### [ ] US-002: c\n", []string{"unproven", ""}, nil},
		"prd, list":            {"plan.md", "# P\n\n- [ ] US-001: a\n- [ ] US-002: b\n\n### US-002 b\n\n- c" + unproven + "\n", []string{"", "unproven"}, nil},
		"checklist":            {"plan.md", "- [ ] a\n  - b" + unproven + "\n- [ ] c\n\n " + unproven + "\n- [ ] d\n", []string{"unproven", "unproven", ""}, nil},
		"checklist, group":     {"plan.md", "- [ ] a" + unproven + "\n  - [ ] b\n  - [ ] c\n", []string{"", ""}, []string{"plan.md:1" + notRead}},
		"checklist, two":       {"plan.md", "- [ ] a <!-- pawl: evidence=reviewed -->" + unproven + "\n", []string{"reviewed"}, []string{"plan.md:1" + notRead}},
		"code":                 {"plan.md", "- [ ] a\n\n  ```\n  x" + unproven + "\n  ```\n", []string{""}, nil},
		"code in a line":       {"plan.md", "- [ ] a\n  - write `" + unproven[1:] + "`\n", []string{""}, nil},
		"openspec":             {"openspec/changes/x/tasks.md", "## 1. A\n\n- [ ] 1.1 a\n  - b" + unproven + "\n- [ ] 1.2 c\n", []string{"unproven", ""}, nil},
		"speckit":              {"specs/x/tasks.md", "## Phase 1: A\n\n- [ ] T001 a\n  b" + unproven + "\n- [ ] T002 c\n", []string{"unproven", ""}, nil},
		"kiro":                 {".kiro/specs/x/tasks.md", "- [ ] 1. A\n  - [ ] 1.1 a\n    - b" + unproven + "\n    - _Requirements: 1.1_\n", []string{"unproven"}, nil},
		"ralphy":               {"tasks.json", `{"tasks": [{"title": "a` + unproven + `", "completed": false}]}`, []string{""}, []string{`tasks.json:1: this comment is ignored: <!-- pawl: evidence=unproven -->: expected a field of the task, such as "evidence": "unproven"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := planfile.Decode(c.name, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, task := range f.Plan().Tasks {
				got = append(got, task.Evidence)
			}
			if diff := cmp.Diff(c.evidence, got); diff != "" {
				t.Errorf("evidence: %s", diff)
			}
			if diff := cmp.Diff(c.odd, planfile.Lines(c.name, f.Warnings())); c.odd != nil && diff != "" || c.odd == nil && len(f.Warnings()) > 0 {
				t.Errorf("odd: %s", diff)
			}
		})
	}
}

// A capital letter with a number and a colon is an id, unless two tasks have the same one.
func TestIDsOfALetterAndANumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"- [ ] W1: x\n- [ ] W2: y <!-- pawl: depends_on=W1 -->\n": {"W1 x", "W2 y"},
		"- [ ] P1: x\n- [ ] P1: y\n":                              {"1 P1: x", "2 P1: y"},
		"- [ ] V8 crashes\n- [ ] HTTP2: y\n":                      {"1 V8 crashes", "2 HTTP2: y"},
	} {
		f, err := planfile.Decode("plan.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, task := range f.Plan().Tasks {
			got = append(got, task.ID+" "+task.Title)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// A comment in a file of Backlog.md belongs to its task.
func TestCommentInAFileOfBacklog(t *testing.T) {
	t.Parallel()
	const file = "---\nid: task-1\ntitle: a\nstatus: To Do\n---\n\n## Description\n\nb <!-- pawl: evidence=unproven -->\n\n<!-- pawl: optional=true -->\n"
	f, err := planfile.Decode("backlog/tasks", []byte("\x00task-1 - a.md\n"+file))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"backlog/tasks:11: task-1 - a.md: this comment is ignored: <!-- pawl: optional=true -->: expected one such comment per task"}
	if diff := cmp.Diff(want, planfile.Lines("backlog/tasks", f.Warnings())); diff != "" || f.Plan().Tasks[0].Evidence != "unproven" {
		t.Errorf("%+v: %s", f.Plan().Tasks[0], diff)
	}
}
