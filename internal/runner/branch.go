package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
)

// attributeCommits puts HEAD back on the loop's branch and finds out whose the commits are
// that the loop did not make. Those that no command explains are the user's,
// and the base from now on. It tells what it found.
func (r *Runner) attributeCommits(ctx context.Context, m memory.ActionContext) (base memory.Base, remarks []string, err error) {
	base = m.Base
	if r.Spec.NoCommit {
		return base, nil, nil // history is the user's
	}
	head, remarks, err := r.bringHome(ctx, base)
	if err != nil {
		return base, nil, err
	}
	switch {
	case head == base.Commit:
		base.HasAgentCommits = false
	case base.HasAgentCommits || m.HasUnattributed && r.tools.ask((*authorship.Calls).MayHaveCommitted):
		var yours []string
		base, yours, err = r.attributeBeside(ctx, base, head, m)
		return base, append(remarks, yours...), err
	default:
		base.TaskStart = cmp.Or(base.TaskStart, base.Commit)
		base.Commit = head
		branch, err := r.branch(ctx)
		if err != nil {
			return base, nil, err
		}
		remarks = append(remarks, theirs(branch, head))
	}
	return base, remarks, nil
}

// branch is where the commits go. In a user's tree that is where they are.
func (r *Runner) branch(ctx context.Context) (string, error) {
	if !r.theirTree() {
		return r.Spec.Branch, nil
	}
	name, err := r.Repo.Branch(ctx)
	if err != nil {
		return "", fmt.Errorf("read the current branch: %w", err)
	}
	if name == "" {
		return "", failure.New(failure.Usage, fmt.Sprintf("switch to a branch, then  pawl resume %s", r.Loop.ID), "HEAD is on no branch: nothing can be committed")
	}
	return name, nil
}

// bringHome ends what the agent left half-done and puts HEAD back on the loop's
// branch. It returns the commit of HEAD, which in a user's tree is all it does.
func (r *Runner) bringHome(ctx context.Context, base memory.Base) (head string, remarks []string, err error) {
	if !r.theirTree() {
		left, err := r.Repo.QuitOperation(ctx)
		if err != nil {
			return "", nil, fmt.Errorf("end what was left half-done: %w", err)
		}
		if left != "" {
			remarks = append(remarks, "a git "+left+" was half-done: ended, the files kept as they are")
		}
	}
	back, words, err := r.switchBack(ctx, base)
	if words != "" {
		remarks = append(remarks, words)
	}
	return back.Head, remarks, err
}

// switchBack puts HEAD back on the loop's branch, and the files with it, and says what it
// did, "" if nothing. In a user's tree HEAD stays where it is.
func (r *Runner) switchBack(ctx context.Context, base memory.Base) (back git.SwitchResult, words string, err error) {
	if r.theirTree() {
		if back.Head, err = r.Repo.Head(ctx); err != nil {
			return back, "", fmt.Errorf("read HEAD: %w", err)
		}
		return back, "", nil
	}
	began := time.Now()
	back, err = r.Repo.SwitchBack(ctx, r.Loop.ID, r.Spec.Branch, base.Commit)
	if err == nil && back.Before != "" {
		err = r.keepSpan(authorship.Span{From: began, Until: time.Now()})
	}
	if err != nil {
		return back, "", fmt.Errorf("switch back to %s: %w", r.Spec.Branch, err)
	}
	return back, SwitchedBack(back, r.Spec.Branch), nil
}

// SwitchedBack says that HEAD is on a branch again, "" where it was there.
func SwitchedBack(back git.SwitchResult, branch string) string {
	if back.From == "" {
		return ""
	}
	words := back.From + " was checked out: switched back to " + branch + ", where the commits go; "
	if back.Before == "" {
		return words + "no file changed"
	}
	words += "its files are there again, with what was not committed"
	if len(back.Clashes) > 0 {
		words += fmt.Sprintf(", but not the changes of %s, which differ there (kept: git show %s:PATH)", strings.Join(atMost(back.Clashes, maxLeft), ", "), short(back.Before))
	}
	return words
}

func theirs(branch, head string) string {
	return "commits that are not the loop's were found on " + branch + " and kept: work goes on from " + short(head)
}

func short(commit string) string { return commit[:min(len(commit), 7)] }

// setBase journals a base that is not the one known. In Run's goroutine.
func (r *Runner) setBase(b memory.Base) error {
	if b == r.mem.Base {
		return nil
	}
	r.mem.Base = b
	return r.append(memory.TypeBase, b)
}

// keepsOwn: the commits that the loop did not make stay on the branch. In a
// user's tree it could not be told for sure whose they are.
func (r *Runner) keepsOwn() bool { return r.Spec.KeepAgentCommits || r.theirTree() }

