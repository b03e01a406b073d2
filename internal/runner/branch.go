package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
)

// attributeCommits switches back to the loop's branch and attributes the commits that the
// loop did not make. Commits that no command of the agent can have made are the user's, and
// become the base. It returns the new base, and remarks for the user.
func (r *Runner) attributeCommits(ctx context.Context, m memory.ActionContext) (base memory.Base, remarks []string, err error) {
	base = m.Base
	if r.Spec.NoCommit {
		return base, nil, nil // history is the user's
	}
	head, remarks, err := r.returnToBranch(ctx, m)
	if err != nil {
		return base, nil, err
	}
	branch, err := r.branch(ctx, base)
	if _, elsewhere := errors.AsType[needsUser](err); elsewhere {
		return base, remarks, nil // the commits there are not the loop's business
	}
	if err != nil {
		return base, nil, err
	}
	if r.isUserTree() {
		base.Branch = branch
	}
	switch {
	case head == base.Commit:
		base.HasAgentCommits = false
	case r.authors.MayHaveCommitted(m):
		var yours []string
		base, yours, err = r.attributeTurnCommits(ctx, base, head, m)
		return base, append(remarks, yours...), err
	default:
		isBefore, err := r.Repo.Contains(ctx, base.Commit, head)
		if err != nil {
			return base, nil, fmt.Errorf("look for commit %s in the branch: %w", short(base.Commit), err)
		}
		base.TaskStart = cmp.Or(base.TaskStart, base.Commit)
		base.Commit = head
		text := userCommitsText
		if isBefore {
			text = userResetText
		}
		remarks = append(remarks, text(branch, head))
	}
	return base, remarks, nil
}

// returnToBranch ends a git operation that the agent left unfinished and switches back to the
// loop's branch. It returns the commit of HEAD. In a user's tree it only does that.
func (r *Runner) returnToBranch(ctx context.Context, m memory.ActionContext) (head string, remarks []string, err error) {
	if !r.isUserTree() {
		left, err := r.Repo.QuitOperation(ctx)
		if err != nil {
			return "", nil, fmt.Errorf("end what was left half-done: %w", err)
		}
		if left != "" {
			remarks = append(remarks, "a git "+left+" was unfinished: ended, the files are kept")
		}
	}
	back, text, err := r.switchBack(ctx, m)
	if text != "" {
		remarks = append(remarks, text)
	}
	return back.Head, remarks, err
}

// switchBack switches HEAD and files back to the loop's branch, and returns a message about
// it, or "". In a user's tree it only reads HEAD.
func (r *Runner) switchBack(ctx context.Context, m memory.ActionContext) (back git.SwitchResult, text string, err error) {
	if r.isUserTree() {
		if back.Head, err = r.Repo.Head(ctx); err != nil {
			return back, "", fmt.Errorf("read HEAD: %w", err)
		}
		return back, "", nil
	}
	began := time.Now()
	back, err = r.Repo.SwitchBack(ctx, git.SwitchRequest{
		Loop: r.Loop.ID, Branch: r.Spec.Branch, Base: m.Base.Commit, AgentCommits: r.authors.MayHaveCommitted(m),
		UserFiles: func(ctx context.Context) ([]string, error) {
			now, _, err := r.Repo.Snapshot(ctx)
			if err == nil {
				m, err = r.attributeChanges(ctx, m, now)
			}
			return m.ExcludedFiles(), err
		},
	})
	if err == nil && back.Before != "" {
		err = r.authors.RecordSpan(began)
	}
	if err != nil {
		return back, "", fmt.Errorf("switch back to %s: %w", r.Spec.Branch, err)
	}
	return back, SwitchText(back, r.Spec.Branch), nil
}

