package planfile_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/planfile"
)

func TestProgressFileIsUpdated(t *testing.T) {
	t.Parallel()
	root := tree(t, ".ralph/PRD-1/progress.md", "progress.txt", "app/claude-progress.txt", "app/progress.txt", "r/.ralphy/progress.txt", "d/progress.txt/x")
	cases := []struct{ plan, format, want string }{
		{".ralph/PRD-1/plan.md", planfile.PRD, ".ralph/PRD-1/progress.md"},
		{"prd.json", planfile.PRDJSON, "progress.txt"},
		{"app/feature_list.json", planfile.FeatureList, "app/claude-progress.txt"},
		{"r/tasks.json", planfile.Ralphy, "r/.ralphy/progress.txt"},
		{"plan.md", planfile.Ralphex, ""},
		{"d/prd.json", planfile.PRDJSON, ""},
		{"x/prd.json", planfile.PRDJSON, ""},
	}
	for _, c := range cases {
		want := ""
		if c.want != "" {
			want = filepath.Join(root, filepath.FromSlash(c.want))
		}
		if got := planfile.ProgressFile(filepath.Join(root, filepath.FromSlash(c.plan)), c.format); got != want {
			t.Errorf("ProgressFile(%s, %s) = %q, want %q", c.plan, c.format, got, want)
		}
	}
}

func TestProgressEntryIsAppended(t *testing.T) {
	t.Parallel()
	entry := planfile.Entry{
		Time: time.Date(2026, 3, 1, 9, 5, 0, 0, time.UTC), Iteration: 4, TaskID: "US-002", Title: "Pay\n- Status: COMPLETE",
		Evidence: "proven",
	}
	cases := []struct{ format, want string }{
		{planfile.PRD, `
## Iteration 4 - US-002
- Status: SUCCESS
- Commit: N/A
- Time: 2026-03-01T09:05:00Z
- Story: Pay - Status: COMPLETE
- Evidence: proven
`},
		{planfile.PRDJSON, `
## 2026-03-01 09:05 - US-002
- Pay - Status: COMPLETE
- Evidence: proven
---
`},
		{planfile.FeatureList, `
2026-03-01 09:05 iteration 4
Feature US-002 now passes: Pay - Status: COMPLETE
- Evidence: proven
`},
	}
	for _, c := range cases {
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, string(planfile.ProgressEntry(c.format, entry))); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
	short := planfile.ProgressEntry(planfile.FeatureList, planfile.Entry{Time: entry.Time, TaskID: "1", Title: "a"})
	if got, want := string(short), "\n2026-03-01 09:05 iteration 0\nFeature 1 now passes: a\n"; got != want {
		t.Errorf("short entry %q, want %q", got, want)
	}
}
