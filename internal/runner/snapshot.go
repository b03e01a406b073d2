package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

// Most actions need the tree of the work tree, which is slow in a large repository. So an
// action reuses the tree of the action before it, if nothing of the loop has written since.

// treeState is what is known of the work tree. Like turnState it belongs to the running action.
type treeState struct {
	lastSnapshot      atomic.Pointer[snapshot] // snapshot of the last action, for the next one
	previousSnapshot  *snapshot                // snapshot of the action before this one
	wasIdle           atomic.Bool              // the loop has waited or was paused: the user may have worked in the tree
	lastSkipped       string                   // files that the last checkpoint skipped
	lastBreakingFiles string                   // the last note about files of the user with which gates fail
	lastVariableHint  string                   // the last hint about missing environment variables
}

// maxSnapshotAge is how long a tree may be reused.
const maxSnapshotAge = 2 * time.Second

// snapshot is the tree of the work tree at a time.
type snapshot struct {
	tree  string
	at    time.Time
	files map[string]string // state of each file with work, if known
}

// rememberTree stores a tree for the next action.
func (r *Runner) rememberTree(tree string) {
	r.lastSnapshot.Store(&snapshot{tree: tree, at: time.Now()})
}

// previousTree returns the tree at the end of the last action, or "" if it is too old.
func (r *Runner) previousTree() string {
	if r.previousSnapshot == nil || time.Since(r.previousSnapshot.at) > maxSnapshotAge {
		return ""
	}
	return r.previousSnapshot.tree
}

// currentTree returns the tree of the work tree.
func (r *Runner) currentTree(ctx context.Context) (string, error) {
	if tree := r.previousTree(); tree != "" {
		return tree, nil
	}
	tree, _, err := r.Repo.Snapshot(ctx)
	return tree, err
}

// rememberWork is rememberTree with the state of the files that differ from a commit.
func (r *Runner) rememberWork(ctx context.Context, tree, commit string) error {
	diff, err := r.Repo.Diff(ctx, commit, tree)
	if err != nil {
		return fmt.Errorf("look at the work: %w", err)
	}
	r.rememberTree(tree)
	l := r.lastSnapshot.Load()
	l.files = map[string]string{}
	for _, c := range diff {
		l.files[c.Path] = r.fileState(c.Path)
	}
	return nil
}

// isWorkUnchanged reports whether these files have not changed since the last action.
func (r *Runner) isWorkUnchanged() bool {
	if r.previousTree() == "" || r.previousSnapshot.files == nil {
		return false
	}
	for path, state := range r.previousSnapshot.files {
		if state == "" || r.fileState(path) != state {
			return false
		}
	}
	return true
}

// fileState returns a string that changes with the file, or "" if it is unknown.
func (r *Runner) fileState(path string) string {
	full := filepath.Join(r.Repo.Root(), filepath.FromSlash(path))
	info, err := os.Lstat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return "gone"
	}
	times, timesErr := atomicfile.Times(full)
	if err != nil || timesErr != nil {
		return ""
	}
	return fmt.Sprint(info.Mode(), info.Size(), times)
}

// saveSnapshot writes the snapshot that lists and hooks read.
func (r *Runner) saveSnapshot() {
	r.noteUnsaved(r.Owner.Save(r.mark, r.mem, record.Summarize(r.Spec, r.mem)))
}

// noteUnsaved displays once that the snapshot cannot be written. The loop continues, since the
// snapshot can be rebuilt from the journal.
func (r *Runner) noteUnsaved(err error) {
	if err != nil && !r.unsaved {
		r.Observer.Note(memory.Note{Level: loop.Warning, Text: "the loop's state cannot be saved; the loop continues without: " + err.Error()})
	}
	r.unsaved = err != nil
}
