package launch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// The worktree and the branch of a loop that ended without a commit are removed if
// nothing is left there. Its checkpoints stay in the repository; resume and restore
// create both again.

// removeUnusedOnClose lets Close remove the loop's worktree if nothing is left in it,
// after everything else is closed and while the loop is still owned.
func (d *Driver) removeUnusedOnClose(ctx context.Context, l *store.Loop, origin *git.Repo) {
	d.closers = append(d.closers, func() error {
		if d.setUpFailed || d.Runner == nil {
			return nil // undoIfFailed removes it
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		defer cancel()
		words, err := d.removeUnused(ctx, l, origin)
		note := memory.Note{Level: loop.Info, Text: words}
		if err != nil {
			note = memory.Note{Level: loop.Warning, Text: "the loop's worktree was not removed: " + err.Error()}
		}
		if note.Text == "" {
			return nil
		}
		return record.AppendNote(d.Owner, note, d.Redact.String)
	})
}

// removeUnused removes the worktree of a loop that ended without a commit, and its
// branch. It returns what it did, or "".
func (d *Driver) removeUnused(ctx context.Context, l *store.Loop, origin *git.Repo) (string, error) {
	m, _, err := record.Load(l)
	if err != nil || m.State.Phase != loop.Ended || m.State.CommitPending() {
		return "", err
	}
	if slices.ContainsFunc(m.State.Tasks, func(t loop.Task) bool { return t.Commit != "" }) {
		return "", nil
	}
	tip, unused, err := d.isUnused(ctx, origin)
	if err != nil || !unused {
		return "", err
	}
	if err := os.Remove(setUpMarker(l)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := origin.RemoveWorktree(ctx, d.Repo.Root()); err != nil {
		return "", err
	}
	text := "nothing was committed: the loop's worktree is removed"
	if d.Spec.Branch != record.DefaultLoopBranch(l.ID) && !d.Spec.NewBranch {
		return text, nil
	}
	deleted, err := origin.DeleteEmptyBranch(ctx, d.Spec.Branch, tip)
	if err != nil {
		return "", fmt.Errorf("delete branch %s: %w", d.Spec.Branch, err)
	}
	if deleted {
		text += ", and " + d.Spec.Branch + " is deleted"
	}
	return text, nil
}

// isUnused reports whether nothing was made in the worktree: no commit that the user's checkout lacks,
// and no file except copies and Pawl's own. It also returns the worktree's commit.
func (d *Driver) isUnused(ctx context.Context, origin *git.Repo) (tip string, unused bool, err error) {
	status, err := d.Repo.Status(ctx)
	if err != nil || status.Branch != d.Spec.Branch || len(status.Dirty)+len(status.Submodules)+len(status.Hidden) > 0 {
		return "", false, err
	}
	if status.Head != d.Spec.StartCommit {
		home, err := origin.Head(ctx)
		if err != nil {
			return "", false, err
		}
		if in, err := origin.Contains(ctx, home, status.Head); err != nil || !in {
			return "", false, err
		}
	}
	own := slices.DeleteFunc(d.OwnFiles(), func(file string) bool { return planfile.IsPlanFile(d.Spec.Plan, file) })
	for _, file := range status.Untracked {
		if !slices.Contains(own, file) && !d.isCopy(origin, file) {
			return "", false, nil
		}
	}
	ignored, err := d.Repo.Ignored(ctx)
	if err != nil {
		return "", false, err
	}
	for _, file := range ignored {
		folder, isFolder := strings.CutSuffix(file, "/")
		if isFolder && (deps.IsFolder(path.Base(folder)) || deps.IsScratch(path.Base(folder))) {
			continue
		}
		if isFolder || !d.isCopy(origin, file) {
			return "", false, nil
		}
	}
	return status.Head, true, nil
}

// isCopy reports whether a file in the worktree equals that in the user's checkout.
func (d *Driver) isCopy(origin *git.Repo, file string) bool {
	read := func(root string) ([]byte, error) {
		return atomicfile.Read(filepath.Join(root, filepath.FromSlash(file)), planfile.MaxSize)
	}
	there, err := read(d.Repo.Root())
	if err != nil {
		return false
	}
	here, err := read(origin.Root())
	return err == nil && bytes.Equal(here, there)
}

// Worktree opens the worktree of a loop that has one. If it was removed, it is created
// again at the loop's last commit; undo removes it.
func Worktree(ctx context.Context, l *store.Loop, m memory.Memory) (tree *git.Repo, undo git.Undo, err error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, nil, err
	}
	origin, err := git.Open(ctx, spec.Root)
	if err != nil {
		return nil, nil, err
	}
	return origin.LoopWorktree(ctx, spec.WorkTree(l), spec.Branch, cmp.Or(m.Base.Commit, spec.StartCommit))
}
