package launch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/launch"
)

// newProject makes a repository with two committed files and an untracked one.
func newProject(t *testing.T) (root string, env environment.Environment) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(home, "work")
	for name, text := range map[string]string{"plan.md": "- [ ] one\n", "sub/check.sh": "true\n"} {
		write(t, filepath.Join(root, name), text)
	}
	git(t, root, "init", "-q", "-b", "main")
	git(t, root, "add", ".")
	git(t, root, "commit", "-q", "-m", "start")
	write(t, filepath.Join(root, "mine.txt"), "mine\n")
	return root, environment.Environment{Home: home, PawlHome: filepath.Join(home, "state"), ConfigHome: filepath.Join(home, "config")}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, root string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=dev", "-c", "user.email=dev@example.com"}, args...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// Prepare finds files that the loop must not commit, and resolves typed paths.
func TestPrepareFindsConflicts(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	git(t, root, "config", "user.name", "dev")
	git(t, root, "config", "user.email", "dev@example.com")
	write(t, filepath.Join(root, "new.md"), "- [ ] one\n")
	sub := filepath.Join(root, "sub")
	cases := []struct {
		name    string
		dir     string
		words   []string
		flags   map[string]any
		foreign []string
		command string
	}{
		{name: "in the tree", dir: root, words: []string{"do it"}, foreign: []string{"mine.txt", "new.md"}},
		{name: "in a worktree of its own", dir: root, words: []string{"do it"}, flags: map[string]any{"worktree": true}},
		{
			name: "in a worktree of its own, with a plan that git does not hold", dir: root, words: []string{"new.md"},
			flags: map[string]any{"worktree": true}, foreign: []string{"new.md"},
		},
		{
			name: "typed in a folder below", dir: sub, words: []string{"do it"}, foreign: []string{"mine.txt", "new.md"},
			flags:   map[string]any{"gates": []string{"sh ./check.sh"}, "agent_command": "./claude"},
			command: filepath.Join(sub, "claude"),
		},
		{
			name: "a name for the PATH", dir: sub, words: []string{"do it"}, foreign: []string{"mine.txt", "new.md"},
			flags: map[string]any{"agent_command": "my-claude"}, command: "my-claude",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := launch.Prepare(t.Context(), launch.Request{Dir: c.dir, Words: c.words, Flags: c.flags, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.foreign, []string(p.Spec.Untracked), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("foreign: %s", diff)
			}
			if len(p.Spec.Gates) > 0 && p.Spec.Gates[0].Dir != "" {
				t.Errorf("the gate runs in %q", p.Spec.Gates[0].Dir)
			}
			if p.Spec.Agent.Command != c.command {
				t.Errorf("the agent's program is %q", p.Spec.Agent.Command)
			}
		})
	}
}