func userCommitsText(branch, head string) string {
	return "found commits on " + branch + " that are not the loop's; kept, and work continues from " + short(head)
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

// keepsAgentCommits reports whether commits that the loop did not make stay on the branch. In
// a user's tree their author is not known for certain.
func (r *Runner) keepsAgentCommits() bool { return r.Spec.KeepAgentCommits || r.isUserTree() }

// squash turns the agent's own commits into uncommitted changes. The caller passes the
// returned function to enqueue: it records where the commits are kept.
func (r *Runner) squash(ctx context.Context, m memory.ActionContext, base memory.Base) (noted func(context.Context) error, err error) {
	staged, err := r.stagedByUser(m)
	if err != nil {
		return nil, fmt.Errorf("find what you have staged: %w", err)
	}
	ref, err := r.Repo.Squash(ctx, r.Loop.ID, r.Spec.Branch, base.Commit, staged...)
	if err != nil {
		return nil, err
	}
	extends := false
	if ref != "" { // seldom: an ordinary task has no such commits
		if extends, err = r.Repo.Contains(ctx, ref, base.Commit); err != nil {
			return nil, fmt.Errorf("look for commit %s among those of the branch: %w", short(base.Commit), err)
		}
	}
	return func(context.Context) error {
		if ref != "" {
			r.recordNote(r.squashNote(ref, base, extends))
		}
		base.HasAgentCommits = false
		return r.setBase(base)
	}, nil
}

// keepsCommits says how a user keeps the agent's commits as they are.
const keepsCommits = " (pawl run --squash=false leaves them on the branch)"

// squashNote describes commits that became changes. Whether they extended the base decides whose
// they may be: a branch that was rewritten has no line of commits to attribute.
func (r *Runner) squashNote(ref string, base memory.Base, extends bool) memory.Note {
	n := memory.Note{Level: loop.Info, Text: "the agent's own commits are uncommitted changes again; the commits are kept at " + ref + keepsCommits}
	_, blind := r.Agent.(agent.Blind)
	switch {
	case !extends:
		n.PossibleUserChange = fmt.Sprintf("the branch was rewritten (by an amend, a rebase or a reset): the loop continues from its commit %s; the rewritten commits are kept at %s", short(base.Commit), ref)
		n.Level, n.Text = loop.Warning, n.PossibleUserChange
	case blind:
		n.PossibleUserChange = "commits made while the agent worked (Pawl cannot see its tool calls); they are kept at " + ref
		n.Text = "perhaps yours: " + n.PossibleUserChange + ", and are uncommitted changes again" + keepsCommits
	}
	return n
}

// adoptCommits makes new commits on the branch part of the base. Between tasks no turn runs,
// so they are the user's.
func (r *Runner) adoptCommits(ctx context.Context, m memory.ActionContext) (memory.Base, error) {
	if m.TurnSinceGates || r.Spec.NoCommit {
		return m.Base, nil
	}
	head, err := r.Repo.Head(ctx)
	if err != nil {
		return m.Base, fmt.Errorf("read HEAD: %w", err)
	}
	if head == m.Base.Commit {
		return m.Base, nil
	}
	current, err := r.Repo.Branch(ctx)
	if err != nil {
		return m.Base, fmt.Errorf("read the current branch: %w", err)
	}
	branch, err := r.branch(ctx, m.Base)
	if _, elsewhere := errors.AsType[needsUser](err); elsewhere || err == nil && current != branch {
		return m.Base, nil
	}
	if err != nil {
		return m.Base, err
	}
	base := memory.Base{Commit: head, Branch: m.Base.Branch}
	if r.isUserTree() {
		base.Branch = branch
	}
	r.enqueue(ctx, func(context.Context) error { return r.setBase(base) })
	r.enqueueNote(ctx, loop.Info, userCommitsText(branch, head))
	return base, nil
}

// finish performs the final work of a loop. It makes a last checkpoint, so that the work can
// be restored whatever the outcome, and leaves only the loop's and the user's commits on the
// branch. Commits of the agent become changes in the tree. It may run again after a crash.
func (r *Runner) finish(ctx context.Context, _ loop.Finish, m memory.ActionContext) (loop.EventPayload, error) {
	r.conclude(ctx, m)
	began := time.Now()
	if later := r.mutationTestsAtEnd(ctx, m.Outcome); !later && r.Verify != nil {
		if err := r.Verify.RemoveCopies(); err != nil {
			r.enqueueNote(ctx, loop.Anomaly, "could not remove copies of dependencies: "+err.Error())
		}
	}
	return loop.Concluded{Tested: elapsedSeconds(began)}, nil
}

// endSubject begins the subject of the checkpoint that a loop makes at its end.
const endSubject = "the end: "

// AfterRestore begins the subject of the checkpoint that a user's restore makes last.
const AfterRestore = "after a restore"

// FinalCheckpoint returns the checkpoint of a loop's last end. Later checkpoints can only come
// from restores. It returns false if the loop made none.
func FinalCheckpoint(points []git.Checkpoint) (git.Checkpoint, bool) {
	for _, p := range slices.Backward(points) {
		if strings.HasPrefix(p.Subject, endSubject) {
			return p, true
		}
		if !strings.HasPrefix(p.Subject, "before ") && !strings.HasPrefix(p.Subject, AfterRestore) {
			break
		}
	}
	return git.Checkpoint{}, false
}

// conclude does the final work within finishTimeout, also after the user has cancelled.
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
	if r.inSession || !untouched {
		r.enqueue(ctx, func(context.Context) error { r.markFilesEnded(); return nil })
	}
	if untouched {
		r.leaveUnusedBranch(ctx, m)
		return
	}
	if err := r.restoreGitConfigAtEnd(ctx, m); err != nil {
		warn(err)
	}
	tree, _, err := r.Repo.Snapshot(ctx)
	if err == nil {
		_, err = r.storeCheckpoint(ctx, m, git.CheckpointRequest{Tree: tree, Message: endSubject + string(m.Outcome), Trailers: DoneTrailers(r.Loop.ID, m.Tasks)})
	}
	if err != nil {
		warn(fmt.Errorf("the last checkpoint could not be made: %w", err))
	}
	if _, err := r.attributeChanges(ctx, m, tree); err != nil {
		warn(err)
	}
	if r.Spec.NoCommit || m.CommitPending || m.StaleIndexCommit != "" { // its commit may be on the branch, which git's index does not follow
		return
	}
	if err := r.squashAtEnd(ctx, m); err != nil {
		warn(fmt.Errorf("the branch is kept: %w", err))
		return
	}
	r.leaveUnusedBranch(ctx, m)
}

