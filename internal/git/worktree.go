package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
)

// Worktree is a linked worktree of Pawl's own, in which it may do as it likes:
// gates run there on another tree than the user's.
type Worktree struct {
	*Repo
	of *Repo
}

// Worktree makes a worktree in dir, which must not exist or be empty, with a
// detached HEAD that holds exactly a commit or tree.
func (r *Repo) Worktree(ctx context.Context, dir, rev string) (*Worktree, error) {
	commit, err := r.asCommit(ctx, rev)
	if err != nil {
		return nil, err
	}
	w, err := r.addWorktree(ctx, dir, commit, "--detach")
	if err != nil {
		return nil, fmt.Errorf("make worktree %s: %w", dir, err)
	}
	return w, nil
}

// LoopWorktree is the worktree in dir on its own branch, for a loop that leaves
// the user's alone: made, the branch too, at HEAD; or found again on resume.
func (r *Repo) LoopWorktree(ctx context.Context, dir, branch string) (*Repo, error) {
	ref, err := r.branchRef(ctx, branch)
	if err != nil {
		return nil, err
	}
	if found, err := find(ctx, dir); err == nil && found.commonDir == r.commonDir && found.gitDir != r.gitDir && samePath(found.root, dir) {
		if on, err := found.Branch(ctx); err == nil && on == branch {
			return found, nil
		}
		return nil, failure.New(failure.Usage, "remove it: git worktree remove "+dir, "%s is a worktree on another branch", dir)
	}
	if err := r.free(ctx, branch); err != nil {
		return nil, err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := r.Resolve(ctx, ref+"^{commit}"); err != nil {
		if err := r.createRef(ctx, ref, head); err != nil {
			return nil, fmt.Errorf("make branch %s: %w", branch, err)
		}
	}
	w, err := r.addWorktree(ctx, dir, branch)
	if err != nil {
		return nil, fmt.Errorf("make worktree %s: %w", dir, err)
	}
	return w.Repo, nil
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
	repo, err := find(ctx, abs)
	if err != nil {
		return nil, err
	}
	w := &Worktree{Repo: repo, of: r}
	if _, err := repo.git(ctx, "read-tree", "--reset", "-u", "HEAD"); err != nil {
		return nil, errors.Join(missing(err, "a file"), w.Remove(context.WithoutCancel(ctx)))
	}
	return w, nil
}

// asCommit turns a tree into a commit of Pawl's, and leaves a commit as it is.
func (r *Repo) asCommit(ctx context.Context, rev string) (string, error) {
	if commit, err := r.Resolve(ctx, rev+"^{commit}"); err == nil {
		return commit, nil
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
		if err == nil && s.Reason != submoduleDirt {
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

// removeWorktree deletes the folder first and then git's record of it, so that
// a broken folder is no obstacle; git worktree prune would also forget those of
// the user's that are just not mounted.
func (r *Repo) removeWorktree(ctx context.Context, dir string) error {
	if err := proc.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	// Twice --force: also where it is locked.
	err := r.write(ctx, "worktree", "remove", "--force", "--force", dir)
	if err != nil && !said(err, "is not a working tree") {
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

// linked is one entry of git worktree list.
type linked struct{ dir, branch string }

func (r *Repo) worktrees(ctx context.Context) ([]linked, error) {
	out, err := r.git(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	return parseWorktrees(out), nil
}

// parseWorktrees reads git worktree list --porcelain (its -z came with 2.36).
func parseWorktrees(out string) []linked {
	var all []linked
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "worktree":
			all = append(all, linked{dir: filepath.FromSlash(value)})
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
