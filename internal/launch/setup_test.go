package launch_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// loopAfterFailedSetUp returns a loop that could not be set up; the obstacle is removed.
func loopAfterFailedSetUp(t *testing.T) (root string, env environment.Environment, l *store.Loop) {
	t.Helper()
	root, env = newProject(t)
	git(t, root, "config", "user.name", "dev")
	git(t, root, "config", "user.email", "dev@example.com")
	configureScriptAgent(t, env, `echo work >done.txt; echo "<promise>DONE</promise>"`)
	flags := map[string]any{"gates": []string{"sh ./sub/check.sh"}, "evidence": []string{"unproven"}}
	p, err := launch.Prepare(t.Context(), launch.Request{Dir: root, Words: []string{"do it"}, Flags: flags, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	git(t, root, "branch", "pawl") // it prevents a branch pawl/<id>
	if _, err = p.Begin(t.Context()); err == nil || failure.Hint(err) == "" {
		t.Fatalf("it began: %v, hint %q", err, failure.Hint(err))
	}
	git(t, root, "branch", "-D", "pawl")
	loops, err := store.Open(env.PawlHome).Loops()
	if err != nil || len(loops) != 1 {
		t.Fatalf("%v, %v", loops, err)
	}
	return root, env, loops[0]
}

func gitOutput(t *testing.T, root string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// A failed setup leaves nothing, and resume repeats it.
func TestResumeAfterFailedSetUp(t *testing.T) {
	t.Parallel()
	root, env, l := loopAfterFailedSetUp(t)
	if got := gitOutput(t, root, "branch", "--format=%(refname:short)"); got != "main" {
		t.Errorf("branches: %s", got)
	}
	if got := gitOutput(t, root, "symbolic-ref", "--short", "HEAD"); got != "main" {
		t.Errorf("on %s", got)
	}
	if st := loadMemory(t, l).State; st.Outcome != loop.Errored {
		t.Fatalf("%s %s", st.Phase, st.Outcome)
	}
	d, err := launch.Resume(t.Context(), l, env, launch.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	st, err := d.Run(t.Context())
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	if st.Outcome != loop.Verified || len(st.Tasks) != 1 {
		t.Errorf("%s: %s, %+v", st.Outcome, st.Reason, st.Tasks)
	}
	if got := gitOutput(t, root, "log", "--format=%s", "main..pawl/"+l.ID); strings.Contains(got, "\n") || got == "" {
		t.Errorf("commits: %s", got)
	}
}

// Changes that the user made meanwhile are not the agent's.
func TestResumeAfterFailedSetUpRefusesChanges(t *testing.T) {
	t.Parallel()
	root, env, l := loopAfterFailedSetUp(t)
	write(t, filepath.Join(root, "plan.md"), "- [ ] mine\n")
	if _, err := launch.Resume(t.Context(), l, env, launch.ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "not committed") {
		t.Fatalf("it began: %v", err)
	}
	if got := gitOutput(t, root, "branch", "--format=%(refname:short)"); got != "main" {
		t.Errorf("branches: %s", got)
	}
	git(t, root, "-c", "user.name=dev", "commit", "-q", "-a", "-m", "mine")
	d, err := launch.Resume(t.Context(), l, env, launch.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	st, err := d.Run(t.Context())
	if err := errors.Join(err, d.Close()); err != nil || st.Outcome != loop.Verified {
		t.Fatalf("%s: %s, %v", st.Outcome, st.Reason, err)
	}
	if got := gitOutput(t, root, "log", "--format=%an %s", "main..pawl/"+l.ID); strings.Contains(got, "\n") {
		t.Errorf("the user's commit is the loop's: %s", got)
	}
}

// A separate worktree is removed with its branch, and made again.
func TestFailedWorktreeIsCreatedAgain(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	git(t, root, "config", "user.name", "dev")
	git(t, root, "config", "user.email", "dev@example.com")
	configureScriptAgent(t, env, `echo work >done.txt; echo "<promise>DONE</promise>"`)
	config := filepath.Join(env.ConfigHome, "pawl", "config.toml")
	ready := filepath.Join(env.Home, "ready")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, string(text)+"gates = [\"sh ./sub/check.sh\"]\nevidence = \"unproven\"\n[worktree]\nsetup = [\"test -f '"+filepath.ToSlash(ready)+"'\"]\n")
	q := launch.Request{Dir: root, Words: []string{"do it"}, Flags: map[string]any{"worktree": true}, Env: env}
	p, err := launch.Prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Begin(t.Context()); err == nil {
		t.Fatal("it began")
	}
	if got := gitOutput(t, root, "branch", "--format=%(refname:short)") + gitOutput(t, root, "worktree", "list", "--porcelain"); strings.Contains(got, "pawl/") {
		t.Errorf("left behind:\n%s", got)
	}
	loops, err := store.Open(env.PawlHome).Loops()
	if err != nil || len(loops) != 1 {
		t.Fatalf("%v, %v", loops, err)
	}
	write(t, ready, "")
	d, err := launch.Resume(t.Context(), loops[0], env, launch.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	st, err := d.Run(t.Context())
	if err := errors.Join(err, d.Close()); err != nil || st.Outcome != loop.Verified {
		t.Fatalf("%s: %s, %v", st.Outcome, st.Reason, err)
	}
}

// Of two loops that begin at the same time in a folder, one runs. The other leaves nothing: a loop
// that never began would be the newest, which commands take.
func TestLoopThatIsTooLateIsRemoved(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	git(t, root, "config", "user.name", "dev")
	git(t, root, "config", "user.email", "dev@example.com")
	configureScriptAgent(t, env, `true`)
	late, err := launch.Prepare(t.Context(), launch.Request{Dir: root, Words: []string{"do it"}, Flags: map[string]any{"gates": []string{"sh ./sub/check.sh"}}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	l, version, err := late.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	st := store.Open(env.PawlHome)
	unlock, err := st.LockWorktree(t.Context(), late.Repo, "calm-otter-1111")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := launch.BeginCreated(late, t.Context(), l, version); !store.IsHeld(err) {
		t.Errorf("it began: %v", err)
	}
	if loops, err := st.Loops(); err != nil || len(loops) != 0 {
		t.Errorf("%v, %v", loops, err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

// A user who stops the loop while its worktree is set up does not wait for the set-up.
func TestStopDuringSetUp(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	git(t, root, "config", "user.name", "dev")
	git(t, root, "config", "user.email", "dev@example.com")
	configureScriptAgent(t, env, `echo work >done.txt; echo "<promise>DONE</promise>"`)
	config := filepath.Join(env.ConfigHome, "pawl", "config.toml")
	begun, finished := filepath.Join(env.Home, "begun"), filepath.Join(env.Home, "finished")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	setUp := fmt.Sprintf("touch '%s'; sleep 60; touch '%s'", filepath.ToSlash(begun), filepath.ToSlash(finished))
	write(t, config, fmt.Sprintf("%sgates = [\"sh ./sub/check.sh\"]\n[worktree]\nsetup = [%q]\n", text, setUp))
	p, err := launch.Prepare(t.Context(), launch.Request{Dir: root, Words: []string{"do it"}, Flags: map[string]any{"worktree": true}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := p.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	posted := make(chan error, 1)
	go func() {
		ok, err := launch.Poll(t.Context(), time.Minute, func() (bool, error) { _, err := os.Lstat(begun); return err == nil, nil })
		if err == nil && !ok {
			err = errors.New("no set-up began within a minute")
		}
		posted <- errors.Join(err, l.Post("stop-1", record.Message{Kind: record.MessageStop}))
	}()
	d, err := launch.Resume(t.Context(), l, env, launch.ResumeOptions{})
	if err = errors.Join(err, <-posted); err != nil {
		t.Fatal(err)
	}
	st, err := d.Run(t.Context())
	if err := errors.Join(err, d.Close()); err != nil || st.Outcome != loop.CancelledEnd || st.Turns != 0 {
		t.Fatalf("%s after %d turns: %v", st.Outcome, st.Turns, err)
	}
	if _, err := os.Lstat(finished); err == nil {
		t.Error("the set-up ran to its end")
	}
}
