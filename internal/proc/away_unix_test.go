//go:build unix

package proc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

func TestAwayIsNobodysChild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("/bin/sh", "-c", `echo "$1|$PWD|$MARK"; cat; while ! test -e go; do sleep 0.02; done; ps -o comm= -p "$(ps -o ppid= -p $$)" >&2`, "sh", `a "b' $c`)
	cmd.Dir, cmd.Env, cmd.Stdout = dir, append(os.Environ(), "MARK=x"), out
	pid, err := proc.Away(cmd)
	if err != nil || !proc.Alive(pid) {
		t.Fatal(pid, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		said, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%v: %s", err, said)
		}
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		if len(lines) < 2 {
			continue
		}
		if resolved, _ := filepath.EvalSymlinks(dir); lines[0] != `a "b' $c|`+dir+`|x` && lines[0] != `a "b' $c|`+resolved+`|x` {
			t.Errorf("it was told %q", lines[0])
		}
		if parent := strings.TrimSpace(lines[1]); parent == "" || parent == "sh" {
			t.Errorf("who started it is still there: %q", parent)
		}
		return
	}
}

func TestAwaySaysWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", "true")
	cmd.Dir = filepath.Join(t.TempDir(), "nowhere")
	if pid, err := proc.Away(cmd); err == nil {
		t.Errorf("process %d was started in no folder", pid)
	}
}