// squash makes the agent's own commits changes again. What it gives is to be done
// in Run's goroutine: it notes where they are kept.
func (r *Runner) squash(ctx context.Context, base memory.Base) (noted func(context.Context) error, err error) {
	ref, err := r.Repo.Squash(ctx, r.Loop.ID, r.Spec.Branch, base.Commit)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error {
		if ref != "" {
			n := memory.Note{Level: loop.Info, Text: "commits of the agent's own are changes in the work tree again; they are kept at " + ref}
			if _, blind := r.Agent.(agent.Blind); blind {
				n.PossibleUserChange = "commits made while the agent was at work, whose tool calls are not seen; they are kept at " + ref
				n.Text = "perhaps yours: " + n.PossibleUserChange + ", and are changes in the work tree again"
			}
			r.tell(n)
		}
		base.HasAgentCommits = false
		return r.setBase(base)
	}, nil
}

// adoptCommits takes commits that appeared on the branch since the last one of
// the loop's into the base. Between tasks no turn runs: they are the user's.
func (r *Runner) adoptCommits(ctx context.Context, m memory.ActionContext) (memory.Base, error) {
	if m.TurnSinceGates || r.Spec.NoCommit {
		return m.Base, nil
	}
	head, err := r.Repo.Head(ctx)
	if err != nil {
		return m.Base, fmt.Errorf("read HEAD: %w", err)
	}
	branch, err := r.Repo.Branch(ctx)
	if err != nil {
		return m.Base, fmt.Errorf("read the current branch: %w", err)
	}
	if branch != r.Spec.Branch && !r.theirTree() || head == m.Base.Commit {
		return m.Base, nil
	}
	base := memory.Base{Commit: head}
	r.inRun(ctx, func(context.Context) error { return r.setBase(base) })
	r.noteLater(ctx, loop.Info, theirs(branch, head))
	return base, nil
}

// finish does the work of the end, and again where an owner died at it: it keeps a
// last snapshot of the tree, so that whatever the loop came to, its work can be had
// back, and leaves the branch with the loop's and the user's commits. What the agent
// committed is in the tree.
func (r *Runner) finish(ctx context.Context, _ loop.Action, m memory.ActionContext) (loop.Event, error) {
	r.conclude(ctx, m)
	began := time.Now()
	if later := r.proveRest(ctx, m.Outcome); !later && r.Verify != nil {
		if err := r.Verify.RemoveCopies(); err != nil {
			r.noteLater(ctx, loop.Anomaly, "copies of dependencies are left: "+err.Error())
		}
	}
	return loop.Event{Kind: loop.Concluded, Tested: tested(began)}, nil
}

// theEnd begins the subject of the checkpoint that a loop makes at its end.
const theEnd = "the end: "

// EndPoint finds the checkpoint that a loop made at its last end, before which only restores may have
// made others; false if it could make none then.
func EndPoint(points []git.Checkpoint) (git.Checkpoint, bool) {
	for _, p := range slices.Backward(points) {
		if strings.HasPrefix(p.Subject, theEnd) {
			return p, true
		}
		if !strings.HasPrefix(p.Subject, "before ") {
			break
		}
	}
	return git.Checkpoint{}, false
}

// conclude does that in a bounded time, also where the user waits no longer.
func (r *Runner) conclude(ctx context.Context, m memory.ActionContext) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	warn := func(err error) { r.noteLater(ctx, loop.Warning, err.Error()) }
	if err := r.closeSession(); err != nil {
		warn(err)
	}
	r.nameLeft(ctx)
	r.nameMovedBranch(ctx)
	if err := r.bringBackLeft(ctx, m); err != nil {
		warn(fmt.Errorf("bring back what was begun before: %w", err))
	}
	untouched := m.Turns == 0 && !m.HasUnattributed
	if r.attended() || !untouched {
		r.inRun(ctx, func(context.Context) error { r.over(); return nil })
	}
	if untouched {
		r.goBack(ctx)
		return
	}
	if err := r.restoreGitConfigAtEnd(ctx, m); err != nil {
		warn(err)
	}
	end, err := r.Repo.Checkpoint(ctx, r.Loop.ID, theEnd+string(m.Outcome), DoneTrailers(r.Loop.ID, m.Tasks)...)
	if err != nil {
		warn(fmt.Errorf("the last checkpoint could not be made: %w", err))
	}
	if _, err := r.sortNewFiles(ctx, m, end.Tree); err != nil {
		warn(err)
	}
	if r.Spec.NoCommit || m.CommitPending || m.StaleIndexCommit != "" { // its commit may be on the branch, which git's index does not follow
		return
	}
	if err := r.tidyBranch(ctx, m); err != nil {
		warn(fmt.Errorf("the branch is left as it is: %w", err))
		return
	}
	r.goBack(ctx)
}

