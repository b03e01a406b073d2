package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
)

// attributeTurnCommits attributes the commits base..head of a turn in which commands of the
// agent ran. A commit made while the agent did not run is the user's and becomes part of the
// base, a merge with all that it brought; commits of the agent below it become uncommitted
// changes. In doubt all are the agent's, so that ungated work never becomes the base.
func (r *Runner) attributeTurnCommits(ctx context.Context, base memory.Base, head string, m memory.ActionContext) (memory.Base, []string, error) {
	own := base
	own.HasAgentCommits = true
	if r.isUserTree() {
		return own, nil, nil
	}
	commits, err := r.Repo.FirstParentCommits(ctx, base.Commit, head)
	if err != nil {
		return own, nil, fmt.Errorf("look at what was committed: %w", err)
	}
	if len(commits) == 0 {
		return r.attributeReset(ctx, own, head, m)
	}
	users, err := r.authors.UserCommits(ctx, m, commits)
	if err != nil || len(users) == 0 {
		return own, nil, err
	}
	first := 0 // index of the first commit that is not the user's
	for first < len(users) && users[first] == commits[first] {
		first++
	}
	base.TaskStart = cmp.Or(base.TaskStart, base.Commit)
	tip := base.Commit
	if first > 0 {
		tip = commits[first-1]
	}
	if first < len(users) && !r.keepsAgentCommits() {
		replanted, err := r.Repo.Replant(ctx, r.Loop.ID, r.Spec.Branch, tip, users[first:])
		if err != nil {
			return own, nil, fmt.Errorf("keep your commits: %w", err)
		}
		if replanted != "" {
			base.Commit, base.HasAgentCommits = replanted, false
			return base, []string{userCommitsText(r.Spec.Branch, replanted) + "; the agent's commits between them are uncommitted changes again"}, nil
		}
	}
	if first == 0 {
		return own, nil, nil
	}
	base.Commit, base.HasAgentCommits = tip, first < len(commits)
	return base, []string{userCommitsText(r.Spec.Branch, tip)}, nil
}

// attributeReset returns the base after the branch has lost commits of base in a turn in which commands
// of the agent ran. If the branch was last changed while the agent did not run, the user took the
// commits off it.
func (r *Runner) attributeReset(ctx context.Context, own memory.Base, head string, m memory.ActionContext) (memory.Base, []string, error) {
	isBefore, err := r.Repo.Contains(ctx, own.Commit, head)
	if err != nil {
		return own, nil, fmt.Errorf("look for commit %s in the branch: %w", short(own.Commit), err)
	}
	byUser := false
	if isBefore {
		byUser, err = r.authors.MadeByUser(m, r.Repo.BranchLogPath(r.Spec.Branch))
	}
	if err != nil || !byUser {
		return own, nil, err
	}
	return memory.Base{Commit: head, TaskStart: cmp.Or(own.TaskStart, own.Commit)}, []string{userResetText(r.Spec.Branch, head)}, nil
}

func userResetText(branch, head string) string {
	return branch + " was set back to " + short(head) + ", not by the agent: work continues from there"
}

// afterReset returns the context with the trees that the task began with as they are after the user
// took commits off the branch since: without what these commits changed.
func (r *Runner) afterReset(ctx context.Context, m memory.ActionContext) (memory.ActionContext, error) {
	b := m.Base
	if b.TaskStart == "" {
		return m, nil
	}
	kept, err := r.Repo.Contains(ctx, b.Commit, b.TaskStart)
	if err != nil {
		return m, fmt.Errorf("look for commit %s in the branch: %w", short(b.TaskStart), err)
	}
	for _, tree := range []*string{&m.Start.Tree, &m.Start.WithEdits, &m.TestsTree, &m.OriginalsTree} {
		if kept || *tree == "" {
			continue
		}
		if *tree, err = r.withCommitsSince(ctx, *tree, b.TaskStart, b.Commit); err != nil {
			return m, err
		}
	}
	return m, nil
}

// followReset makes the branch's tip the base if the user took commits off the branch while the gates
// ran on a candidate's tree, and reports whether it did. If their reset changed files of the work, it
// is put back onto them, and the tree to check is another; in a user's tree it is what they left.
func (r *Runner) followReset(ctx context.Context, m memory.ActionContext, at *candidate, now string) (memory.ActionContext, bool, error) {
	if at.head == "" {
		return m, false, nil
	}
	head, err := r.Repo.Head(ctx)
	if err != nil {
		return m, false, fmt.Errorf("read HEAD: %w", err)
	}
	if head == at.head {
		return m, false, nil
	}
	has, err := r.Repo.Contains(ctx, head, at.head)
	if err != nil {
		return m, false, fmt.Errorf("look for commit %s in the branch: %w", short(at.head), err)
	}
	current, err := r.Repo.Branch(ctx)
	if err != nil {
		return m, false, fmt.Errorf("read the current branch: %w", err)
	}
	home := r.Spec.Branch
	if r.isUserTree() {
		home = cmp.Or(m.Base.Branch, home)
	}
	if has || current != home {
		return m, false, nil
	}
	if !r.isUserTree() {
		if now, err = r.replayWork(ctx, m, *at, now); err != nil {
			return m, false, err
		}
	}
	at.head, at.tree = head, now
	base := memory.Base{Commit: head, TaskStart: cmp.Or(m.Base.TaskStart, m.Base.Commit), Branch: m.Base.Branch}
	r.enqueue(ctx, func(context.Context) error { return r.setBase(base) })
	r.enqueueNote(ctx, loop.Info, userResetText(home, head))
	m.Base = base
	m, err = r.afterReset(ctx, m)
	return m, true, err
}

