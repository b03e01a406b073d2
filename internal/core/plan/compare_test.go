package plan_test

import (
	"slices"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

func TestCompareWithAnEarlierVersion(t *testing.T) {
	t.Parallel()
	one, two := plan.Task{ID: "1", Title: "one"}, plan.Task{ID: "2", Title: "two"}
	done := func(t plan.Task) plan.Task { t.Done, t.Line = true, 7; return t }
	was := []plan.Task{one, two}
	for name, c := range map[string]struct {
		now              []plan.Task
		ticked           []string
		adds, renumbered bool
	}{
		"the same":                {now: was},
		"ticked":                  {now: []plan.Task{one, done(two)}, ticked: []string{"2"}},
		"added at the end":        {now: []plan.Task{one, two, done(plan.Task{ID: "3", Title: "three"})}, ticked: []string{"3"}, adds: true},
		"added with a setting":    {now: []plan.Task{one, two, {ID: "3", Title: "three", Scope: []string{"*"}}}},
		"added, another retitled": {now: []plan.Task{one, {ID: "2", Title: "2nd"}, {ID: "3", Title: "three"}}},
		"inserted without ids":    {now: []plan.Task{one, {ID: "2", Title: "new"}, {ID: "3", Title: "two"}}, renumbered: true},
		"removed without ids":     {now: []plan.Task{{ID: "1", Title: "two"}}, renumbered: true},
		"retitled":                {now: []plan.Task{one, {ID: "2", Title: "2nd"}}},
	} {
		p, old := plan.Plan{Tasks: c.now}, plan.Plan{Tasks: was}
		if got := p.TickedSince(old); !slices.Equal(got, c.ticked) {
			t.Errorf("%s: ticked %q, want %q", name, got, c.ticked)
		}
		if got := p.OnlyAddsTasks(old); got != c.adds {
			t.Errorf("%s: only adds tasks: %t", name, got)
		}
		if got := p.IsRenumbered(old); got != c.renumbered {
			t.Errorf("%s: renumbered: %t", name, got)
		}
	}
}
