package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
)

// Trailers of the commits that a loop makes.
const (
	TrailerLoop     = "Pawl-Loop"
	TrailerTask     = "Pawl-Task"
	TrailerEvidence = "Pawl-Evidence"
	TrailerReceipt  = "Pawl-Receipt"
	TrailerUndoes   = "Pawl-Undoes" // a task whose work this commit takes out, as the user restored a checkpoint from before
)

// commit commits the gated tree, with the tasks ticked in it, and then ticks them in the
// work tree. A commit that was made before a crash is found by its receipt; the steps after
// it are repeated.
func (r *Runner) commit(ctx context.Context, a loop.Commit, m memory.ActionContext) (loop.EventPayload, error) {
	if err := r.Repo.CheckTree(ctx, a.Tree); err != nil {
		return nil, failure.New(failure.Error, "pawl resume "+r.Loop.ID+"  checks the work anew", "read the tree that was checked: %w", err)
	}
	if _, err := r.restoreTakenWork(ctx, a.Tree, gatedHead(m), m); err != nil {
		return nil, err
	}
	ticks, err := r.plan.PrepareTicks(ctx, a, m)
	if err != nil {
		return nil, err
	}
	tree, err := r.treeWithTicks(ctx, a.Tree, ticks.Files)
	if err != nil {
		return nil, fmt.Errorf("take the tree to commit: %w", err)
	}
	done := loop.Committed{Tree: tree, Receipt: a.Receipt, UnappliedEditFile: ticks.UnappliedEdit}
	if r.Spec.NoCommit {
		kept, err := r.storeCheckpoint(ctx, m, git.CheckpointRequest{
			Tree: tree, Message: "verified: " + strings.Join(a.Tasks, ", "), Trailers: DoneTrailers(r.Loop.ID, withDone(m.Tasks, a.Tasks)),
			Trees: []string{m.ClaimGates.ProtectedTree},
		})
		if err != nil {
			return nil, err
		}
		r.enqueue(ctx, func(context.Context) error { r.queueMutationTests(a, m, m.Start.Tree, kept.Commit); return nil })
		done, err = r.tickAfterCommit(ctx, done, a, m)
		return done, err
	}
	lost, takenIn, err := r.lostCommits(ctx, m, tree)
	if err != nil {
		return nil, err
	}
	done.LostTasks = lost
	kept, failed := r.commitTree(ctx, a, m, tree, r.trailers(a, m, takenIn))
	if kept.Commit == "" {
		return nil, failed
	}
	r.enqueue(ctx, func(context.Context) error {
		r.queueMutationTests(a, m, m.Base.Commit, kept.Commit)
		return r.appendRecord(memory.TypeCommittedTrees, kept)
	})
	done.Commit = kept.Commit
	if err := r.noteUnrecordedModes(ctx, m.Base.Commit, kept.Commit); err != nil {
		return nil, err
	}
	if done.Tree, err = r.withoutEdits(ctx, tree, kept.Commit, m.ClaimUserEdits()); err != nil {
		return nil, errors.Join(failed, err)
	}
	if done, err = r.tickAfterCommit(ctx, done, a, m); err == nil && failed != nil {
		done.IndexError = fmt.Sprintf("made commit %s, but could not update git's index: %v", kept.Commit[:min(len(kept.Commit), 7)], failed)
		done.Hint = strings.TrimPrefix(failure.Hint(failed)+"; then  pawl resume "+r.Loop.ID+"  before you commit: it updates the index", "; ")
		return done, nil
	}
	return done, errors.Join(failed, err)
}

// noteUnrecordedModes notes new scripts that a commit does not make executable, as git ignores modes here.
func (r *Runner) noteUnrecordedModes(ctx context.Context, base, commit string) error {
	scripts, err := r.Repo.UnrecordedModes(ctx, commit)
	if err != nil || len(scripts) == 0 {
		return err
	}
	diff, err := r.Repo.Diff(ctx, base, commit)
	if err != nil {
		return fmt.Errorf("look at the commit: %w", err)
	}
	isNew := func(file string) bool {
		return slices.ContainsFunc(diff, func(c git.Change) bool { return c.Path == file && c.Status == 'A' })
	}
	if scripts = slices.DeleteFunc(scripts, func(file string) bool { return !isNew(file) }); len(scripts) > 0 {
		few := plan.Few(scripts, maxListedFiles)
		r.enqueueNote(ctx, loop.Warning, "not executable in the commit, since core.fileMode is false: "+few+"; to change that:  git update-index --chmod=+x "+few)
	}
	return nil
}

// alignIndex aligns git's index with a commit that could not update it when the loop ended.
func (r *Runner) alignIndex(ctx context.Context) error {
	behind := r.mem.State.Trouble.StaleIndexCommit
	if behind == "" || r.Repo == nil {
		return nil
	}
	if err := r.Repo.AlignIndex(ctx, "HEAD"); err != nil {
		return err
	}
	r.note(loop.Info, "updated git's index to commit "+behind[:min(len(behind), 7)]+" now")
	return nil
}

