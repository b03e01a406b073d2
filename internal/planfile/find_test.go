package planfile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
)

// tree creates empty files in a new folder.
func tree(t *testing.T, paths ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, p := range paths {
		p = filepath.Join(root, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindPrefersKnownNames(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name         string
		files, found []string
	}{
		{"nothing", nil, []string{}},
		{"one", []string{"plan.md", "README.md", "src/plan.md"}, []string{"plan.md"}},
		{
			"several",
			[]string{
				".ralph/PRD-10/plan.md", ".ralph/PRD-2/plan.md", ".ralph/PRD-x/plan.md", ".ralph/PRD-3/prd.md", ".ralph/notes/plan.md",
				"prd.json", "feature_list.json", "plan.md/inside",
				"docs/plans/b.md", "docs/plans/a.md", "docs/plans/README.md", "docs/plans/a.txt", "docs/plans/completed/z.md",
			},
			[]string{
				".ralph/PRD-2/plan.md", ".ralph/PRD-10/plan.md", ".ralph/PRD-x/plan.md",
				"prd.json", "feature_list.json", "docs/plans/a.md", "docs/plans/b.md",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, c.files...)
			found, err := planfile.Find(root)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.found, found); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
	if found, err := planfile.Find(tree(t, ".ralph", "specs", "plan.md")); err != nil || len(found) != 1 {
		t.Errorf("with files in the place of folders: %v, %v", found, err)
	}
}

func TestShowListsTasks(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		plan plan.Plan
		want string
	}{
		{"no tasks", plan.Plan{Format: "prd"}, `{"format":"prd","tasks":[]}`},
		{
			"tasks", decode(t, "p.md", "- [x] US-1: a\n- [ ] b <!-- pawl: depends_on=US-1 -->\n").Plan(),
			`{"format":"checklist","tasks":[{"id":"US-1","title":"a","done":true,"depends_on":[],"line":1},{"id":"2","title":"b","done":false,"depends_on":["US-1"],"line":2}]}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(planfile.Show(c.plan))
			if err != nil || string(got) != c.want {
				t.Errorf("shown %s, %v; want %s", got, err, c.want)
			}
		})
	}
}
