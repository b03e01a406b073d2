package launch_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Options that have no meaning in a session are refused, not ignored.
func TestUnsupportedSessionOptions(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, want string
		change     func(q *launch.SessionRequest)
	}{
		{"fresh contexts", "--session turn needs fresh contexts", func(q *launch.SessionRequest) { q.Flags = map[string]any{"session": "turn"} }},
		{"the cost", "--max-cost has no effect in a session", func(q *launch.SessionRequest) { q.Flags = map[string]any{"max_cost": "5"} }},
		{"tries beside it, without a command", "--isolate is for loops whose goal is that a command succeeds", func(q *launch.SessionRequest) {
			q.Flags = map[string]any{"verify": map[string]any{"isolate": true}}
		}},
		{"a command for an answer", "this one is of kind answer", func(q *launch.SessionRequest) {
			q.Verify, q.Flags = "true", map[string]any{"kind": "answer"}
		}},
		{"odd tries", "--tries: want a whole number", func(q *launch.SessionRequest) {
			q.Verify, q.Flags = "true", map[string]any{"verify": map[string]any{"tries": "many"}}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, env := newProject(t)
			q := sessionRequestIn(root, env, nil)
			c.change(&q)
			_, err := launch.PrepareInSession(t.Context(), q)
			if err == nil || !strings.Contains(err.Error(), c.want) || failure.CodeOf(err) != failure.Usage {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestIsolationLimitsAreKept(t *testing.T) {
	t.Parallel()
	theirs := &record.Isolation{MaxCostUSD: 2}
	cases := []struct {
		name, config string
		change       func(root string, q *launch.SessionRequest)
		want         *record.Isolation
	}{
		{name: "the usual ones", want: &record.Isolation{MaxCostUSD: 1, Timeout: 5 * time.Minute}},
		{name: "the project's", config: "[verify]\nisolated_cost = 0.5\nisolated_timeout = 0\n", want: &record.Isolation{MaxCostUSD: 0.5}},
		{name: "none", config: "[verify]\nisolate = false\n"},
		{
			name: "those of another tool's files", want: theirs,
			change: func(root string, q *launch.SessionRequest) {
				q.File, q.Isolation, q.Tries = filepath.Join(root, "sub", "state.json"), theirs, 4
			},
		},
		{
			name:   "none in another tool's files",
			change: func(root string, q *launch.SessionRequest) { q.File = filepath.Join(root, "sub", "state.json") },
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, env := newProject(t)
			write(t, filepath.Join(root, "pawl.toml"), c.config)
			q := sessionRequestIn(root, env, nil)
			q.Verify = "true"
			if c.change != nil {
				c.change(root, &q)
			}
			p, err := launch.PrepareInSession(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Spec.Isolation); diff != "" || p.Spec.Policy.Isolate != (c.want != nil) {
				t.Errorf("%v\n%s", p.Spec.Policy, diff)
			}
			if p.Spec.Policy.Tries != q.Tries { // 0: the retry ladder decides
				t.Errorf("%d tries, want %d", p.Spec.Policy.Tries, q.Tries)
			}
		})
	}
}

// A command in a file runs in the file's folder with the file's timeout, if the user trusts it there.
func TestVerifyCommandFromFile(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	state := filepath.Join(root, "runtime-state", "verify-active.json")
	write(t, state, "{}")
	q := sessionRequestIn(root, env, nil)
	q.Dir = filepath.Join(root, "sub") // the session's current folder must not matter
	q.Words, q.Verify, q.VerifyFrom, q.VerifyTimeout, q.File = nil, "sh check.sh", state, 90*time.Second, state
	q.Format, q.AdoptsFile = "verify-active", true
	q.Project, q.VerifyDir = root, filepath.Join(root, "sub")
	p, err := launch.PrepareInSession(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	want := []gate.Gate{{Name: "sh check.sh", Command: "sh check.sh", Dir: "sub", Timeout: 90 * time.Second}}
	if diff := cmp.Diff(want, p.Spec.Gates); diff != "" {
		t.Error(diff)
	}
	command := config.Command{Kind: "verify", File: "runtime-state/verify-active.json", Text: "cd sub && sh check.sh"}
	if diff := cmp.Diff([]config.Command{command}, p.Untrusted); diff != "" {
		t.Error(diff)
	}
	err = p.RefuseInSession(t.Context(), q.Session)
	if err == nil || failure.Hint(err) != "read them, then  ! pawl trust --yes  (in another terminal:  pawl trust); then the loop starts when the next turn ends" {
		t.Errorf("%v, hint %q", err, failure.Hint(err))
	}
	if err := config.OpenTrust(env.PawlHome).Add(t.Context(), root, []config.Command{command}); err != nil {
		t.Fatal(err)
	}
	if p, err = launch.PrepareInSession(t.Context(), q); err != nil || p.RefuseInSession(t.Context(), q.Session) != nil {
		t.Errorf("%v, %v", err, p.RefuseInSession(t.Context(), q.Session))
	}
	q.VerifyDir = ""
	if p, err = launch.PrepareInSession(t.Context(), q); err != nil || p.Spec.Gates[0].Dir != "" || len(p.Untrusted) != 1 {
		t.Errorf("at the root: %+v, %v", p, err)
	}
	q.VerifyDir = t.TempDir()
	if _, err = launch.PrepareInSession(t.Context(), q); err == nil || !strings.Contains(err.Error(), "is outside") {
		t.Error(err)
	}
}

// A tool may keep its state file in the client's plugin folder, outside of the project. The loop
// neither commits nor inspects files there.
func TestStateFileOutsideProject(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	state := filepath.Join(t.TempDir(), "verify-active.json")
	write(t, state, "{}")
	q := sessionRequestIn(root, env, nil)
	q.File, q.Format, q.AdoptsFile, q.Verify, q.VerifyFrom = state, "verify-active", true, "true", state
	p, err := launch.PrepareInSession(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if p.Spec.CompatFile != filepath.ToSlash(state) || p.Spec.CompatFormat != "verify-active" || slices.Contains(p.Spec.Untracked, p.Spec.CompatFile) {
		t.Errorf("%+v", p.Spec)
	}
	if err := p.RefuseInSession(t.Context(), q.Session); err == nil || failure.Hint(err) != fmt.Sprintf("read them, then  ! pawl trust --yes %s  (in another terminal:  pawl trust %[1]s); then the loop starts when the next turn ends", p.Spec.CompatFile) {
		t.Errorf("%v, hint %q", err, failure.Hint(err))
	}
}

// A file that a gate passes to its test runner counts as a test, unless the user declares the tests.
func TestNamedTestsAreFrozen(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	flags := map[string]any{"gates": []string{"pytest checks/foo.py"}}
	for config, want := range map[string]bool{"": true, "tests = ['t/**']": false} {
		write(t, filepath.Join(root, "pawl.toml"), config)
		p, err := launch.PrepareInSession(t.Context(), sessionRequestIn(root, env, flags))
		if err != nil {
			t.Fatal(err)
		}
		if got := verify.IsTest(p.Spec.Tests, "checks/foo.py"); got != want {
			t.Errorf("%q: %t, %q", config, got, p.Spec.Tests)
		}
	}
}

// A gate typed in a session runs in the agent's folder.
func TestTypedGateRunsInSessionFolder(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	q := sessionRequestIn(root, env, map[string]any{"gates": []string{"sh check.sh"}})
	q.Project, q.Dir = root, filepath.Join(root, "sub")
	p, err := launch.PrepareInSession(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Spec.Gates[0].Dir; got != "sub" {
		t.Errorf("the gate runs in %q", got)
	}
}
