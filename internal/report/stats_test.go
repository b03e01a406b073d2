package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/report"
)

// threeLoops returns a played loop, one with a task of each result, and a running one.
func threeLoops(t *testing.T) []report.StatLoop {
	t.Helper()
	l, _ := pages(t)
	dark := night().State
	for i := range dark.Tasks {
		dark.Tasks[i].Turns, dark.Tasks[i].Took, dark.Tasks[i].CostUSD = i, time.Duration(i)*time.Minute, float64(i)/10
	}
	atWork := loop.State{Phase: loop.Turning, Tasks: []loop.Task{{ID: "goal", Status: loop.Open}}, Clock: loop.Clock{StartedAt: evening.AddDate(0, 0, 9), Now: evening.AddDate(0, 0, 9)}}
	return []report.StatLoop{
		{Agent: "claude", Model: "big", Root: "/src/a", State: l.State},
		{Agent: "claude", Model: "small", Root: "/src/a", State: dark},
		{Agent: "scripted", Root: "/src/b", State: atWork},
	}
}

func TestStatsAreSummed(t *testing.T) {
	t.Parallel()
	loops := threeLoops(t)
	s := report.Count(time.Time{}, loops)
	brief := func(f report.Figures) string {
		return fmt.Sprintf("%s: %d loops, %d of %d tasks, %d proven, %d refused, %d restores, %d violations, $%.2f, median %vs $%.2f",
			f.Name, f.Loops, f.Done, f.Tasks, f.Proven, f.Refusals, f.Restores, f.Violations, f.CostUSD, f.MedianSeconds, f.MedianUSD)
	}
	var got []string
	for _, f := range slices.Concat([]report.Figures{s.All}, s.ByAgent, s.ByModel, s.ByRepository, s.ByWeek) {
		got = append(got, brief(f))
	}
	want := []string{
		"all: 3 loops, 8 of 13 tasks, 4 proven, 4 refused, 1 restores, 1 violations, $10.06, median 240s $0.40",
		"claude: 2 loops, 8 of 13 tasks, 4 proven, 4 refused, 1 restores, 1 violations, $10.06, median 240s $0.40",
		"scripted: 1 loops, 0 of 0 tasks, 0 proven, 0 refused, 0 restores, 0 violations, $0.00, median 0s $0.00",
		"big: 1 loops, 2 of 2 tasks, 2 proven, 1 refused, 0 restores, 0 violations, $2.75, median 360s $1.00",
		"small: 1 loops, 6 of 11 tasks, 2 proven, 3 refused, 1 restores, 1 violations, $7.31, median 180s $0.30",
		"unknown: 1 loops, 0 of 0 tasks, 0 proven, 0 refused, 0 restores, 0 violations, $0.00, median 0s $0.00",
		"/src/a: 2 loops, 8 of 13 tasks, 4 proven, 4 refused, 1 restores, 1 violations, $10.06, median 240s $0.40",
		"/src/b: 1 loops, 0 of 0 tasks, 0 proven, 0 refused, 0 restores, 0 violations, $0.00, median 0s $0.00",
		"2026-01-26: 2 loops, 8 of 13 tasks, 4 proven, 4 refused, 1 restores, 1 violations, $10.06, median 240s $0.40",
		"2026-02-09: 1 loops, 0 of 0 tasks, 0 proven, 0 refused, 0 restores, 0 violations, $0.00, median 0s $0.00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	table := s.Text()
	for _, line := range []string{
		"3 loops: 1 stuck, 1 verified, 1 not ended\n", "repository /src/a   2      1         8 of 13",
		"repository /src/b   1      0         0 of 0   0       -          -          0",
		"2026-01-26  █████████████▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░  8 of 13, $10.06\n2026-02-02  " + strings.Repeat(" ", 40) + "  0 of 0, $0.00\n2026-02-09  ",
	} {
		if !strings.Contains(table, line) {
			t.Errorf("the table lacks %q:\n%s", line, table)
		}
	}
}

func TestStatsOfNothing(t *testing.T) {
	t.Parallel()
	if got := report.Count(evening, nil).Text(); got != "0 loops since 2026-01-31 22:00\n" {
		t.Errorf("%q", got)
	}
}
