package launch_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/launch"
)

// One process has several contexts, but a sandbox is made with its process.
func TestFreshContextsOfOneProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags map[string]any
		want  bool
	}{
		"by default":             {nil, true},
		"asked not to":           {map[string]any{"warm": false}, false},
		"in a sandbox":           {map[string]any{"confine": "tree"}, false},
		"asked to, in a sandbox": {map[string]any{"confine": "tree", "warm": true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, env := project(t)
			git(t, root, "config", "user.name", "dev")
			git(t, root, "config", "user.email", "dev@example.com")
			p, err := launch.Prepare(t.Context(), launch.Request{Dir: root, Words: []string{"do it"}, Flags: c.flags, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			if p.Spec.Warm != c.want {
				t.Errorf("warm is %t", p.Spec.Warm)
			}
		})
	}
}
