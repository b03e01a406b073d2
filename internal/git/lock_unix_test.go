//go:build unix

package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

// killedGit puts a git first on the PATH that takes the lock of the index and dies when it should
// write the index, together with its parent if requested.
func (b *sandbox) killedGit(dir, victims string) (path string) {
	b.Helper()
	git, err := exec.LookPath("git")
	b.must(err)
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *\" read-tree \"*) : >\"$GIT_DIR/index.lock\"; kill -9 %s ;; esac\nexec %s \"$@\"\n", victims, git)
	b.must(os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

func TestAGitThatIsKilledLeavesNoLock(t *testing.T) {
	b := newRepo(t)
	usual := os.Getenv("PATH")
	t.Setenv("PATH", b.killedGit(t.TempDir(), "$$"))
	if err := b.repo.AlignIndex(context.Background(), "HEAD"); err == nil {
		t.Fatal("it was not killed")
	}
	t.Setenv("PATH", usual)
	b.repo.lockWait = 0
	b.must(b.repo.AlignIndex(context.Background(), "HEAD"))
	b.noNotes()
}

// A git that is killed at its time limit leaves no lock, either.
func TestTimeoutLeavesNoLock(t *testing.T) {
	b := newRepo(t)
	git, err := exec.LookPath("git")
	b.must(err)
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *\" read-tree \"*) : >\"$GIT_DIR/index.lock\"; trap '' TERM; while :; do sleep 0.1; done ;; esac\nexec %s \"$@\"\n", git)
	b.must(os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	usual := os.Getenv("PATH")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+usual)
	b.repo.callTime = 300 * time.Millisecond
	if err := b.repo.AlignIndex(context.Background(), "HEAD"); !errors.Is(err, errTimeout) {
		t.Fatalf("it was not stopped: %v", err)
	}
	t.Setenv("PATH", usual)
	b.repo.callTime, b.repo.lockWait = 0, 0
	b.must(b.repo.AlignIndex(context.Background(), "HEAD"))
	b.noNotes()
}

func TestTheLockOfAKilledOwnerIsRemovedByTheNext(t *testing.T) {
	t.Parallel()
	needsFolders(t)
	b := newRepo(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PAWL_TEST_ALIGN="+b.dir, "PATH="+b.killedGit(t.TempDir(), "$PPID $$"))
	if err := cmd.Run(); err == nil || b.read(".git/index.lock") != "" {
		t.Fatalf("it was not killed over its lock: %v", err)
	}
	b.repo.lockWait = 20 * time.Millisecond
	b.must(b.repo.AlignIndex(context.Background(), "HEAD"))
	b.noNotes()
}

// Before a loop starts, such a lock is waited for until it is old enough to be removed.
func TestHeldLocksWaitForStaleLock(t *testing.T) {
	t.Parallel()
	needsFolders(t)
	b := newRepo(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PAWL_TEST_ALIGN="+b.dir, "PATH="+b.killedGit(t.TempDir(), "$PPID $$"))
	if err := cmd.Run(); err == nil || b.read(".git/index.lock") != "" {
		t.Fatalf("it was not killed over its lock: %v", err)
	}
	b.repo.lockWait = heldLockWait + time.Second
	b.must(os.Chtimes(b.path(".git/index.lock"), time.Now(), time.Now()))
	if held := b.repo.HeldLocks(t.Context()); len(held) > 0 {
		t.Errorf("held: %v", held)
	}
	b.noNotes()
}

func (b *sandbox) noNotes() {
	b.Helper()
	if left, _ := filepath.Glob(filepath.Join(b.repo.IndexDir(), writeNotePrefix+"*")); len(left) > 0 {
		b.Fatalf("left behind: %q", left)
	}
}

// Only locks of a dead process of ours are removed.
func TestForeignLockStays(t *testing.T) {
	t.Parallel()
	needsFolders(t)
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	const began, none = -time.Hour, ""
	for name, c := range map[string]struct {
		note    func(w *writeNote)
		made    time.Duration // time of the lock relative to now
		removed bool
	}{
		"of ours":                  {func(*writeNote) {}, began + time.Second, true},
		"of ours, the id in use":   {func(w *writeNote) { w.PID, w.Started = os.Getpid(), "of another" }, began + time.Second, true},
		"made before":              {func(*writeNote) {}, began - time.Second, false},
		"made long after":          {func(*writeNote) {}, began + 2*writeTime, false},
		"just made":                {func(*writeNote) {}, 0, false},
		"of a living process":      {func(w *writeNote) { w.PID, w.Started = os.Getpid(), proc.StartID(os.Getpid()) }, began + time.Second, false},
		"of another machine":       {func(w *writeNote) { w.Host = "another." + host }, began + time.Second, false},
		"of a write of other refs": {func(w *writeNote) { w.Locks = w.Locks[1:] }, began + time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t)
			b.snapshot() // creates the folder
			lock, note := b.path(".git/index.lock"), filepath.Join(b.repo.IndexDir(), writeNotePrefix+"1")
			w := writeNote{host, dead.Process.Pid, none, []string{lock, b.path(".git/HEAD.lock")}}
			c.note(&w)
			text, err := json.Marshal(w)
			b.must(err)
			b.must(os.WriteFile(note, text, 0o600))
			b.write(".git/index.lock", "")
			now := time.Now()
			b.must(os.Chtimes(note, now.Add(began), now.Add(began)))
			b.must(os.Chtimes(lock, now.Add(c.made), now.Add(c.made)))
			b.repo.lockWait = time.Second
			if got := b.repo.removeStaleLock(lock); got != c.removed {
				t.Errorf("removed: %v", got)
			}
			if left := b.read(".git/index.lock") == ""; left == c.removed {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A lock that may belong to a user's running git stays, even if one of ours died at the same time.
func TestLockOfRunningGitStays(t *testing.T) {
	t.Parallel()
	needsFolders(t)
	b := newRepo(t)
	host, err := os.Hostname()
	b.must(err)
	dead := exec.Command("true")
	b.must(dead.Run())
	b.snapshot() // creates the folder
	lock, note := b.path(".git/index.lock"), filepath.Join(b.repo.IndexDir(), writeNotePrefix+"1")
	text, err := json.Marshal(writeNote{host, dead.Process.Pid, "", []string{lock}})
	b.must(err)
	b.must(os.WriteFile(note, text, 0o600))
	b.write(".git/index.lock", "")
	hourAgo := time.Now().Add(-time.Hour)
	b.must(os.Chtimes(note, hourAgo, hourAgo))
	b.must(os.Chtimes(lock, hourAgo, hourAgo))
	b.repo.lockWait = time.Millisecond

	other := exec.Command("git", "cat-file", "--batch")
	other.Dir = b.path(".")
	waits, err := other.StdinPipe()
	b.must(err)
	b.must(other.Start())
	for !proc.HasProcessIn(b.dir, "git") { // until exec has finished
		time.Sleep(time.Millisecond)
	}
	if b.repo.removeStaleLock(lock) {
		t.Error("it was removed while another git works there")
	}
	b.must(waits.Close())
	b.must(other.Wait())
	if !b.repo.removeStaleLock(lock) {
		t.Error("it stayed although nobody works there")
	}
}

// needsFolders skips the test if the system does not show whether another git works in a folder.
func needsFolders(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the folders of other processes cannot be told cheaply here")
	}
}
