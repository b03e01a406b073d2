package planfile_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each plan in testdata reads as its .golden file says.
func TestPlansMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, path := range plans(t) {
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			t.Parallel()
			f, err := planfile.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			p := f.Plan()
			for i, task := range p.Tasks { // as in the prompt
				p.Tasks[i] = planfile.WithRelated(path, p, task)
			}
			got, err := json.MarshalIndent(struct {
				plan.Plan
				Odd []plan.Problem `json:"odd,omitempty"`
			}{p, f.Warnings()}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := path + ".golden"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// plans returns the plans in testdata.
func plans(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.md", "*.json", "projects/*/.kiro/specs/*/tasks.md", "projects/*/specs/*/tasks.md", "projects/*/openspec/changes/*/tasks.md", "projects/*/.taskmaster/tasks/tasks.json", "projects/*/backlog/tasks"} {
		found, err := filepath.Glob(filepath.Join("testdata", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("no plans in testdata: %v", err)
		}
		out = append(out, found...)
	}
	return out
}
