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
	head, remarks, err := r.returnToBranch(ctx, base)
	if err != nil {
		return base, nil, err
	}
	switch {
	case head == base.Commit:
		base.HasAgentCommits = false
	case base.HasAgentCommits || m.HasUnattributed && r.tools.query((*authorship.Calls).MayHaveCommitted):
		var yours []string
		base, yours, err = r.attributeTurnCommits(ctx, base, head, m)
		return base, append(remarks, yours...), err
	default:
		base.TaskStart = cmp.Or(base.TaskStart, base.Commit)
		base.Commit = head
		branch, err := r.branch(ctx)
		if err != nil {
			return base, nil, err
		}
		remarks = append(remarks, userCommitsText(branch, head))
	}
	return base, remarks, nil
}

// branch is where the commits go. In a user's tree that is where they are.
func (r *Runner) branch(ctx context.Context) (string, error) {
	if !r.isUserTree() {
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

// returnToBranch ends what the agent left half-done and puts HEAD back on the loop's
// branch. It returns the commit of HEAD, which in a user's tree is all it does.
func (r *Runner) returnToBranch(ctx context.Context, base memory.Base) (head string, remarks []string, err error) {
	if !r.isUserTree() {
		left, err := r.Repo.QuitOperation(ctx)
		if err != nil {
			return "", nil, fmt.Errorf("end what was left half-done: %w", err)
		}
		if left != "" {
			remarks = append(remarks, "a git "+left+" was half-done: ended, the files kept as they are")
		}
	}
	back, text, err := r.switchBack(ctx, base)
	if text != "" {
		remarks = append(remarks, text)
	}
	return back.Head, remarks, err
}

// switchBack puts HEAD back on the loop's branch, and the files with it, and says what it
// did, "" if nothing. In a user's tree HEAD stays where it is.
func (r *Runner) switchBack(ctx context.Context, base memory.Base) (back git.SwitchResult, text string, err error) {
	if r.isUserTree() {
		if back.Head, err = r.Repo.Head(ctx); err != nil {
			return back, "", fmt.Errorf("read HEAD: %w", err)
		}
		return back, "", nil
	}
	began := time.Now()
	back, err = r.Repo.SwitchBack(ctx, r.Loop.ID, r.Spec.Branch, base.Commit)
	if err == nil && back.Before != "" {
		err = r.recordSpan(authorship.Span{From: began, Until: time.Now()})
	}
	if err != nil {
		return back, "", fmt.Errorf("switch back to %s: %w", r.Spec.Branch, err)
	}
	return back, SwitchText(back, r.Spec.Branch), nil
}

// SwitchText says that HEAD is on a branch again, "" where it was there.
func SwitchText(back git.SwitchResult, branch string) string {
	if back.From == "" {
		return ""
	}
	text := back.From + " was checked out: switched back to " + branch + ", where the commits go; "
	if back.Before == "" {
		return text + "no file changed"
	}
	text += "its files are there again, with what was not committed"
	if len(back.Clashes) > 0 {
		text += fmt.Sprintf(", but not the changes of %s, which differ there (kept: git show %s:PATH)", strings.Join(firstN(back.Clashes, maxListed), ", "), short(back.Before))
	}
	return text
}

func userCommitsText(branch, head string) string {
	return "commits that are not the loop's were found on " + branch + " and kept: work goes on from " + short(head)
}

func short(commit string) string { return commit[:min(len(commit), 7)] }

// setBase journals a base that is not the one known. In Run's goroutine.
func (r *Runner) setBase(b memory.Base) error {
	if b == r.mem.Base {
		return nil
	}
	r.mem.Base = b
	return r.appendRecord(memory.TypeBase, b)
}

// keepsAgentCommits: the commits that the loop did not make stay on the branch. In a
// user's tree it could not be told for sure whose they are.
func (r *Runner) keepsAgentCommits() bool { return r.Spec.KeepAgentCommits || r.isUserTree() }

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
			r.recordNote(n)
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
	if branch != r.Spec.Branch && !r.isUserTree() || head == m.Base.Commit {
		return m.Base, nil
	}
	base := memory.Base{Commit: head}
	r.enqueue(ctx, func(context.Context) error { return r.setBase(base) })
	r.enqueueNote(ctx, loop.Info, userCommitsText(branch, head))
	return base, nil
}

// finish does the work of the end, and again where an owner died at it: it keeps a
// last snapshot of the tree, so that whatever the loop came to, its work can be had
// back, and leaves the branch with the loop's and the user's commits. What the agent
// committed is in the tree.
func (r *Runner) finish(ctx context.Context, _ loop.Action, m memory.ActionContext) (loop.Event, error) {
	r.conclude(ctx, m)
	began := time.Now()
	if later := r.mutationTestsAtEnd(ctx, m.Outcome); !later && r.Verify != nil {
		if err := r.Verify.RemoveCopies(); err != nil {
			r.enqueueNote(ctx, loop.Anomaly, "copies of dependencies are left: "+err.Error())
		}
	}
	return loop.Event{Kind: loop.Concluded, Tested: elapsedSeconds(began)}, nil
}

// endSubject begins the subject of the checkpoint that a loop makes at its end.
const endSubject = "the end: "

// FinalCheckpoint finds the checkpoint that a loop made at its last end, before which only restores may have
// made others; false if it could make none then.
func FinalCheckpoint(points []git.Checkpoint) (git.Checkpoint, bool) {
	for _, p := range slices.Backward(points) {
		if strings.HasPrefix(p.Subject, endSubject) {
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
	warn := func(err error) { r.enqueueNote(ctx, loop.Warning, err.Error()) }
	if err := r.closeSession(); err != nil {
		warn(err)
	}
	r.noteOrphans(ctx)
	r.warnMovedBranch(ctx)
	if err := r.restoreUnfinished(ctx, m); err != nil {
		warn(fmt.Errorf("bring back what was begun before: %w", err))
	}
	untouched := m.Turns == 0 && !m.HasUnattributed
	if r.attended() || !untouched {
		r.enqueue(ctx, func(context.Context) error { r.markFilesEnded(); return nil })
	}
	if untouched {
		r.leaveUnusedBranch(ctx)
		return
	}
	if err := r.restoreGitConfigAtEnd(ctx, m); err != nil {
		warn(err)
	}
	end, err := r.Repo.Checkpoint(ctx, r.Loop.ID, endSubject+string(m.Outcome), DoneTrailers(r.Loop.ID, m.Tasks)...)
	if err != nil {
		warn(fmt.Errorf("the last checkpoint could not be made: %w", err))
	}
	if _, err := r.attributeNewFiles(ctx, m, end.Tree); err != nil {
		warn(err)
	}
	if r.Spec.NoCommit || m.CommitPending || m.StaleIndexCommit != "" { // its commit may be on the branch, which git's index does not follow
		return
	}
	if err := r.squashAtEnd(ctx, m); err != nil {
		warn(fmt.Errorf("the branch is left as it is: %w", err))
		return
	}
	r.leaveUnusedBranch(ctx)
}

// leaveUnusedBranch leaves the loop's branch if nothing was committed, and tells.
func (r *Runner) leaveUnusedBranch(ctx context.Context) {
	left, err := r.leaveEmptyBranch(ctx)
	if err != nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
	}
	if left != "" {
		r.enqueueNote(ctx, loop.Info, "nothing was committed: "+left)
	}
	r.noteUncommitted(ctx, left != "")
}

// noteUncommitted tells which changes stay in the user's checkout, where git may refuse to switch
// from; of a loop without a commit also which new files.
func (r *Runner) noteUncommitted(ctx context.Context, fresh bool) {
	if r.Spec.UsesWorktree || r.isUserTree() {
		return
	}
	st, err := r.Repo.Status(ctx)
	if err != nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
		return
	}
	before := func(path string) bool { return slices.Contains(r.Spec.Untracked, path) }
	if !fresh {
		st.Untracked = nil
	}
	all := slices.Sorted(slices.Values(slices.Concat(st.Dirty, st.Untracked))) // one that is out of the index is both
	if files := slices.DeleteFunc(slices.Compact(all), before); len(files) > 0 {
		r.enqueueNote(ctx, loop.Info, "not committed, and still in your checkout: "+plan.Few(files, 5))
	}
}

// leaveEmptyBranch goes back to where the checkout was when the loop began, if nothing
// was committed, and deletes the branch that the loop made. All files stay. It returns
// what it did, in words, "" if nothing.
func (r *Runner) leaveEmptyBranch(ctx context.Context) (string, error) {
	if r.isUserTree() || r.Spec.UsesWorktree || r.Spec.NoCommit || r.Spec.Branch == r.Spec.StartBranch {
		return "", nil
	}
	start := cmp.Or(r.Spec.StartBranch, short(r.Spec.StartCommit)+" (no branch)")
	left, err := r.Repo.LeaveBranch(ctx, r.Spec.Branch, git.HeadPosition{Branch: r.Spec.StartBranch, Commit: r.Spec.StartCommit})
	if err != nil {
		return "", fmt.Errorf("go back to %s: %w", start, err)
	}
	if !left {
		return "", nil
	}
	text := "back on " + start
	if r.Spec.Branch != record.DefaultLoopBranch(r.Loop.ID) && !r.Spec.NewBranch {
		return text, nil
	}
	tip, err := r.Repo.Head(ctx)
	if err != nil {
		return text, fmt.Errorf("read HEAD: %w", err)
	}
	deleted, err := r.Repo.DeleteEmptyBranch(ctx, r.Spec.Branch, tip)
	if err != nil {
		return text, fmt.Errorf("delete branch %s: %w", r.Spec.Branch, err)
	}
	if deleted {
		text += ", and " + r.Spec.Branch + " is deleted"
	}
	return text, nil
}

// finishTimeout bounds the last work of a loop: a user who ended it waits.
const finishTimeout = 2 * time.Minute

// squashAtEnd takes the agent's commits off the branch. That they are the agent's is
// journalled before: should it fail, a loop that is reopened still knows.
func (r *Runner) squashAtEnd(ctx context.Context, m memory.ActionContext) error {
	base, remarks, err := r.attributeCommits(ctx, m)
	if err != nil {
		return err
	}
	for _, text := range remarks {
		r.enqueueNote(ctx, loop.Info, text)
	}
	r.enqueue(ctx, func(context.Context) error { return r.setBase(base) })
	if !base.HasAgentCommits || r.keepsAgentCommits() {
		return nil
	}
	noted, err := r.squash(ctx, base)
	if err != nil {
		return err
	}
	r.enqueue(ctx, noted)
	return nil
}

// warnMovedBranch warns where the branch that the user was on when the loop began has lost the
// commit that it was at: it was reset, rebased or deleted, by the user or by a program of the
// agent's. Commits that were added to it are nothing to warn of.
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
		text := fmt.Sprintf("branch %s lost commit %s, where this loop began; %s", start, short(began), hint)
		r.enqueue(ctx, func(context.Context) error {
			r.recordNote(memory.Note{Level: loop.Warning, Text: text, PossibleUserChange: text})
			return nil
		})
	}
}
