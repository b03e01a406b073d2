package git

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/dirwatch"
	"github.com/pawl-dev/pawl/internal/git/indexfile"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// maxUpdated limits the paths that are updated one by one between two trees of a worktree.
const maxUpdated = 2000

// Watch makes resets of a large worktree check only what changed in it. Call it on a new worktree.
// Processes there must not be able to reach its files in other ways, for example by a hard link
// elsewhere: the watch does not see that.
func (w *Worktree) Watch(ctx context.Context) { w.watchTree(ctx, watchedFrom) }

func (w *Worktree) watchTree(ctx context.Context, from int) {
	w.from, w.clean = from, true
	w.restartWatch(ctx)
}

// restartWatch starts the watch again, after the files were checked out and before anything runs.
func (w *Worktree) restartWatch(ctx context.Context) {
	w.held = ""
	if w.from == 0 || indexfile.Length(w.indexCopy()) < w.from || !w.isPlain(ctx, w.indexCopy()) {
		return
	}
	switch {
	case w.files == nil:
		if w.files = dirwatch.NewTree(w.root); w.files == nil {
			w.from = 0
			return
		}
	case !w.files.Restart():
		return
	}
	if tree, err := w.TreeOf(ctx, "HEAD"); err == nil {
		w.held = tree
	}
}

// Ignored is Repo.Ignored. It does not call git if no file changed since a fresh checkout.
func (w *Worktree) Ignored(ctx context.Context) ([]string, error) {
	if changed, known := w.files.Changed(); known && w.held != "" && w.clean && len(changed) == 0 {
		return nil, nil
	}
	return w.Repo.Ignored(ctx)
}

// update changes a worktree to another commit by the paths that the watch reported. If it returns
// false, everything must be checked out.
func (w *Worktree) update(ctx context.Context, commit string) bool {
	held := w.held
	w.held = ""
	if held == "" || !w.clean {
		return false
	}
	changed, known := w.files.Changed()
	tree, err := w.TreeOf(ctx, commit)
	if err != nil || !known || len(changed) > maxWatched {
		return false
	}
	diff, err := w.Diff(ctx, held, tree)
	if err != nil || len(diff) > maxUpdated {
		return false
	}
	all := maps.Clone(changed)
	for _, c := range diff {
		all[c.Path] = true
		if c.To.Mode == modeSubmodule {
			return false
		}
	}
	paths := slices.Sorted(maps.Keys(all))
	if slices.ContainsFunc(paths, affectsGit) {
		return false
	}
	had, err := w.entriesOf(ctx, held, paths)
	if err != nil || !w.isAccounted(ctx, changed, had) {
		return false
	}
	want, err := w.entriesOf(ctx, tree, paths)
	if err != nil || w.writeUpdate(ctx, paths, want) != nil || !w.detach(commit) {
		return false
	}
	if w.files.Restart() {
		w.held = tree
	}
	return true
}

// isAccounted reports whether gates did nothing but change files. A new name may be a hard link to
// an old file, so each file must exist and have no other name. Folders and ignored files need a
// full reset.
func (w *Worktree) isAccounted(ctx context.Context, changed map[string]bool, had map[string]Entry) bool {
	var fresh []string
	for file := range changed {
		info, err := os.Lstat(w.path(file))
		if _, tracked := had[file]; tracked {
			if err == nil && info.IsDir() {
				return false
			}
			continue
		}
		if err != nil || !info.Mode().IsRegular() || !isOnlyLink(info) {
			return false
		}
		fresh = append(fresh, file)
	}
	if len(fresh) == 0 {
		return true
	}
	ignored, err := w.ignored(ctx, fresh)
	return err == nil && len(ignored) == 0
}

// writeUpdate writes the wanted entries of paths to the worktree and to its index.
func (w *Worktree) writeUpdate(ctx context.Context, paths []string, want map[string]Entry) error {
	for _, file := range paths {
		if _, wanted := want[file]; !wanted {
			w.removeFile(file)
		}
	}
	s, err := w.newScratchDir()
	if err != nil {
		return err
	}
	defer s.close()
	if err := os.WriteFile(s.index, indexfile.Encode(want), 0o600); err != nil {
		return err
	}
	var changes []Change
	for file, e := range want {
		changes = append(changes, Change{Path: file, Status: 'M', To: e})
	}
	if err := w.writeFiles(ctx, s.index, changes); err != nil {
		return err
	}
	index := filepath.Join(w.gitDir, "index")
	old, err := atomicfile.Read(index, atomicfile.Large)
	if err != nil {
		return err
	}
	written, err := atomicfile.Read(s.index, atomicfile.Large)
	if err != nil {
		return err
	}
	data, err := indexfile.Splice(old, written, paths)
	if err != nil {
		return err
	}
	if err := os.WriteFile(index, data, 0o600); err != nil {
		return err
	}
	return w.keepIndexCopy()
}

// removeFile removes a file, and its parent folders that become empty.
func (w *Worktree) removeFile(file string) {
	if info, err := workfile.Lstat(w.root, file); err != nil || info.IsDir() {
		return // files below it are wanted; or a gate made a link of a folder above it
	}
	full := w.path(file)
	_ = os.Remove(full)
	for dir := filepath.Dir(full); dir != w.root && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
}

// detach sets a detached HEAD to a commit. It returns false if git must do that.
func (w *Worktree) detach(commit string) bool {
	file := filepath.Join(w.gitDir, "HEAD")
	head, err := atomicfile.Read(file, maxConfigBytes)
	if err != nil || !fullID.MatchString(strings.TrimSpace(string(head))) {
		return false
	}
	return os.WriteFile(file, []byte(commit+"\n"), 0o600) == nil
}
