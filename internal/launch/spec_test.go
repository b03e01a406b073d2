package launch_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/launch"
)

// One process has several contexts, but the sandbox is built with the process.
func TestFreshContextsShareProcessSandbox(t *testing.T) {
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
			root, env := newProject(t)
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

// Gates get the whole text of a task, however long its title is.
func TestGatesGetWholeTaskText(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	git(t, root, "config", "user.name", "dev")
	git(t, root, "config", "user.email", "dev@example.com")
	long := strings.Repeat("word ", 50) + "limit 20"
	write(t, filepath.Join(root, "plan.md"), "# Plan\n\n- [ ] US-001: short\n- [ ] US-002: "+long+"\n- [ ] US-003: export\n  - as CSV\n")
	p, err := launch.Prepare(t.Context(), launch.Request{Dir: root, Words: []string{"plan.md"}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"US-001": "short", "US-002": "limit 20", "US-003": "as CSV"} {
		if got := p.Spec.TaskText([]string{id}); !strings.Contains(got, want) {
			t.Errorf("%s says %q, not %q", id, got, want)
		}
	}
}
