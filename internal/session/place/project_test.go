package place_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// What the environment names is looked for where it says, and nowhere outside of
// it by a name that climbs.
func TestPathsOfAProject(t *testing.T) {
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
		{"ralph-loop", plain.RalphLoop(), in(".claude", "ralph-loop.local.md")},
		{"th-loop", plain.ThLoop(), in(".claude", "th-loop.local.md")},
		{"th-loop of an agent", set.ThLoop(), in(".claude", "th-loop-eris.local.md")},
		{"th-loop of no agent", odd.ThLoop(), ""},
		{"no folder of a feature list", plain.FeatureLoop(), ""},
		{"its folder in the project", set.FeatureLoop(), in("loops", "mine")},
		{"its folder elsewhere", odd.FeatureLoop(), elsewhere},
		{"verify loop", plain.VerifyActive(), states(root)},
		{"verify loop of a plugin", set.VerifyActive(), states(plugin, root)},
		{"verify loop of no plugin", odd.VerifyActive(), states(root)},
		{"nowhere", place.Project{}.RalphLoop() + place.Project{}.ThLoop() + place.Project{}.RalphLoops(), ""},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if plain.Loops() || (place.Project{}).Loops() || !set.Loops() { // a folder that was named is looked for wherever it is
		t.Errorf("loops: %v %v", plain.Loops(), set.Loops())
	}
	if err := os.Mkdir(filepath.Join(plugin, "runtime-state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(states(plugin)[1], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if set.RalphLoopDir = ""; plain.Loops() || !set.Loops() {
		t.Errorf("loops beside a plugin's state: %v %v", plain.Loops(), set.Loops())
	}
}
