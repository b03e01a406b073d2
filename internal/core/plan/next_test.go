package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// tasks reads "id[?][!][@priority][<dep,dep]" words: ! is done, ? is optional.
func tasks(words string) plan.Plan {
	var p plan.Plan
	for i, w := range strings.Fields(words) {
		t := plan.Task{Line: i + 1}
		w, deps, _ := strings.Cut(w, "<")
		if deps != "" {
			t.DependsOn = strings.Split(deps, ",")
		}
		w, priority, _ := strings.Cut(w, "@")
		fmt.Sscan(priority, &t.Priority)
		w, t.Done = strings.CutSuffix(w, "!")
		t.ID, t.Optional = strings.CutSuffix(w, "?")
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

func TestNextRespectsDependencies(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, plan, skip, want string
	}{
		{"nothing in it", "", "", ""},
		{"all done", "a! b!", "", ""},
		{"order of the file", "a b c", "", "a"},
		{"first open", "a! b c", "", "b"},
		{"lower priority number first", "a@3 b@1 c@2", "", "b"},
		{"same priority: order of the file", "a@2 b@1 c@1", "", "b"},
		{"no priority after all that have one", "a b@9", "", "b"},
		{"negative priorities are the most urgent", "a@1 b@-1", "", "b"},
		{"waits for what it depends on", "a<b b", "", "b"},
		{"continues when that is done", "a<b b!", "", "a"},
		{"waits for all of them", "a<b,c b! c", "", "c"},
		{"dependencies beat priority", "a@1<b b@9", "", "b"},
		{"an unknown dependency is never done", "a<x b", "", "b"},
		{"optional ones last", "a?@1 b", "", "b"},
		{"of the optional ones by priority", "a?@2 b?@1 c!", "", "b"},
		{"an optional one that is waited for", "a? b<a", "", "a"},
		{"skipped", "a b", "a", "b"},
		{"what waits for a skipped task waits", "a b<a c", "a", "c"},
		{"the rest waits", "a b<a", "a", ""},
		{"a circle has no next", "a<b b<a", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var skip func(string) bool
			if c.skip != "" {
				skip = func(id string) bool { return id == c.skip }
			}
			got, ok := tasks(c.plan).Next(skip)
			if got.ID != c.want || ok != (c.want != "") {
				t.Errorf("Next = %q, %v; want %q", got.ID, ok, c.want)
			}
		})
	}
}

func TestWithoutOptionalDropsOptionalTasks(t *testing.T) {
	t.Parallel()
	var got []string
	for _, task := range tasks("a? b<c c?<d d? e?").WithoutOptional() {
		got = append(got, task.ID)
	}
	if diff := cmp.Diff([]string{"b", "c", "d"}, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestTaskAndOpen(t *testing.T) {
	t.Parallel()
	p := tasks("a! b c!")
	if got, ok := p.Task("b"); !ok || got.Line != 2 {
		t.Errorf("Task(b) = %+v, %v", got, ok)
	}
	if _, ok := p.Task("x"); ok {
		t.Error("Task(x) was found")
	}
	if got := p.Open(); got != 1 {
		t.Errorf("Open = %d, want 1", got)
	}
}

func TestCheckFindsInvalidPlans(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, plan string
		want       []string // "line id: message"
	}{
		{"all done is fine", "a! b!", nil},
		{"a diamond is no circle", "a b<a c<a d<b,c", nil},
		{"no tasks", "", []string{`0 : the plan has no tasks`}},
		{"duplicate id", "a b a", []string{`3 a: task id "a" is used twice, first on line 1`}},
		{"unknown dependency", "a b<a,x", []string{`2 b: task "b" depends on "x", which is not in the plan`}},
		{"itself", "a<a", []string{`1 a: tasks depend on each other in a circle: a → a`}},
		{"circle", "x<a a<b b<c c<a", []string{`2 a: tasks depend on each other in a circle: a → b → c → a`}},
		{
			"a long circle is cut",
			"a<b b<c c<d d<e e<f f<g g<h h<i i<j j<k k<l l<m m<n n<a",
			[]string{`1 a: tasks depend on each other in a circle: a → b → c → d → e → f → g → h → i → j → … → a`},
		},
		{"several", "a a b<x", []string{
			`2 a: task id "a" is used twice, first on line 1`,
			`3 b: task "b" depends on "x", which is not in the plan`,
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range tasks(c.plan).Check() {
				if p.Want == "" {
					t.Errorf("%q does not say what was expected", p.Message)
				}
				got = append(got, fmt.Sprintf("%d %s: %s", p.Line, p.ID, p.Message))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckOfALongChainEnds(t *testing.T) {
	t.Parallel()
	const n = 50_000
	var p plan.Plan
	for i := range n {
		p.Tasks = append(p.Tasks, plan.Task{ID: fmt.Sprint(i), DependsOn: []string{fmt.Sprint((i + 1) % n)}})
	}
	got := p.Check()
	if len(got) != 1 || !strings.HasPrefix(got[0].Message, "tasks depend on each other in a circle: 0 → 1 → 2") {
		t.Errorf("problems = %v", got)
	}
}