// leaveUnusedBranch switches back to the user's branch if nothing was committed, and notes it.
func (r *Runner) leaveUnusedBranch(ctx context.Context, m memory.ActionContext) {
	left, err := r.leaveEmptyBranch(ctx)
	if err != nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
	}
	if left != "" {
		r.enqueueNote(ctx, loop.Info, "nothing was committed: "+left)
	}
	isLeft := func(file string) bool { return left != "" || err != nil || slices.Contains(m.ByAgent, file) }
	r.noteUncommitted(ctx, isLeft)
}

// maxFilesLeft bounds the files that a note names for the report.
const maxFilesLeft = 100

// noteUncommitted notes the changes that stay in the user's checkout, since git may refuse to
// switch branches over them; of new files, those for which isLeft holds: all of a loop without a
// commit, else the agent's.
func (r *Runner) noteUncommitted(ctx context.Context, isLeft func(file string) bool) {
	if r.Spec.UsesWorktree || r.isUserTree() {
		return
	}
	st, err := r.Repo.Status(ctx)
	if err != nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
		return
	}
	before := func(path string) bool { return slices.Contains(r.Spec.Untracked, path) }
	st.Untracked = slices.DeleteFunc(st.Untracked, func(file string) bool { return !isLeft(file) })
	all := slices.Sorted(slices.Values(slices.Concat(st.Dirty, st.Untracked))) // one that is out of the index is both
	if files := slices.DeleteFunc(slices.Compact(all), before); len(files) > 0 {
		r.enqueue(ctx, func(context.Context) error {
			r.recordNote(memory.Note{Level: loop.Info, Text: "not committed, still in your checkout: " + plan.Few(files, 5), LeftInCheckout: files[:min(len(files), maxFilesLeft)]})
			return nil
		})
	}
}

// leaveEmptyBranch switches back to the branch that was checked out when the loop started, if
// nothing was committed, and deletes the branch that the loop created. Files do not change.
// It returns a message about it, or "".
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

// squashAtEnd squashes the agent's commits on the branch. Their attribution is journalled
// first, so that a reopened loop knows it even if squashing fails.
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
	noted, err := r.squash(ctx, m, base)
	if err != nil {
		return err
	}
	r.enqueue(ctx, noted)
	return nil
}
