package git

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

// TestRestoreSurvivesKill kills a process that restores, with its children, at random moments.
// Another process must always finish the restore.
func TestRestoreSurvivesKill(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	for i := range 120 {
		b.write(fmt.Sprintf("d%d/f%d", i%7, i), "one")
	}
	one := b.checkpoint()
	for i := range 120 {
		b.remove(fmt.Sprintf("d%d/f%d", i%7, i))
		b.write(fmt.Sprintf("d%d/f%d/g", i%5, i), "two")
	}
	two := b.checkpoint()
	untouched := b.untouchable()
	const rounds = 5
	killed := 0
	for round := range rounds {
		target := []Checkpoint{one, two}[round%2]
		marker := fmt.Sprint("pawl-git-", os.Getpid(), "-", round)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PAWL_TEST_RESTORE="+b.dir, "PAWL_TEST_TARGET="+target.Commit, proc.MarkerName+"="+marker)
		b.must(cmd.Start())
		timer := time.AfterFunc(time.Duration(1+rand.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			killed++
		}
		timer.Stop()
		proc.SweepMarked(marker, 0) // as the next owner of a loop does
		b.restore(target.Commit)
		b.equal(fmt.Sprint("round ", round), target.Tree)
	}
	if killed == 0 {
		t.Log("no round was slow enough to be killed")
	}
	if b.untouchable() != untouched {
		t.Error("the index, HEAD, a branch or the stash changed")
	}
}

// A git that never ends is killed with its parent.
func TestGitDiesWithItsParent(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	git, err := exec.LookPath("git")
	b.must(err)
	bin := t.TempDir()
	started := filepath.Join(bin, "started")
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *\" status \"*) echo $$ >%s.new; mv %[1]s.new %[1]s; exec sleep 1000 ;; esac\nexec %s \"$@\"\n", started, git)
	b.must(os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PAWL_TEST_RESTORE="+b.dir, "PAWL_TEST_TARGET=HEAD", "PATH="+bin+":"+os.Getenv("PATH"))
	b.must(cmd.Start())
	var pid int
	for deadline := time.Now().Add(time.Minute); pid == 0; time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(started)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		if time.Now().After(deadline) {
			t.Fatal("no git status was started")
		}
	}
	b.must(cmd.Process.Kill())
	_ = cmd.Wait()
	for deadline := time.Now().Add(time.Minute); proc.Alive(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("git outlives who started it")
		}
	}
}