// goBack leaves the loop's branch if nothing was committed, and tells.
func (r *Runner) goBack(ctx context.Context) {
	left, err := r.leaveEmptyBranch(ctx)
	if err != nil {
		r.noteLater(ctx, loop.Warning, err.Error())
	}
	if left != "" {
		r.noteLater(ctx, loop.Info, "nothing was committed: "+left)
	}
	r.nameUnfinished(ctx, left != "")
}

// nameUnfinished tells which changes stay in the user's checkout, where git may refuse to switch
// from; of a loop without a commit also which new files.
func (r *Runner) nameUnfinished(ctx context.Context, fresh bool) {
	if r.Spec.UsesWorktree || r.theirTree() {
		return
	}
	st, err := r.Repo.Status(ctx)
	if err != nil {
		r.noteLater(ctx, loop.Warning, err.Error())
		return
	}
	before := func(path string) bool { return slices.Contains(r.Spec.Untracked, path) }
	if !fresh {
		st.Untracked = nil
	}
	all := slices.Sorted(slices.Values(slices.Concat(st.Dirty, st.Untracked))) // one that is out of the index is both
	if files := slices.DeleteFunc(slices.Compact(all), before); len(files) > 0 {
		r.noteLater(ctx, loop.Info, "not committed, and still in your checkout: "+plan.Few(files, 5))
	}
}

// leaveEmptyBranch goes back to where the checkout was when the loop began, if nothing
// was committed, and deletes the branch that the loop made. All files stay. It returns
// what it did, in words, "" if nothing.
func (r *Runner) leaveEmptyBranch(ctx context.Context) (string, error) {
	if r.theirTree() || r.Spec.UsesWorktree || r.Spec.NoCommit || r.Spec.Branch == r.Spec.StartBranch {
		return "", nil
	}
	home := cmp.Or(r.Spec.StartBranch, short(r.Spec.StartCommit)+" (no branch)")
	left, err := r.Repo.LeaveBranch(ctx, r.Spec.Branch, git.HeadPosition{Branch: r.Spec.StartBranch, Commit: r.Spec.StartCommit})
	if err != nil {
		return "", fmt.Errorf("go back to %s: %w", home, err)
	}
	if !left {
		return "", nil
	}
	words := "back on " + home
	if r.Spec.Branch != record.DefaultLoopBranch(r.Loop.ID) && !r.Spec.NewBranch {
		return words, nil
	}
	tip, err := r.Repo.Head(ctx)
	if err != nil {
		return words, fmt.Errorf("read HEAD: %w", err)
	}
	deleted, err := r.Repo.DeleteEmptyBranch(ctx, r.Spec.Branch, tip)
	if err != nil {
		return words, fmt.Errorf("delete branch %s: %w", r.Spec.Branch, err)
	}
	if deleted {
		words += ", and " + r.Spec.Branch + " is deleted"
	}
	return words, nil
}

// finishTimeout bounds the last work of a loop: a user who ended it waits.
const finishTimeout = 2 * time.Minute

// tidyBranch takes the agent's commits off the branch. That they are the agent's is
// journalled before: should it fail, a loop that is reopened still knows.
func (r *Runner) tidyBranch(ctx context.Context, m memory.ActionContext) error {
	base, remarks, err := r.attributeCommits(ctx, m)
	if err != nil {
		return err
	}
	for _, text := range remarks {
		r.noteLater(ctx, loop.Info, text)
	}
	r.inRun(ctx, func(context.Context) error { return r.setBase(base) })
	if !base.HasAgentCommits || r.keepsOwn() {
		return nil
	}
	noted, err := r.squash(ctx, base)
	if err != nil {
		return err
	}
	r.inRun(ctx, noted)
	return nil
}

// nameMovedBranch warns where the branch that the user was on when the loop began has lost the
// commit that it was at: it was reset, rebased or deleted, by the user or by a program of the
// agent's. Commits that were added to it are nothing to warn of.
func (r *Runner) nameMovedBranch(ctx context.Context) {
	home, began := r.Spec.StartBranch, r.Spec.StartCommit
	if home == "" || home == r.Spec.Branch || began == "" || r.theirTree() {
		return
	}
	there, err := r.Repo.HasBranch(ctx, home)
	lost := err == nil && !there
	if err == nil && there {
		var has bool
		has, err = r.Repo.Contains(ctx, "refs/heads/"+home, began)
		lost = err == nil && !has
	}
	if err != nil {
		r.noteLater(ctx, loop.Warning, fmt.Sprintf("look at branch %s: %v", home, err))
		return
	}
	if lost {
		hint := fmt.Sprintf("git log %s..%s shows what it lacks", home, short(began))
		if !there {
			hint = fmt.Sprintf("git branch %s %s brings it back", home, short(began))
		}
		text := fmt.Sprintf("branch %s lost commit %s, where this loop began; %s", home, short(began), hint)
		r.inRun(ctx, func(context.Context) error {
			r.tell(memory.Note{Level: loop.Warning, Text: text, PossibleUserChange: text})
			return nil
		})
	}
}
