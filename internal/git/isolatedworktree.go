package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/dirwatch"
	"github.com/pawl-dev/pawl/internal/git/indexfile"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// Worktree is a linked worktree of Pawl, in which gates run on a tree other than the user's. A gate
// may write to its index, so a copy of the index says which files are unchanged.
type Worktree struct {
	*Repo
	real  [2]string // root and gitDir without links, as created
	index string    // SHA-256 of the copy, "" = there is none

	from  int            // minimum number of files for watching, 0 = never
	files *dirwatch.Tree // watch since a tree was checked out
	held  string         // that tree, "" = unknown
	clean bool           // it had no ignored files then
}

// Worktree creates a worktree in dir, which must be missing or empty, with a detached HEAD at a
// commit or tree.
func (r *Repo) Worktree(ctx context.Context, dir, rev string) (*Worktree, error) {
	commit, err := r.commitOf(ctx, rev)
	if err != nil {
		return nil, err
	}
	repo, err := r.emptyWorktree(ctx, dir, commit, "--detach")
	if err != nil {
		return nil, fmt.Errorf("create worktree %s: %w", dir, err)
	}
	w := &Worktree{Repo: repo, real: [2]string{RealPath(repo.root), RealPath(repo.gitDir)}}
	if err := w.checkOut(ctx, commit); err != nil {
		return nil, errors.Join(fmt.Errorf("create worktree %s: %w", dir, err), w.Remove(context.WithoutCancel(ctx)))
	}
	return w, nil
}

// Renew moves the worktree to another folder, which must be missing or empty, and checks out a
// commit or tree there without other files. The result equals a fresh worktree, but files that no
// gate touched are not written again.
func (w *Worktree) Renew(ctx context.Context, dir, rev string) (err error) {
	defer wrap(&err, "move worktree to %s", dir)
	commit, err := w.commitOf(ctx, rev)
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err == nil {
		err = w.checkPlaces()
	}
	if err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(w.root, dir); err != nil {
		return err
	}
	if changed, _ := w.files.Changed(); changed[".git"] {
		w.held = "" // a gate wrote to it
	}
	// This is what git worktree move does.
	root, link := RealPath(dir), filepath.Join(RealPath(dir), ".git")
	common, err := filepath.Rel(w.gitDir, w.commonDir)
	for file, text := range map[string]string{
		link:                                 "gitdir: " + filepath.ToSlash(w.gitDir),
		filepath.Join(w.gitDir, "gitdir"):    filepath.ToSlash(link),
		filepath.Join(w.gitDir, "commondir"): filepath.ToSlash(common),
	} {
		if err == nil {
			err = os.WriteFile(file, []byte(text+"\n"), 0o600)
		}
	}
	if err != nil {
		return err
	}
	w.root, w.real[0] = root, root
	w.files.Moved(root)
	w.files.Forget(".git")
	if err := w.resetGitState(); err != nil {
		return err
	}
	if w.update(ctx, commit) {
		return nil
	}
	w.clean = true
	entries, err := indexfile.Read(filepath.Join(w.gitDir, "index"))
	if err != nil {
		_, err = w.git(ctx, "clean", "-ffdxq")
	} else {
		err = removeUntracked(w.root, entries)
	}
	if err != nil {
		return err
	}
	return w.checkOut(ctx, commit)
}

// removeUntracked removes everything from a work tree that is not in an index.
func removeUntracked(root string, entries []indexfile.Entry) error {
	files, folders := map[string]bool{filepath.Join(root, ".git"): true}, map[string]bool{root: true}
	for _, e := range entries {
		path := filepath.Join(root, filepath.FromSlash(e.Path))
		files[path] = !e.IsSubmodule()
		for dir := filepath.Dir(path); !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && folders[path], !d.IsDir() && files[path]:
			return nil
		}
		if err := proc.RemoveAll(path); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	})
}

