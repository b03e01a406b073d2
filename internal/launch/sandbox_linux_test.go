package launch_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/review"
)

// A reviewer that is another agent than the loop's has its own sandbox, from which it reaches its
// endpoint. The loop's agent does not reach that.
func TestReviewerReachesItsEndpoint(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", root, "init", "-q", "-b", "main").CombinedOutput(); err != nil {
		t.Skipf("there is no git: %v %s", err, out)
	}
	for _, args := range [][]string{{"config", "user.name", "T"}, {"config", "user.email", "t@example.com"}, {"add", "-A"}, {"commit", "-qm", "start"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %s", args, out)
		}
	}
	write(t, filepath.Join(root, "pawl.toml"), "allow_dirty = true\n[[gates]]\nkind = 'review'\nrubric = 'r'\nagent = 'claude'\nagent_command = '../claude'\n[[gates]]\nkind = 'review'\nname = 'own'\nrubric = 'r'\n")
	for _, name := range []string{"claude", "agent"} {
		path := filepath.Join(root, "..", name)
		write(t, path, "#!/bin/sh\necho 9.9.9\n")
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env.Vars = append(env.Vars, "ANTHROPIC_BASE_URL=https://models.example.com/v1", "PATH="+os.Getenv("PATH"))
	flags := map[string]any{"agent": "command", "agent_command": "../agent", "confine": "strict", "confine_hosts": []string{"packages.example.org"}}
	p, err := launch.Prepare(t.Context(), launch.Request{Dir: root, Words: []string{"do it"}, Flags: flags, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	p.Untrusted = nil // the user has read pawl.toml
	want := memory.Sandbox{Level: "strict", AgentHosts: []string{"models.example.com"}, Hosts: []string{"packages.example.org"}}
	said := p.Sandbox(t.Context())
	if said.Mechanism = ""; !said.Equal(want) {
		t.Error(cmp.Diff(want, said))
	}
	if err := confine.Detect(t.Context()).CheckLevel(confine.Strict); err != nil {
		agenttest.Lacks(t, "%v", err)
	}
	d, err := p.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	reviewer, ok := d.Reviewer.(*review.Reviewer)
	if !ok {
		t.Fatalf("the reviewer is %T", d.Reviewer)
	}
	for _, g := range gate.Reviews(d.Spec.Gates) {
		_, o, err := reviewer.Agent(g)
		if err != nil {
			t.Fatal(err)
		}
		theirs := sandboxVariables(t, o.Prefix)
		if stranger := g.Agent != ""; slices.Contains(theirs, "ANTHROPIC_*") != stranger {
			t.Errorf("%s: its wall keeps %q", g.Name, theirs)
		}
	}
	if kept := sandboxVariables(t, d.Prefix); slices.Contains(kept, "ANTHROPIC_*") {
		t.Errorf("the loop's agent is given the reviewer's key: %q", kept)
	}
}

// sandboxVariables returns the variables that a sandbox passes on.
func sandboxVariables(t *testing.T, prefix []string) []string {
	t.Helper()
	at := slices.Index(prefix, "--policy")
	if at < 0 {
		t.Fatalf("no wall: %q", prefix)
	}
	text, err := os.ReadFile(prefix[at+1])
	if err != nil {
		t.Fatal(err)
	}
	var p confine.Policy
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if p.Net == nil || !p.Net.Proxy {
		t.Errorf("no way out: %s", text)
	}
	return p.Keep
}
