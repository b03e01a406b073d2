package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
)

// LoopWorktree returns the worktree in dir with its branch, for a loop that does not use the user's
// work tree. It creates both at a commit, or finds them again on resume. After an error neither
// worktree nor branch is left.
func (r *Repo) LoopWorktree(ctx context.Context, dir, branch, from string) (*Repo, Undo, error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return nil, noUndo, err
	}
	found, err := r.findWorktree(ctx, dir, branch)
	if err != nil || found != nil {
		return found, noUndo, err
	}
	// dir contains no worktree, but one that was deleted manually may still be registered there.
	if err := r.checkNotCheckedOut(ctx, branch, dir); err != nil {
		return nil, noUndo, err
	}
	head, err := r.Resolve(ctx, from+"^{commit}")
	if err != nil {
		return nil, noUndo, err
	}
	tip, err := r.branchTip(ctx, ref)
	if err != nil {
		return nil, noUndo, fmt.Errorf("create branch %s: %w", branch, err)
	}
	if tip != "" {
		head = "" // the branch existed before: it must not be deleted
	}
	undo := r.undoWorktree(dir, branch, head)
	var w *Repo
	if tip == "" {
		err = r.createRef(ctx, ref, head)
	}
	if err == nil {
		w, err = r.addWorktree(ctx, dir, branch)
	}
	if err != nil {
		err = fmt.Errorf("create worktree %s on branch %s: %w", dir, branch, err)
		return nil, noUndo, errors.Join(err, undo(context.WithoutCancel(ctx)))
	}
	return w, undo, nil
}

// undoWorktree returns the Undo of a worktree that will be created in dir, and of its branch, if
// that will be created at a commit. A folder that exists already stays.
func (r *Repo) undoWorktree(dir, branch, made string) Undo {
	_, there := os.Lstat(dir)
	return func(ctx context.Context) error {
		var err error
		if errors.Is(there, fs.ErrNotExist) {
			err = r.RemoveWorktree(ctx, dir)
		}
		if made == "" {
			return err
		}
		_, errBranch := r.deleteBranch(ctx, branch, made)
		return errors.Join(err, errBranch)
	}
}

// findWorktree returns the worktree of this repository in dir, or nil. A worktree on
// another branch is an error.
func (r *Repo) findWorktree(ctx context.Context, dir, branch string) (*Repo, error) {
	found, err := Reopen(ctx, dir)
	if errors.As(err, new(*NoRepoError)) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, err
	}
	if found.commonDir != r.commonDir || found.gitDir == r.gitDir || !samePath(found.root, dir) {
		return nil, nil //nolint:nilnil // it is of another repository
	}
	on, err := found.Branch(ctx)
	if err != nil {
		return nil, err
	}
	if on != branch {
		return nil, failure.New(failure.Usage, "remove it: git worktree remove "+dir, "%s is a worktree on another branch", dir)
	}
	return found, nil
}

// addWorktree creates a worktree in dir, at a branch or commit.
func (r *Repo) addWorktree(ctx context.Context, dir, rev string, flags ...string) (*Repo, error) {
	w, err := r.emptyWorktree(ctx, dir, rev, flags...)
	if err != nil {
		return nil, err
	}
	if _, err := w.git(ctx, "read-tree", "--reset", "-u", "HEAD"); err != nil {
		return nil, errors.Join(missingObjectError(err, "a file"), r.RemoveWorktree(context.WithoutCancel(ctx), w.root))
	}
	return w, nil
}

// emptyWorktree creates a worktree without checked-out files.
func (r *Repo) emptyWorktree(ctx context.Context, dir, rev string, flags ...string) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// -f -f: a folder that was deleted manually may still be registered.
	args := append([]string{"worktree", "add", "-f", "-f", "--no-checkout"}, flags...)
	if err := r.write(ctx, append(args, abs, rev)...); err != nil {
		return nil, err
	}
	w, err := Reopen(ctx, abs)
	if err != nil {
		return nil, err
	}
	w.of = r
	return w, nil
}

// RemoveWorktree deletes a worktree with all its files; its branch stays. The folder is removed
// before git's record of it, so that a broken folder is no obstacle. git worktree prune would also
// remove the user's worktrees that are not mounted.
func (r *Repo) RemoveWorktree(ctx context.Context, dir string) error {
	if err := proc.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	if err := r.removeRecordLinks(); err != nil {
		return fmt.Errorf("remove worktree %s: %w", dir, err)
	}
	// Twice --force: it may be locked.
	err := r.write(ctx, "worktree", "remove", "--force", "--force", dir)
	if err != nil && !stderrContains(err, "is not a working tree") {
		return fmt.Errorf("remove worktree %s: %w", dir, err)
	}
	return nil
}

// removeRecordLinks removes links among git's records of worktrees. Git makes none, and deletes all
// files in the folder that a link leads to, once the worktree of that record is removed.
func (r *Repo) removeRecordLinks() error {
	records := filepath.Join(r.commonDir, "worktrees")
	if info, err := os.Lstat(records); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder", records)
	}
	entries, err := os.ReadDir(records)
	if err != nil {
		return ignoreNotExist(err)
	}
	for _, e := range entries {
		if e.Type() == fs.ModeSymlink {
			if err := os.Remove(filepath.Join(records, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveWorktrees removes the worktrees below one of Pawl's folders, which a killed process left
// behind.
func (r *Repo) RemoveWorktrees(ctx context.Context, below string) error {
	trees, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	abs, err := filepath.Abs(below)
	if err != nil {
		return fmt.Errorf("remove worktrees: %w", err)
	}
	for _, t := range trees[min(1, len(trees)):] { // the first is the main one
		rel, err := filepath.Rel(RealPath(abs), t.dir)
		if err != nil || rel == "." || !filepath.IsLocal(rel) || samePath(t.dir, r.root) {
			continue
		}
		if err := r.RemoveWorktree(ctx, t.dir); err != nil {
			return err
		}
	}
	return nil
}

// linkedWorktree is an entry of git worktree list.
type linkedWorktree struct{ dir, branch string }

func (r *Repo) worktrees(ctx context.Context) ([]linkedWorktree, error) {
	out, err := r.git(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	return parseWorktrees(out), nil
}

// parseWorktrees reads git worktree list --porcelain (-z is new in 2.36).
func parseWorktrees(out string) []linkedWorktree {
	var all []linkedWorktree
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "worktree":
			all = append(all, linkedWorktree{dir: filepath.FromSlash(value)})
		case key == "branch" && len(all) > 0:
			all[len(all)-1].branch = value
		}
	}
	return all
}

func samePath(a, b string) bool {
	abs, err := filepath.Abs(b)
	return err == nil && RealPath(a) == RealPath(abs)
}
