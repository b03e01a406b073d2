//go:build unix

package proc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/proc"
)

// The test looks at the parent, not the process: on a loaded machine, a line from a shell that
// waits for two programs did not always arrive. It does not run in parallel, because its orphan
// without a tag is ended by the next sweep of another test.
func TestStartDetachedHasNoParent(t *testing.T) {
	agenttest.Needs(t, "ps")
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("/bin/sh", "-c", `echo "$1|$PWD|$MARK"; cat; exec sleep 300`, "sh", `a "b' $c`)
	cmd.Dir, cmd.Env, cmd.Stdout = dir, append(os.Environ(), "MARK=x"), out
	pid, err := proc.StartDetached(cmd)
	if err != nil || !proc.Alive(pid) {
		t.Fatal(pid, err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	// The name of the program must be checked, because this process may adopt orphans.
	if parent := ps(t, "comm=", ps(t, "ppid=", strconv.Itoa(pid))); parent == "sh" {
		t.Errorf("who started it is still there: %s", parent)
	}
	said := ""
	for deadline := time.Now().Add(time.Minute); !strings.HasSuffix(said, "\n"); time.Sleep(10 * time.Millisecond) {
		data, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%v: %s", err, data)
		}
		said = string(data)
	}
	resolved, _ := filepath.EvalSymlinks(dir)
	if want := `a "b' $c|`; said != want+dir+"|x\n" && said != want+resolved+"|x\n" {
		t.Errorf("it was told %q", said)
	}
}

// ps returns one column of ps about a process.
func ps(t *testing.T, column, pid string) string {
	t.Helper()
	out, err := exec.Command("ps", "-o", column, "-p", pid).Output()
	if err != nil {
		t.Fatalf("ps -o %s -p %s: %v", column, pid, err)
	}
	return strings.TrimSpace(string(out))
}

func TestStartDetachedReturnsError(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", "true")
	cmd.Dir = filepath.Join(t.TempDir(), "nowhere")
	if pid, err := proc.StartDetached(cmd); err == nil {
		t.Errorf("process %d was started in no folder", pid)
	}
}
