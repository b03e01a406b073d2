package place_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// Paths from the environment are used as they are; a name with ".." does not leave the
// project.
func TestProjectPathsStayInTheProject(t *testing.T) {
	t.Parallel()
	root, plugin, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	plain := place.At(root, environment.Environment{})
	set := place.At(root, environment.Environment{
		ThLoopAgent: "eris", RalphLoopDir: "loops/mine", Session: environment.Session{Plugin: plugin},
	})
	odd := place.At(root, environment.Environment{
		ThLoopAgent: "../../eris", RalphLoopDir: elsewhere, Session: environment.Session{Plugin: "plugin"},
	})
	in := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	states := func(roots ...string) (paths []string) {
		for _, below := range []string{"", "server"} {
			for _, root := range roots {
				dir := filepath.Join(root, below, "runtime-state")
				paths = append(paths, filepath.Join(dir, "verify-active.json"), filepath.Join(dir, "verify-state.db"))
			}
		}
		return paths
	}
	cases := []struct {
		name      string
		got, want any
	}{
		{"ralph-loop", plain.RalphLoopPath(), in(".claude", "ralph-loop.local.md")},
		{"th-loop", plain.ThLoopPath(), in(".claude", "th-loop.local.md")},
		{"th-loop of an agent", set.ThLoopPath(), in(".claude", "th-loop-eris.local.md")},
		{"th-loop of no agent", odd.ThLoopPath(), ""},
		{"no folder of a feature list", plain.FeatureLoopDir(), ""},
		{"its folder in the project", set.FeatureLoopDir(), in("loops", "mine")},
		{"its folder elsewhere", odd.FeatureLoopDir(), elsewhere},
		{"verify loop", plain.VerifyActivePaths(), states(root)},
		{"verify loop of a plugin", set.VerifyActivePaths(), states(plugin, root)},
		{"verify loop of no plugin", odd.VerifyActivePaths(), states(root)},
		{"nowhere", place.Project{}.RalphLoopPath() + place.Project{}.ThLoopPath() + place.Project{}.FeatureLoopsDir(), ""},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if plain.MayHaveLoop() || (place.Project{}).MayHaveLoop() || !set.MayHaveLoop() { // a folder that was named is looked for wherever it is
		t.Errorf("loops: %v %v", plain.MayHaveLoop(), set.MayHaveLoop())
	}
	if err := os.Mkdir(filepath.Join(plugin, "runtime-state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(states(plugin)[1], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if set.RalphLoopDir = ""; plain.MayHaveLoop() || !set.MayHaveLoop() {
		t.Errorf("loops beside a plugin's state: %v %v", plain.MayHaveLoop(), set.MayHaveLoop())
	}
}
