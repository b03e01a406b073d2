package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

// Most actions ask git for the tree of the work tree, which costs more than all else in a
// large repository. One that follows at once takes the tree that the action before it saw
// last, where nothing of the loop's has run or written since.

// maxSnapshotAge is how long a tree stands for that of the work tree.
const maxSnapshotAge = 2 * time.Second

// snapshot is the tree of the work tree at a time.
type snapshot struct {
	tree  string
	at    time.Time
	files map[string]string // the state of each file with work, where it was asked for
}

// rememberTree keeps a tree for the next action.
func (r *Runner) rememberTree(tree string) {
	r.lastSnapshot.Store(&snapshot{tree: tree, at: time.Now()})
}

// previousTree is the tree that the action before this one saw at its end, "" for none.
func (r *Runner) previousTree() string {
	if r.previousSnapshot == nil || time.Since(r.previousSnapshot.at) > maxSnapshotAge {
		return ""
	}
	return r.previousSnapshot.tree
}

// currentTree is the tree of the work tree.
func (r *Runner) currentTree(ctx context.Context) (string, error) {
	if tree := r.previousTree(); tree != "" {
		return tree, nil
	}
	tree, _, err := r.Repo.Snapshot(ctx)
	return tree, err
}

// rememberWork is saw, with the state of the files that differ from a commit.
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

// isWorkUnchanged reports whether all these files are as the action before this one saw them.
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

// fileState tells one state of a file from another, "" where that is not known.
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

// saveSnapshot keeps the snapshot that lists and hooks read.
func (r *Runner) saveSnapshot() {
	r.noteUnsaved(r.Owner.Save(r.mark, r.mem, record.Summarize(r.Spec, r.mem)))
}

// noteUnsaved shows that the snapshot could not be written. It is derived: that is worth a
// note, not an end.
func (r *Runner) noteUnsaved(err error) {
	if err != nil {
		r.Observer.Note(memory.Note{Level: loop.Warning, Text: "could not save the loop's snapshot: " + err.Error()})
	}
}
