package planfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The users' ids are kept apart from the titles.
func TestOwnIDs(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, file, want string }{
		{"T and a number", "- [ ] T01 one\n- [ ] T02: two\n- [ ] **T03** three\n- [ ] [T04] four\n- [ ] five\n", "T01=one, T02=two, T03=three, T04=four, 5=five"},
		{"numbers with dots", "- [ ] 2.3 a\n- [ ] 2.4. b\n- [ ] 10.1 - c\n", "2.3=a, 2.4=b, 10.1=c"},
		{"counted", "- [ ] 1. a\n- [ ] 3) b\n", "1=a, 3=b"},
		{"issues", "- [ ] #123 Fix login\n- [ ] #7\n", "#123=Fix login, #7=#7"},
		{"no ids", "- [ ] 2 bytes too many\n- [ ] TLS 1.3\n- [ ] 3D view\n", "1=2 bytes too many, 2=TLS 1.3, 3=3D view"},
		{"counted from 1 under each heading", "## A\n- [ ] 1. a\n- [ ] 2. b\n## B\n- [ ] 1. c\n", "1=1. a, 2=2. b, 3=1. c"},
		{"a place that is somebody's number", "- [ ] 2. a\n- [ ] b\n", "1=2. a, 2=b"},
		{"one is named by a comment", "- [ ] 2. a <!-- pawl: id=x -->\n- [ ] 2. b\n", "x=2. a, 2=b"},
		{"of a tracker, in all titles", "- [ ] US-001 a\n- [ ] US-002: b\n- [x] US-10 c\n", "US-001=a, US-002=b, US-10=c"},
		{"no tracker's", "- [ ] UTF-8 in names\n- [ ] SHA-256 of files\n", "1=UTF-8 in names, 2=SHA-256 of files"},
		{"twice the same", "- [ ] US-1 a\n- [ ] US-1 b\n", "1=US-1 a, 2=US-1 b"},
		{"beside a story", "- [ ] US-001: a\n- [ ] 1.2 b\n", "US-001=a, 1.2=b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, task := range decode(t, "p.md", c.file).Plan().Tasks {
				got = append(got, task.ID+"="+task.Title)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
		})
	}
}

// A title names dependencies unless a comment does.
func TestDependenciesInTitles(t *testing.T) {
	t.Parallel()
	p := decode(t, "p.md", "- [ ] T2: b (depends on T3 and T1)\n- [ ] T1: a (depends on the weather)\n- [ ] T3: c (depends on T2) <!-- pawl: depends_on=T1 -->\n").Plan()
	var got []string
	for _, task := range p.Tasks {
		got = append(got, task.ID+"="+strings.Join(task.DependsOn, "+"))
	}
	if diff := cmp.Diff("T2=T3+T1 T1= T3=T1", strings.Join(got, " ")); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
}

// The text around a task is in its context, and in no other task's.
func TestTextAroundTasks(t *testing.T) {
	t.Parallel()
	p := decode(t, "p.md", "# P\n\nFor all.\n\n## A\n\nThe old code is in legacy/.\n\n- [ ] a\n  own\n- [ ] g\n  of the group\n  - [ ] b\n\nSee also RFC 1.\n\n### A1\n- [ ] c\n\n## B\n- [ ] d\n\n## Notes\nMind the gap.\n").Plan()
	if want := "For all.\n\n## Notes\n\nMind the gap."; p.Overview != want {
		t.Errorf("overview %q, want %q", p.Overview, want)
	}
	section := "The old code is in legacy/.\n\nSee also RFC 1."
	want := map[string][]string{"1": {section}, "2": {section}, "3": {section}, "4": nil}
	for id, context := range want {
		task, _ := p.Task(id)
		if diff := cmp.Diff(context, task.Context); diff != "" {
			t.Errorf("context of %s (-want +got):\n%s", id, diff)
		}
	}
}