// tickAfterCommit ticks the tasks of a commit in the work tree, and adds the user's changes to
// the plan to the event.
func (r *Runner) tickAfterCommit(ctx context.Context, done loop.Committed, a loop.Commit, m memory.ActionContext) (loop.Committed, error) {
	aside, err := r.plan.WriteTicks(ctx, a, m)
	done.UnappliedEditFile, done.Added = cmp.Or(aside, done.UnappliedEditFile), r.plan.NewTasks(m.Tasks)
	return done, err
}

// withDone returns the tasks with the status of these set to done.
func withDone(tasks []loop.Task, ids []string) []loop.Task {
	tasks = slices.Clone(tasks)
	for i, t := range tasks {
		if slices.Contains(ids, t.ID) {
			tasks[i].Status = loop.Done
		}
	}
	return tasks
}

// commitTree finds the commit or makes it. If it returns a commit and an error, the commit
// exists but git's index is stale.
func (r *Runner) commitTree(ctx context.Context, a loop.Commit, m memory.ActionContext, tree string, trailers []git.Trailer) (memory.CommittedTrees, error) {
	branch, err := r.branch(ctx, m.Base)
	if err != nil {
		return memory.CommittedTrees{}, err
	}
	kept := memory.CommittedTrees{Gated: a.Tree, Receipt: a.Receipt}
	staged, err := r.stagedByUser(m)
	if err != nil {
		return kept, fmt.Errorf("find what you have staged: %w", err)
	}
	receipt := git.Trailer{Key: TrailerReceipt, Value: r.receiptKey(a, m)}
	sha, ok, err := r.Repo.FindCommit(ctx, branch, m.Base.Commit, receipt)
	if err != nil {
		return kept, fmt.Errorf("look for the commit: %w", err)
	}
	if ok {
		kept.Commit = sha
		if kept.Committed, err = r.Repo.TreeOf(ctx, sha); err != nil {
			return kept, fmt.Errorf("read the commit: %w", err)
		}
		return kept, r.Repo.AlignIndex(ctx, "HEAD", staged...)
	}
	parent, err := r.commitParent(ctx, m)
	if err == nil {
		tree, err = r.withCommitsSince(ctx, tree, gatedHead(m), parent)
	}
	if err == nil {
		kept.Committed, err = r.withoutUserFiles(ctx, tree, parent, m.WithUserEdits(m.ClaimUserEdits()))
	}
	if err != nil {
		return kept, err
	}
	c, err := r.Repo.Commit(ctx, git.CommitRequest{
		Loop: r.Loop.ID, Branch: branch, Parent: parent, Tree: kept.Committed,
		Message: cmp.Or(m.ClaimGates.Message, r.commitMessage(m.Tasks, a.Tasks)), Trailers: trailers, Date: time.Now(),
		UserFiles: staged,
	})
	if c.Unsigned != "" {
		n := memory.Note{Level: loop.Warning, Text: "the commit is not signed: " + c.Unsigned, Unsigned: plan.OneLine(c.Unsigned, 200)}
		r.enqueue(ctx, func(context.Context) error { r.recordNote(n); return nil })
	}
	if c.Squashed != "" && !r.keepsAgentCommits() {
		r.enqueueNote(ctx, loop.Info, "commits made while the gates ran are part of this commit; they are kept at "+c.Squashed)
	}
	if kept.Commit = c.Commit; err != nil {
		err = fmt.Errorf("commit: %w", err)
	}
	return kept, err
}

// stagedByUser returns the files that only the user has changed or created, and that the agent cannot
// have staged.
func (r *Runner) stagedByUser(m memory.ActionContext) ([]string, error) {
	return r.authors.NotStaged(m, slices.Concat(r.Spec.Untracked, m.WithUserEdits(m.ClaimUserEdits()).ExcludedFiles()))
}

// gatedHead returns the commit that HEAD was at when the gates ran.
func gatedHead(m memory.ActionContext) string { return cmp.Or(m.ClaimGates.Head, m.Base.Commit) }