// Reset checks out another commit or tree. Ignored files (made by the project's setup) stay;
// everything else that gates left is deleted.
func (w *Worktree) Reset(ctx context.Context, rev string) error {
	commit, err := w.commitOf(ctx, rev)
	if err == nil {
		err = w.resetGitState()
	}
	if err == nil && w.update(ctx, commit) {
		return nil
	}
	w.clean = false
	if err == nil {
		_, err = w.git(ctx, append([]string{"clean", "-ffdq"}, w.keepInstallations()...)...)
	}
	if err == nil {
		err = w.checkOut(ctx, commit)
	}
	if err != nil {
		return fmt.Errorf("reset worktree %s: %w", w.root, err)
	}
	return nil
}

// Remove deletes the worktree with all its files.
func (w *Worktree) Remove(ctx context.Context) error {
	_ = w.files.Close()
	w.from, w.files = 0, nil
	return w.of.RemoveWorktree(ctx, w.root)
}

// indexCopy returns the file with the copy of the index.
func (w *Worktree) indexCopy() string { return filepath.Join(w.IndexDir(), "checked-out") }

// checkOut writes the missing files of a commit, as compared with the index, and copies the new
// index.
func (w *Worktree) checkOut(ctx context.Context, commit string) error {
	w.index = ""
	if _, err := w.git(ctx, "-c", "submodule.recurse=false", "checkout", "--quiet", "--force", "--detach", commit); err != nil {
		return missingObjectError(err, "a file")
	}
	if err := w.makeIndexDir(); err != nil {
		return err
	}
	if err := w.keepIndexCopy(); err != nil {
		return err
	}
	w.restartWatch(ctx)
	return nil
}

// keepIndexCopy copies the index before a gate can write to it.
func (w *Worktree) keepIndexCopy() error {
	if err := ignoreNotExist(os.Remove(w.indexCopy())); err != nil { // it may be a link now
		return err
	}
	sum, err := copyIndex(filepath.Join(w.gitDir, "index"), w.indexCopy())
	w.index = sum
	return err
}

// resetGitState removes changes that a gate may have made to the worktree's git state (sparse
// checkout, a merge, another index), and restores the copy of the index. Without a copy every file
// is written again.
func (w *Worktree) resetGitState() error {
	if err := w.checkPlaces(); err != nil {
		return err
	}
	told, err := os.ReadDir(w.gitDir)
	if err != nil {
		return err
	}
	for _, e := range told {
		if e.Name() != stateDir && !slices.Contains(worktreeRecord(), e.Name()) {
			if err := proc.RemoveAll(filepath.Join(w.gitDir, e.Name())); err != nil {
				return err
			}
		}
	}
	index := filepath.Join(w.gitDir, "index")
	if sum, err := copyIndex(w.indexCopy(), index); err != nil || sum != w.index {
		return ignoreNotExist(os.Remove(index))
	}
	return nil
}

// worktreeRecord returns the files in the git directory of a worktree that make it one.
func worktreeRecord() []string { return []string{"HEAD", "commondir", "gitdir"} }

// checkPlaces returns an error if a link to another place is where the worktree or its git directory
// was, or above, or a file of its record. An agent or a gate can make one, and what is deleted and
// written here would be a user's.
func (w *Worktree) checkPlaces() error {
	for i, place := range []string{w.root, w.gitDir} {
		if now := RealPath(place); now != w.real[i] {
			return fmt.Errorf("%s was replaced by a link to %s", place, now)
		}
	}
	if err := workfile.Check(w.root, ".git"); err != nil {
		return err
	}
	for _, name := range worktreeRecord() {
		if err := workfile.Check(w.gitDir, name); err != nil {
			return err
		}
	}
	return nil
}

// commitOf returns a commit unchanged, or wraps a tree in a commit.
func (r *Repo) commitOf(ctx context.Context, rev string) (string, error) {
	found, err := r.objects(ctx, rev)
	if err == nil && found[0].kind == "tree" {
		head, err := r.Head(ctx)
		if err != nil {
			return "", err
		}
		return r.ownCommit(ctx, ownCommit{found[0].id, []string{head}, "a tree to judge\n", time.Now()})
	}
	return r.Resolve(ctx, rev+"^{commit}")
}
