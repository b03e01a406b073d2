package record_test

import (
	"reflect"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
)

// The start, two edits of which the first may be the agent's, and what counts after each.
func TestPlanSettingsFollowTheUser(t *testing.T) {
	t.Parallel()
	scope := []string{"src/**"}
	start := plan.Plan{Tasks: []plan.Task{
		{ID: "1", Title: "one", Scope: scope, Line: 1}, {ID: "2", Title: "two", Criteria: []string{"as CSV"}, Line: 2}, {ID: "3", Title: "three", Line: 3},
	}}
	ps := record.PlanSettings{}.Follow(plan.Plan{}, start)
	check := func(when string, want record.PlanSettings) {
		t.Helper()
		if !reflect.DeepEqual(ps, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", when, ps, want)
		}
	}
	check("at the start", record.PlanSettings{
		Scopes: map[string][]string{"1": scope}, TaskTexts: map[string]string{"1": "one", "2": "two\nas CSV", "3": "three"}, Evidence: map[string]string{},
	})
	maybeAgent := plan.Plan{Tasks: append(start.Tasks[:3:3], plan.Task{ID: "4", Title: "remove TestSum", Line: 4})}
	edited := plan.Plan{Tasks: []plan.Task{
		{ID: "1", Title: "one", Line: 1, Done: true},
		{ID: "2", Title: "two", Criteria: []string{"as CSV"}, Line: 7, AllowTestChanges: true, Evidence: "unproven"},
		{ID: "4", Title: "remove TestSum", Line: 9},
		{ID: "5", Title: "five", Scope: scope},
	}}
	ps = ps.Follow(maybeAgent, edited)
	check("after the user's edit", record.PlanSettings{
		Scopes: map[string][]string{"5": scope}, TaskTexts: map[string]string{"1": "one", "2": "two\nas CSV", "5": "five"},
		PlanTestTasks: []string{"2"}, Evidence: map[string]string{"2": "unproven"},
	})
	again := plan.Plan{Tasks: append(edited.Tasks[:4:4], plan.Task{ID: "6", Title: "six"})}
	ps = ps.Follow(edited, again)
	check("after another one", record.PlanSettings{
		Scopes: map[string][]string{"5": scope}, TaskTexts: map[string]string{"1": "one", "2": "two\nas CSV", "5": "five", "6": "six"},
		PlanTestTasks: []string{"2"}, Evidence: map[string]string{"2": "unproven"},
	})
}