// commitParent returns the parent of the commit. No turn has run since the gates, so later
// commits on the branch are the user's, and stay.
func (r *Runner) commitParent(ctx context.Context, m memory.ActionContext) (string, error) {
	gated := gatedHead(m)
	head, err := r.Repo.Head(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	if head == gated {
		return head, nil
	}
	later, err := r.Repo.Contains(ctx, head, gated)
	if err != nil {
		return "", fmt.Errorf("find what you committed meanwhile: %w", err)
	}
	if !later { // a commit would undo what the user did
		return "", failure.New(failure.Usage, "pawl resume "+r.Loop.ID+"  checks the work anew", "%w %s, on which the work was checked", errMoved, short(gated))
	}
	r.enqueueNote(ctx, loop.Info, userCommitsText("the branch", head))
	return head, nil
}

// errMoved is in the error about a branch that is not where it was when the gates ran.
var errMoved = errors.New("HEAD moved away from commit")

// withCommitsSince returns the tree with the changes of the commits between from and to.
func (r *Runner) withCommitsSince(ctx context.Context, tree, from, to string) (string, error) {
	diff, err := r.Repo.Diff(ctx, from, to)
	if err != nil {
		return "", fmt.Errorf("find what you committed meanwhile: %w", err)
	}
	if len(diff) == 0 {
		return tree, nil
	}
	if tree, err = r.Repo.Overlay(ctx, tree, to, git.Paths(diff)); err != nil {
		return "", fmt.Errorf("keep what you committed meanwhile: %w", err)
	}
	return tree, nil
}

// receiptKey returns the key that identifies the commit of this claim, also without a
// receipt of a gate.
func (r *Runner) receiptKey(a loop.Commit, m memory.ActionContext) string {
	return cmp.Or(a.Receipt, fmt.Sprintf("none-%s-%d", r.Loop.ID, m.Iteration))
}

// trailers returns those of a commit that also takes in the work of some done tasks.
func (r *Runner) trailers(a loop.Commit, m memory.ActionContext, takenIn []string) []git.Trailer {
	ts := []git.Trailer{{Key: TrailerLoop, Value: r.Loop.ID}}
	for _, id := range a.Tasks {
		ts = append(ts, git.Trailer{Key: TrailerTask, Value: plan.OneLine(id, 100)})
	}
	for _, id := range a.Undoes {
		ts = append(ts, git.Trailer{Key: TrailerUndoes, Value: plan.OneLine(id, 100)})
	}
	ts = append(ts, git.Trailer{Key: TrailerEvidence, Value: string(a.Evidence)},
		git.Trailer{Key: TrailerReceipt, Value: r.receiptKey(a, m)})
	for _, id := range takenIn {
		if t, ok := m.Tasks.Task(id); ok && t.Receipt != "" {
			ts = append(ts, git.Trailer{Key: TrailerTask, Value: plan.OneLine(id, 100)}, git.Trailer{Key: TrailerReceipt, Value: t.Receipt})
		}
	}
	return ts
}

// withoutUserFiles returns the tree without what the loop never commits: files that were untracked
// before the loop or that the user or a gate created since and that are not tracked at base,
// tracked files that only the user changed, and changes to files hidden from git.
func (r *Runner) withoutUserFiles(ctx context.Context, tree, base string, users memory.NewFiles) (string, error) {
	untracked := slices.Concat(r.Spec.Untracked, users.ByUser, users.ByGates)
	if len(untracked)+len(users.UserEdits())+len(r.Spec.HiddenFiles) == 0 || r.Spec.NoCommit {
		return tree, nil
	}
	tracked, err := r.Repo.Entries(ctx, base, untracked...)
	if err != nil {
		return "", fmt.Errorf("list what was tracked: %w", err)
	}
	out := slices.Concat(r.Spec.HiddenFiles, users.UserEdits())
	for _, p := range untracked {
		// In the loop's own worktree the plan is a copy, which belongs to the branch.
		if _, ok := tracked[p]; !ok && !(r.Spec.UsesWorktree && planfile.IsPlanFile(r.Spec.Plan, p) && r.Spec.Tracker == nil) {
			out = append(out, p)
		}
	}
	if tree, err = r.Repo.Overlay(ctx, tree, base, out); err != nil {
		return "", fmt.Errorf("leave out what is not the loop's: %w", err)
	}
	return tree, nil
}

// commitMessage returns the commit message for these tasks in the user's form. Titles come
// from a plan, so they are cleaned to one line. No shell ever sees them.
func (r *Runner) commitMessage(tasks loop.Tasks, ids []string) string {
	first, _ := tasks.Task(ids[0])
	kind := "feat"
	switch lower := strings.ToLower(first.Title); {
	case first.ID == loop.FinalTask || strings.HasPrefix(lower, "fix"):
		kind = "fix"
	case plan.LooksLikeProse(plan.Task{ID: first.ID, Title: first.Title}):
		kind = "docs"
	}
	id := ""
	if first.ID != loop.GoalTask && !first.IsOwn() {
		id = plan.Scope(first.ID)
	}
	title := plan.OneLine(first.Title, 60)
	if len(ids) > 1 {
		title += " and " + plan.OneLine(strings.Join(ids[1:], ", "), 30)
	}
	return plan.CommitSubject{Type: kind, ID: id, Title: title}.Format(cmp.Or(r.Spec.CommitMessage, plan.DefaultCommitForm))
}
