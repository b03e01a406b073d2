package git

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
)

// A git that is killed while it writes leaves a lock file behind, which blocks everybody. A lock
// file does not name its owner. So for each git of ours that writes, a note lists the locks that it
// may take and the process that started it. A lock is removed only if a note names it, it is as old
// as that write, the writer is dead, and no other git works in the folder. All other locks are
// reported with their age.

// writeNote is a note about a running git that writes. The time of its file is the start of the
// write.
type writeNote struct {
	Host    string   `json:"host"`
	PID     int      `json:"pid"`
	Started string   `json:"started,omitempty"` // start id of the process, if known
	Locks   []string `json:"locks"`             // absolute paths
}

// writeNotePrefix begins the file names of notes, in the folder of the private indexes.
const writeNotePrefix = "writing-"

// saveWriteNote writes a note and returns its path, or "" if that fails. Without a note, a stale
// lock is not removed.
func (r *Repo) saveWriteNote(c call) string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	if r.makeIndexDir() != nil {
		return ""
	}
	f, err := os.CreateTemp(r.IndexDir(), writeNotePrefix+"*")
	if err != nil {
		return ""
	}
	defer f.Close()
	pid := os.Getpid()
	if json.NewEncoder(f).Encode(writeNote{host, pid, proc.StartID(pid), r.locksOf(c)}) != nil {
		_ = os.Remove(f.Name())
		return ""
	}
	return f.Name()
}

// locksOf returns the locks that a call may take in the user's part of the repository.
func (r *Repo) locksOf(c call) []string {
	head := filepath.Join(r.gitDir, "HEAD.lock")
	switch c.verb() {
	case "symbolic-ref":
		return []string{head}
	case "update-ref":
		locks := []string{head, filepath.Join(r.commonDir, "packed-refs.lock")}
		for _, arg := range c.args {
			if strings.HasPrefix(arg, "refs/") {
				locks = append(locks, filepath.Join(r.commonDir, filepath.FromSlash(arg)+".lock"))
			}
		}
		return locks
	}
	return []string{filepath.Join(r.gitDir, "index.lock"), head}
}

// removeLocks removes the locks of a call whose git was killed. No other process can have taken
// them while it ran.
func removeLocks(note string) {
	w, began, ok := readWriteNote(note)
	if !ok {
		return
	}
	for _, lock := range w.Locks {
		if info, err := os.Lstat(lock); err == nil && info.Mode().IsRegular() && !info.ModTime().Before(began) {
			_ = os.Remove(lock)
		}
	}
}

// SetLockWait sets how long a git waits for the lock of another git; the default is ten seconds.
func (r *Repo) SetLockWait(d time.Duration) { r.lockWait = d }

// HeldLocks returns the locks of other gits that prevent commits. It waits a moment, because a
// running git releases its locks soon, but a crashed one does not. A lock of a dead process of ours
// is waited for until it is old enough to be removed.
func (r *Repo) HeldLocks(ctx context.Context) []error {
	var all []error
	for _, file := range []string{"HEAD.lock", "index.lock"} {
		lock := filepath.Join(r.gitDir, file)
		wait := min(r.lockWait, heldLockWait)
		if r.deadWriter(lock) != "" {
			wait = r.lockWait + lockMax // then the lock is as old as r.lockWait
		}
		deadline := time.Now().Add(wait)
		for {
			info, err := os.Lstat(lock)
			if err != nil || r.removeStaleLock(lock) {
				break
			}
			if ctx.Err() != nil || time.Now().After(deadline) {
				all = append(all, failure.New(failure.Usage, lockHint(lock), "another git holds the lock %s, which is %s old", lock, age(info)))
				break
			}
			time.Sleep(lockMax)
		}
	}
	return all
}

// lockHint returns what a user can do about the lock of another git.
func lockHint(lock string) string {
	return fmt.Sprintf("wait for the other git to end; if none is running, remove its lock file:  rm '%s'", lock)
}

func age(info os.FileInfo) time.Duration { return time.Since(info.ModTime()).Round(time.Second) }

// removeStaleLock removes a lock that a process of ours left when it was killed together with its
// git. It reports whether it did.
func (r *Repo) removeStaleLock(lock string) bool {
	info, err := os.Lstat(lock)
	if err != nil || time.Since(info.ModTime()) < r.lockWait {
		return false
	}
	gitRunsIn := func(dir string) bool { return proc.HasProcessIn(dir, "git") }
	if slices.ContainsFunc([]string{r.root, r.gitDir, r.commonDir}, gitRunsIn) {
		return false // it may belong to that git, which a user started within the same seconds
	}
	note := r.deadWriter(lock)
	if note == "" || os.Remove(lock) != nil {
		return false
	}
	_ = os.Remove(note)
	return true
}

// deadWriter returns the note of a dead process of ours whose git created the lock, or "".
func (r *Repo) deadWriter(lock string) string {
	info, err := os.Lstat(lock)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	made := info.ModTime()
	notes, _ := filepath.Glob(filepath.Join(r.IndexDir(), writeNotePrefix+"*"))
	for _, note := range notes {
		w, began, ok := readWriteNote(note)
		if ok && slices.Contains(w.Locks, lock) && !made.Before(began) && !made.After(began.Add(writeTime)) && w.isDead() {
			return note
		}
	}
	return ""
}

func readWriteNote(note string) (w writeNote, began time.Time, ok bool) {
	info, err := os.Lstat(note)
	if err != nil {
		return w, began, false
	}
	b, err := atomicfile.Read(note, maxConfigBytes)
	return w, info.ModTime(), err == nil && json.Unmarshal(b, &w) == nil
}

// isDead reports whether the writing process has ended, even if its id is used again. A process on
// another machine counts as alive.
func (w writeNote) isDead() bool {
	host, err := os.Hostname()
	if err != nil || host != w.Host {
		return false
	}
	return !proc.Alive(w.PID) || w.Started != proc.StartID(w.PID)
}

// lockOf returns the lock file in git's error, or "".
func lockOf(err error) string {
	_, after, _ := strings.Cut(err.Error(), "Unable to create '")
	path, _, found := strings.Cut(after, "': File exists")
	if !found {
		return ""
	}
	return filepath.FromSlash(path)
}

// lockHeld returns the error for a lock that is not released.
func (r *Repo) lockHeld(err error) error {
	lock, old := lockOf(err), ""
	if info, statErr := os.Lstat(lock); statErr == nil {
		old = fmt.Sprintf(", which is %s old", age(info))
	}
	return failure.New(failure.Error, lockHint(lock), "another git holds the lock %s%s: %w", lock, old, err)
}
