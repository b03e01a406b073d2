package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/git"
)

// restoreTakenWork restores gated work that a stash, checkout or reset has removed from the
// work tree since its tree was taken at the commit head, that is, files which equal their
// committed version again. It switches back to the loop's branch. All other changes are the
// user's and stay, also if they took back an edit of their own, and so does a stash. It
// reports whether a file was written. In a user's tree it does nothing.
func (r *Runner) restoreTakenWork(ctx context.Context, tree, head string, m memory.ActionContext) (bool, error) {
	if r.Spec.NoCommit || r.isUserTree() {
		return false, nil
	}
	back, text, err := r.switchBack(ctx, m)
	if err != nil {
		return false, err
	}
	if text != "" {
		r.enqueueNote(ctx, loop.Warning, "while the work was checked, "+text)
	}
	if back.From == "" && r.isWorkUnchanged() {
		return false, nil
	}
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return false, fmt.Errorf("take a snapshot of the work tree: %w", err)
	}
	gone, err := r.removedPaths(ctx, tree, now, head, append([]string{m.Base.Commit}, strings.Fields(back.From)...))
	gone = slices.DeleteFunc(gone, func(file string) bool { return slices.Contains(m.UserEdits(), file) })
	if err != nil || len(gone) == 0 {
		return false, err
	}
	target, err := r.Repo.Overlay(ctx, now, tree, gone)
	if err == nil {
		_, err = r.restoreFiles(ctx, target, nil)
	}
	if err != nil {
		return false, fmt.Errorf("put the work back: %w", err)
	}
	r.enqueueNote(ctx, loop.Warning, "work disappeared from the work tree while it was checked (a stash? a checkout?); restored: "+
		truncate(strings.Join(gone, ", "), maxReasonBytes))
	return true, nil
}

// removedPaths returns the paths that differ from a tree and equal their version in one of
// these commits, except those committed since head, which are the user's.
func (r *Runner) removedPaths(ctx context.Context, tree, now, head string, commits []string) ([]string, error) {
	diff, err := r.Repo.Diff(ctx, tree, now)
	if err != nil || len(diff) == 0 {
		return nil, err
	}
	committed, err := r.Repo.Diff(ctx, head, "HEAD")
	if err != nil {
		return nil, fmt.Errorf("find what you committed meanwhile: %w", err)
	}
	theirs, paths := git.Paths(committed), git.Paths(diff)
	var gone []string
	for _, commit := range commits {
		entries, err := r.Repo.EntriesAt(ctx, commit, paths)
		if err != nil {
			return nil, fmt.Errorf("list what was committed: %w", err)
		}
		for _, c := range diff {
			if c.To == entries[c.Path] && !slices.Contains(theirs, c.Path) && !slices.Contains(gone, c.Path) {
				gone = append(gone, c.Path)
			}
		}
	}
	return gone, nil
}

// SwitchText describes a switch back to a branch. It returns "" if HEAD was on it.
func SwitchText(back git.SwitchResult, branch string) string {
	if back.From == "" {
		return ""
	}
	text := back.From + " was checked out: switched back to " + branch + ", where the commits go; "
	if back.Before == "" {
		return text + "no file changed"
	}
	text += "its files are restored, with the uncommitted changes"
	if len(back.Clashes) > 0 {
		text += fmt.Sprintf(", but not the changes of %s, which differ there (kept: git show %s:PATH)", strings.Join(firstN(back.Clashes, maxListed), ", "), short(back.Before))
	}
	return text
}
