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

// Worktree is a linked worktree of Pawl's, in which gates run on another tree than the
// user's.
type Worktree struct{ *Repo }

// Worktree creates a worktree in dir, which must be missing or empty, with a detached
// HEAD at a commit or tree.
func (r *Repo) Worktree(ctx context.Context, dir, rev string) (*Worktree, error) {
	commit, err := r.asCommit(ctx, rev)
	if err != nil {
		return nil, err
	}
	w, err := r.addWorktree(ctx, dir, commit, "--detach")
	if err != nil {
		return nil, fmt.Errorf("create worktree %s: %w", dir, err)
	}
	return w, nil
}

// LoopWorktree is the worktree in dir on its own branch, for a loop that leaves
// the user's alone: made, the branch too, at a commit; or found again on resume. What
// fails leaves neither worktree nor branch.
func (r *Repo) LoopWorktree(ctx context.Context, dir, branch, from string) (*Repo, Undo, error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return nil, noUndo, err
	}
	found, err := r.findWorktree(ctx, dir, branch)
	if err != nil || found != nil {
		return found, noUndo, err
	}
	if err := r.checkWorktreesWithout(ctx, branch, ""); err != nil {
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
		head = "" // it is not ours to delete
	}
	undo := r.undoWorktree(dir, branch, head)
	var w *Worktree
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
	return w.Repo, undo, nil
}

// undoWorktree takes back a worktree that is about to be made in dir, and its
// branch, if that is made at a commit. A folder that is there already stays.
func (r *Repo) undoWorktree(dir, branch, made string) Undo {
	_, there := os.Lstat(dir)
	return func(ctx context.Context) error {
		var err error
		if errors.Is(there, fs.ErrNotExist) {
			err = r.removeWorktree(ctx, dir)
		}
		if made == "" {
			return err
		}
		return errors.Join(err, r.deleteBranch(ctx, branch, made))
	}
}

// findWorktree returns the worktree of this repository in dir, or nil. A worktree on
// another branch is an error.
func (r *Repo) findWorktree(ctx context.Context, dir, branch string) (*Repo, error) {
	found, err := openRepo(ctx, dir)
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

func (r *Repo) addWorktree(ctx context.Context, dir, rev string, flags ...string) (*Worktree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// -f -f: a folder of ours that was deleted by hand may still be registered.
	args := append([]string{"worktree", "add", "-f", "-f", "--no-checkout"}, flags...)
	if err := r.write(ctx, append(args, abs, rev)...); err != nil {
		return nil, err
	}
	repo, err := openRepo(ctx, abs)
	if err != nil {
		return nil, err
	}
	repo.of = r
	w := &Worktree{repo}
	if _, err := repo.git(ctx, "read-tree", "--reset", "-u", "HEAD"); err != nil {
		return nil, errors.Join(missingObjectError(err, "a file"), w.Remove(context.WithoutCancel(ctx)))
	}
	return w, nil
}

// asCommit turns a tree into a commit of Pawl's, and returns a commit unchanged.
func (r *Repo) asCommit(ctx context.Context, rev string) (string, error) {
	if commit, err := r.Resolve(ctx, rev+"^{commit}"); !errors.Is(err, ErrNoRevision) {
		return commit, err
	}
	tree, err := r.TreeOf(ctx, rev)
	if err != nil {
		return "", err
	}
	out, err := r.run(ctx, call{args: []string{"commit-tree", tree, "-p", "HEAD"}, env: pawlIdentity, stdin: []byte("a tree to judge\n")})
	if err != nil {
		return "", fmt.Errorf("commit tree %s: %w", tree, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Reset makes the worktree hold another commit or tree. Ignored files (what the
// project's set-up made) stay; all else that gates left there is deleted.
func (w *Worktree) Reset(ctx context.Context, rev string) error {
	commit, err := w.asCommit(ctx, rev)
	if err != nil {
		return err
	}
	done, err := w.Restore(ctx, commit, nil)
	for _, s := range done.Skipped {
		if err == nil && s.Reason != submoduleChanged {
			err = proc.RemoveAll(w.path(s.Path))
		}
	}
	if err != nil {
		return fmt.Errorf("reset worktree: %w", err)
	}
	if len(done.Left) > 0 {
		return fmt.Errorf("reset worktree %s: %q differs: %s", w.root, done.Left[0].Path, done.Left[0].Reason)
	}
	if err := w.write(ctx, "update-ref", "--no-deref", "HEAD", commit); err != nil {
		return fmt.Errorf("reset worktree %s: %w", w.root, err)
	}
	return w.AlignIndex(ctx, commit)
}

// Remove deletes the worktree with all that is in it. Its branch, if any, stays.
func (w *Worktree) Remove(ctx context.Context) error { return w.of.removeWorktree(ctx, w.root) }

// RemoveLoopWorktree deletes a worktree that LoopWorktree made, with all that is in it.
// Its branch stays.
func (r *Repo) RemoveLoopWorktree(ctx context.Context, dir string) error {
	return r.removeWorktree(ctx, dir)
}

// removeWorktree deletes the folder first and then git's record of it, so that
// a broken folder is no obstacle; git worktree prune would also forget those of
// the user's that are just not mounted.
func (r *Repo) removeWorktree(ctx context.Context, dir string) error {
	if err := proc.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	// Twice --force: also where it is locked.
	err := r.write(ctx, "worktree", "remove", "--force", "--force", dir)
	if err != nil && !stderrContains(err, "is not a working tree") {
		return fmt.Errorf("remove worktree %s: %w", dir, err)
	}
	return nil
}

// RemoveWorktrees removes the worktrees below a folder of Pawl's own: what a
// killed process left behind.
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
		rel, err := filepath.Rel(realPath(abs), t.dir)
		if err != nil || rel == "." || !filepath.IsLocal(rel) || samePath(t.dir, r.root) {
			continue
		}
		if err := r.removeWorktree(ctx, t.dir); err != nil {
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

// parseWorktrees reads git worktree list --porcelain (its -z came with 2.36).
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
	return err == nil && realPath(a) == realPath(abs)
}
