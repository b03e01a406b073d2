package record_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// gitIn runs git as a user would, in a repository or beside it.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// What the agent's own calls made, as they were written down, may be taken away by it;
// what lay there before, or a user's turn made, may not.
func TestWithHistoryAllowsOwnFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gitIn(t, root, "init", "-q", "-b", "trunk")
	gitIn(t, root, "commit", "-q", "--allow-empty", "-m", "theirs")
	gitIn(t, root, "tag", "old")
	write := func(name string, at time.Time) {
		t.Helper()
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root, ".git/refs/tags/old"), long, long); err != nil {
		t.Fatal(err)
	}
	l, err := store.Open(t.TempDir()).Create(root, record.Spec{Request: record.Request{Prompt: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	write("out/new", now)
	write("mixed/new", now)
	write("mixed/old", long)
	write("theirs.txt", now)
	gitIn(t, root, "commit", "-q", "--allow-empty", "-m", "the agent's")
	gitIn(t, root, "tag", "new")
	write("change", now)
	gitIn(t, root, "add", "change")
	gitIn(t, root, "stash", "push", "-q", "-m", "aside")
	for _, c := range []authorship.Call{
		{Tool: "Bash", Kind: toolcall.Run, Command: "git tag old || git tag new; git stash push -m aside", Dir: root},
		{Tool: "Write", Kind: toolcall.Write, Path: filepath.Join(root, "out", "new")},
		{Tool: "Bash", Kind: toolcall.Run, Command: "touch new old", Dir: filepath.Join(root, "mixed")},
		{Tool: "Bash", Kind: toolcall.Run, Command: "git commit --allow-empty -m \"the agent's\"", Dir: root},
		{Tool: "Bash", Kind: toolcall.Run, Command: "npm start", Background: true},
	} {
		if err := record.AppendCall(record.RunnerCallsPath(l), c); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []authorship.Call{{Tool: "Bash", Kind: toolcall.Run, Command: "touch theirs.txt", Dir: root}, {UserTurn: true}} {
		if err := record.AppendCall(record.ToolCallsPath(l), c); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := record.SessionGuardRules(l, record.GuardDirs{StateDir: "/state", HomeDir: "/home", TempDir: "/temp"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]guard.Decision{
		"git clean -fd out": guard.Allow, "git clean -fd mixed": guard.Deny, "git clean -f mixed/new": guard.Allow, "git clean -f theirs.txt": guard.Deny,
		"git tag -d new": guard.Allow, "git tag -d old": guard.Deny, "git tag -d ../../HEAD": guard.Deny,
		"git commit --amend --no-edit": guard.Allow, "git stash drop": guard.Allow, "pkill -f 'npm start'": guard.Allow, "pkill -f 'npm test'": guard.Deny,
	} {
		if v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: command, Dir: root}, rules); v.Decision != want {
			t.Errorf("%s: %+v, want %s", command, v, want)
		}
	}
	gitIn(t, root, "commit", "-q", "--allow-empty", "-m", "a user's")
	if v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: "git commit --amend --no-edit", Dir: root}, rules); v.Decision != guard.Deny {
		t.Errorf("amend of a user's commit: %+v", v)
	}
}
