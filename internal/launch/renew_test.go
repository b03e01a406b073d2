package launch_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/launch"
)

// Changes of the work tree between two beginnings are not the agent's.
func TestRenewInspectsWorkTree(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	git(t, root, "config", "user.name", "dev")
	git(t, root, "config", "user.email", "dev@example.com")
	p, err := launch.Prepare(t.Context(), launch.Request{Dir: root, Words: []string{"plan.md"}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "coverage.out"), "mode: set\n")
	if err := p.Renew(t.Context(), []gate.Gate{{Name: "check", Command: "true"}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(p.Spec.Untracked, "coverage.out") || len(p.Spec.Gates) != 1 {
		t.Errorf("%q are not the agent's, gates %+v", p.Spec.Untracked, p.Spec.Gates)
	}
	if err := p.Refuse(t.Context()); err != nil {
		t.Errorf("refused: %v", err)
	}
	write(t, filepath.Join(root, "sub", "check.sh"), "exit 0\n")
	if err := p.Renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Refuse(t.Context()); err == nil || !strings.Contains(err.Error(), "not committed (sub/check.sh)") {
		t.Errorf("begins over an edit: %v", err)
	}
}