// followMoved is followReset for a reset after the gates of a claim ran, before it was committed.
func (r *Runner) followMoved(ctx context.Context, m memory.ActionContext) (memory.ActionContext, error) {
	if m.ClaimGates == nil {
		return m, nil
	}
	gated := candidate{head: m.ClaimGates.Head, tree: m.ClaimGates.Tree}
	now, err := r.currentTree(ctx)
	if err != nil {
		return m, fmt.Errorf("take the tree to check: %w", err)
	}
	m, _, err = r.followReset(ctx, m, &gated, now)
	return m, err
}

// replayWork puts the work of a candidate back onto the files as a reset left them, and returns the
// tree. What the user had edited stays as they left it.
func (r *Runner) replayWork(ctx context.Context, m memory.ActionContext, at candidate, now string) (string, error) {
	tree, clashes, err := r.Repo.Transfer(ctx, now, at.head, at.tree)
	if err != nil {
		return "", fmt.Errorf("put the work back: %w", err)
	}
	if tree, err = r.Repo.Overlay(ctx, tree, now, m.ExcludedFiles()); err != nil {
		return "", fmt.Errorf("put the work back: %w", err)
	}
	if len(clashes) > 0 {
		r.enqueueNote(ctx, loop.Warning, "not put back after the reset, because it changed them: "+strings.Join(firstN(clashes, maxListed), ", ")+"; the work: git show "+at.tree+":PATH")
	}
	done, err := r.restoreFiles(ctx, tree, nil)
	if err != nil {
		return "", fmt.Errorf("put the work back: %w", err)
	}
	return done.After, nil
}

// branch returns the branch for commits: the loop's, or in a user's tree the current one. There it
// returns an error for the user if nothing can be committed to that: HEAD is detached, or the user or
// the agent switched to a protected branch, or to one without the loop's commits.
func (r *Runner) branch(ctx context.Context, base memory.Base) (string, error) {
	if !r.isUserTree() {
		return r.Spec.Branch, nil
	}
	name, err := r.Repo.Branch(ctx)
	if err != nil {
		return "", fmt.Errorf("read the current branch: %w", err)
	}
	home := cmp.Or(base.Branch, r.Spec.Branch)
	why := "which is protected"
	switch {
	case name == home:
		return name, nil
	case name == "":
		return "", needsUser{failure.New(failure.Usage, "switch to a branch, then  pawl resume "+r.Loop.ID, "HEAD is detached: nothing can be committed")}
	case name == r.Spec.Branch || !r.Spec.IsProtectedBranch(name):
		has, err := r.Repo.Contains(ctx, "HEAD", base.Commit)
		if err != nil {
			return "", fmt.Errorf("look for commit %s in the branch: %w", short(base.Commit), err)
		}
		if has {
			return name, nil
		}
		why = "which lacks commit " + short(base.Commit) + " of the work"
	}
	return "", needsUser{failure.New(failure.Usage, fmt.Sprintf("git switch %s, then  pawl resume %s", home, r.Loop.ID),
		"%s is checked out, %s: nothing can be committed", name, why)}
}

// warnMovedBranch warns if the user's branch has lost the commit at which the loop started: the
// user or a program of the agent reset, rebased or deleted the branch.
func (r *Runner) warnMovedBranch(ctx context.Context) {
	start, began := r.Spec.StartBranch, r.Spec.StartCommit
	if start == "" || start == r.Spec.Branch || began == "" || r.isUserTree() {
		return
	}
	exists, err := r.Repo.HasBranch(ctx, start)
	lost := err == nil && !exists
	if err == nil && exists {
		var has bool
		has, err = r.Repo.Contains(ctx, "refs/heads/"+start, began)
		lost = err == nil && !has
	}
	if err != nil {
		r.enqueueNote(ctx, loop.Warning, fmt.Sprintf("look at branch %s: %v", start, err))
		return
	}
	if lost {
		hint := fmt.Sprintf("git log %s..%s shows what it lacks", start, short(began))
		if !exists {
			hint = fmt.Sprintf("git branch %s %s brings it back", start, short(began))
		}
		text := fmt.Sprintf("branch %s lost commit %s, where this loop started; %s", start, short(began), hint)
		r.enqueue(ctx, func(context.Context) error {
			r.recordNote(memory.Note{Level: loop.Warning, Text: text, PossibleUserChange: text})
			return nil
		})
	}
}
