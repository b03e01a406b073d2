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

// snapshotAge is how long a tree stands for that of the work tree.
const snapshotAge = 2 * time.Second

// snapshot is the tree of the work tree at a time.
type snapshot struct {
	tree  string
	at    time.Time
	files map[string]string // the state of each file with work, where it was asked for
}

// saw keeps a tree for the next action.
func (r *Runner) saw(tree string) { r.last.Store(&snapshot{tree: tree, at: time.Now()}) }

// treeBefore is the tree that the action before this one saw at its end, "" for none.
func (r *Runner) treeBefore() string {
	if r.before == nil || time.Since(r.before.at) > snapshotAge {
		return ""
	}
	return r.before.tree
}

// treeNow is the tree of the work tree.
func (r *Runner) treeNow(ctx context.Context) (string, error) {
	if tree := r.treeBefore(); tree != "" {
		return tree, nil
	}
	tree, _, err := r.Repo.Snapshot(ctx)
	return tree, err
}

// sawWork is saw, with the state of the files that differ from a commit.
func (r *Runner) sawWork(ctx context.Context, tree, commit string) error {
	diff, err := r.Repo.Diff(ctx, commit, tree)
	if err != nil {
		return fmt.Errorf("look at the work: %w", err)
	}
	r.saw(tree)
	l := r.last.Load()
	l.files = map[string]string{}
	for _, c := range diff {
		l.files[c.Path] = r.stateOf(c.Path)
	}
	return nil
}

// holdsWork reports whether all these files are as the action before this one saw them.
func (r *Runner) holdsWork() bool {
	if r.treeBefore() == "" || r.before.files == nil {
		return false
	}
	for path, state := range r.before.files {
		if state == "" || r.stateOf(path) != state {
			return false
		}
	}
	return true
}

// stateOf tells one state of a file from another, "" where that is not known.
func (r *Runner) stateOf(path string) string {
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

// save keeps the snapshot that lists and hooks read.
func (r *Runner) save() {
	r.noteUnsaved(r.Owner.Save(r.mark, r.mem, record.Summarize(r.Spec, r.mem)))
}

// noteUnsaved shows that the snapshot could not be written. It is derived: that is worth a
// note, not an end.
func (r *Runner) noteUnsaved(err error) {
	if err != nil {
		r.Observer.Note(memory.Note{Level: loop.Warning, Text: "could not save the loop's snapshot: " + err.Error()})
	}
}
