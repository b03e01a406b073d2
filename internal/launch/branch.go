package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
)

// commitsToCurrentBranch reports whether commits go to the current branch: a branch of the user's
// that is not protected, or the branch of an earlier loop with the same plan. A loop with another
// goal creates its own branch.
func (p *Prepared) commitsToCurrentBranch() bool {
	if p.Status.Detached || p.Settings.Worktree.Use || p.Spec.IsProtectedBranch(p.Status.Branch) {
		return false
	}
	id, isLoopBranch := strings.CutPrefix(p.Status.Branch, record.DefaultLoopBranch(""))
	if !isLoopBranch {
		return true
	}
	l := store.Open(p.Home).Loop(id)
	spec, err := record.ReadSpec(l)
	if err != nil || spec.Root != p.root {
		return true // not a loop of this repository
	}
	return spec.Plan == p.Spec.Plan && (p.Spec.Plan != "" || p.Spec.UnfinishedWork != nil)
}

// startFromUserBranch lets a loop with its own worktree start from the user's branch if the
// branch of another loop is checked out, since that has unfinished work.
func (p *Prepared) startFromUserBranch(ctx context.Context) error {
	if !p.Spec.UsesWorktree {
		return nil
	}
	other, ok := p.Conflicts.checkoutOf(store.Open(p.Home), p.Status.Branch)
	if !ok {
		return nil
	}
	p.Spec.StartBranch, p.Spec.StartCommit = other.StartBranch, other.StartCommit
	if other.StartBranch == "" {
		return nil
	}
	tip, err := p.Repo.Resolve(ctx, "refs/heads/"+other.StartBranch)
	if errors.Is(err, git.ErrNoRevision) { // the user has deleted it
		return nil
	}
	p.Spec.StartCommit = tip
	return err
}

// checkoutOf returns the loop that has not ended and whose branch is checked out.
func (b Conflicts) checkoutOf(st *store.Store, branch string) (record.Spec, bool) {
	for _, id := range []string{b.Running, b.InSession, b.Orphaned} {
		if id == "" {
			continue
		}
		spec, err := record.ReadSpec(st.Loop(id))
		if err == nil && !spec.NoCommit && spec.Branch == branch && spec.StartBranch != branch {
			return spec, true
		}
	}
	return record.Spec{}, false
}

// Checkout is the state of the user's checkout.
type Checkout struct {
	Branch     string   // "" = unknown
	Busy       string   // another loop that has not ended and works there, "" = none
	StateFiles []string // files with the state of this loop that git tracks and that are not committed
}

// ReadCheckout reads the state of the user's checkout after a loop. Fields that cannot be read are
// empty.
func ReadCheckout(ctx context.Context, home string, l *store.Loop, spec record.Spec) (c Checkout) {
	repo, err := git.Open(ctx, spec.Root)
	if err != nil {
		return c
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return c
	}
	c.Branch = status.Branch
	if !spec.UsesWorktree {
		own := statefile.FilesOf(spec.Root, l.Dir, spec).OwnPaths()
		c.StateFiles = slices.DeleteFunc(status.Dirty, func(path string) bool { return !slices.Contains(own, path) })
	}
	b, err := findConflicts(ctx, &Prepared{Home: home, root: spec.Root, loop: spec.ID})
	if err == nil && c.Branch != "" {
		busy, _ := b.checkoutOf(store.Open(home), c.Branch)
		c.Busy = busy.ID
	}
	return c
}

// startPoint returns the revision from which a missing branch of a loop's worktree is created.
func (d *Driver) startPoint(ctx context.Context, repo *git.Repo) string {
	if !d.wasSetUp {
		return d.Spec.StartCommit
	}
	if there, err := repo.HasBranch(ctx, d.Spec.StartBranch); err == nil && there {
		return "refs/heads/" + d.Spec.StartBranch
	}
	return "HEAD"
}

// switchToBranch checks out the loop's branch.
func (d *Driver) switchToBranch(ctx context.Context, repo *git.Repo, id string) error {
	branch, err := repo.Branch(ctx)
	if err != nil {
		return fmt.Errorf("read the current branch: %w", err)
	}
	if branch == d.Spec.Branch || d.Spec.AllDone() && !d.wasSetUp && !d.reopened { // there is nothing to commit
		return nil
	}
	exists, err := repo.HasBranch(ctx, d.Spec.Branch)
	target := d.Spec.Branch
	if !exists {
		target = cmp.Or(d.Spec.StartBranch, "--detach "+d.Spec.StartCommit)
	}
	switch {
	case err != nil:
	case d.reopened && (branch != d.Spec.StartBranch || repo.CheckBranch(ctx, d.Spec.Branch) != nil): // the user has switched to another branch since
		return failure.New(failure.Usage, fmt.Sprintf("git switch %s, then  pawl resume %s", target, id),
			"the work tree is not on the branch of the loop, %s", target)
	case d.wasSetUp && !d.reopened:
		var back git.SwitchResult
		back, err = repo.SwitchBack(ctx, git.SwitchRequest{Loop: id, Branch: d.Spec.Branch, Base: d.Spec.StartCommit, AgentCommits: true})
		d.SwitchedBack = runner.SwitchText(back, d.Spec.Branch)
	default: // a reopened loop's end had deleted it, empty
		var undo git.Undo
		undo, err = repo.EnsureBranch(ctx, d.Spec.Branch)
		d.undoIfFailed(ctx, undo)
	}
	if err != nil {
		return fmt.Errorf("switch to branch %s: %w", d.Spec.Branch, err)
	}
	return nil
}
