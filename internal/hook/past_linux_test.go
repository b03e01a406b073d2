package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// In a session, too, the agent may remove what its own calls made, even if the command does not name
// it: everything that git clean would remove, the newest stash, a process.
func TestSessionMayRemoveFilesItsAgentMade(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	git(t, w.root, "init", "-q", "-b", "trunk")
	git(t, w.root, "commit", "-q", "--allow-empty", "-m", "start")
	w.begin(usualSpec())
	var untracked []string
	says := func(event, command string, background bool) string {
		t.Helper()
		payload, err := json.Marshal(map[string]any{
			"hook_event_name": event, "session_id": "s1", "cwd": w.root, "tool_name": "Bash",
			"tool_input": map[string]any{"command": command, "run_in_background": background},
		})
		if err != nil {
			t.Fatal(err)
		}
		var out, problem bytes.Buffer
		Run(t.Context(), Call{
			Args: []string{"claude"}, In: bytes.NewReader(payload), Out: &out, Err: &problem, Env: w.env, Parent: os.Getppid(), Version: "test",
			Untracked: func(root, dir string) ([]string, bool) { return untracked, root == w.root && dir == w.root }, start: startChild,
		})
		return out.String() + problem.String()
	}
	ran := func(command string, background bool) { t.Helper(); says("PostToolUse", command, background) }
	is := func(allowed bool, command, why string) {
		t.Helper()
		if denied := strings.Contains(says("PreToolUse", command, false), `"deny"`); denied == allowed {
			t.Errorf("%s, %s: denied %v", command, why, denied)
		}
	}
	put := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(w.root, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		untracked = append(untracked, filepath.Join(w.root, name))
	}

	is(false, "git stash drop", "nobody's")
	put("mine")
	ran("echo x > mine", false)
	is(true, "git clean -fd", "its own file")
	put("theirs")
	is(false, "git clean -fd", "with the user's")

	git(t, w.root, "stash", "-u")
	ran("git stash -u", false)
	is(true, "git stash drop", "its own")
	git(t, w.root, "stash", "store", "-m", "On trunk: theirs", git(t, w.root, "rev-parse", "stash@{0}^2"))
	is(false, "git stash drop", "the user's on top")

	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("there is no sleep to copy under another name:", err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	const name = "session-naps"
	program := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(program, data, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	for range 100 { // until it is that program
		if comm, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(c.Process.Pid), "comm")); string(comm) == name+"\n" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	is(false, "killall "+name, "nobody's")
	ran(name+" 600", true)
	is(true, "killall "+name, "its own")
	is(false, "killall sleep", "another")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", slices.Concat([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
