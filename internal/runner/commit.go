package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
)

// Trailers of the commits that a loop makes.
const (
	TrailerLoop     = "Pawl-Loop"
	TrailerTask     = "Pawl-Task"
	TrailerEvidence = "Pawl-Evidence"
	TrailerReceipt  = "Pawl-Receipt"
)

// tick sets the tasks' marks in the person's plan and appends to the progress
// file beside it. Doing it again changes nothing.
func (r *Runner) tick(a loop.Action) error {
	if r.Spec.Plan == "" {
		return nil
	}
	ids := slices.DeleteFunc(slices.Clone(a.Tasks), func(id string) bool { return id == loop.FinalTask })
	if len(ids) == 0 {
		return nil
	}
	f, err := r.plan.Tick(ids...)
	if err != nil {
		return fmt.Errorf("tick %s: %w", strings.Join(ids, ", "), err)
	}
	there := f
	if now, err := planfile.Load(r.planPath()); err == nil && !r.tools.explain(r.planPath()) {
		// The person may have edited it while the gates ran.
		if there, err = now.Tick(ids...); err != nil {
			there = now
		}
	}
	if err := atomicfile.Write(r.planPath(), there.Bytes(), 0o644); err != nil {
		return fmt.Errorf("tick %s: %w", strings.Join(ids, ", "), err)
	}
	if err := r.keepPlan(f); err != nil {
		return err
	}
	return r.progress(a, f.Plan().Format)
}

// progress appends to the progress file of the plan's format, if there is one.
func (r *Runner) progress(a loop.Action, format string) error {
	path := planfile.ProgressFile(r.planPath(), format)
	if path == "" {
		return nil
	}
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read progress file: %w", err)
	}
	text := old
	for _, id := range a.Tasks {
		t, _ := r.mem.State.Task(id)
		entry := planfile.ProgressEntry(format, planfile.Entry{
			TaskID: t.ID, Title: t.Title, Iteration: r.mem.State.Iteration, Time: r.mem.State.JudgedAt,
			Evidence: string(a.Evidence),
		})
		if !bytes.Contains(old, bytes.TrimSpace(entry)) {
			text = append(text, entry...)
		}
	}
	if err := atomicfile.Write(path, text, 0o644); err != nil {
		return fmt.Errorf("append to progress file: %w", err)
	}
	return nil
}

// commit makes the verified tree one commit. The tree is the gated one but for
// Pawl's own marks, which Tick has just written. A commit that was made before a
// crash is found by its receipt.
func (r *Runner) commit(ctx context.Context, a loop.Action, m record.Memory) (loop.Event, error) {
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return loop.Event{}, fmt.Errorf("take the tree to commit: %w", err)
	}
	tree := cmp.Or(a.Tree, now)
	if marks := r.Marks(); len(marks) > 0 {
		if tree, err = r.Repo.Overlay(ctx, tree, now, marks); err != nil {
			return loop.Event{}, fmt.Errorf("take the tree to commit: %w", err)
		}
	}
	done := loop.Event{Kind: loop.Committed, Tree: tree, Receipt: a.Receipt}
	if r.Spec.NoCommit {
		_, err := r.checkpoint(ctx, loop.Action{Text: "verified: " + strings.Join(a.Tasks, ", ")}, m)
		return done, err
	}
	branch, err := r.branch(ctx)
	if err != nil {
		return loop.Event{}, err
	}
	base := m.Base.Commit
	if sha, ok, err := r.Repo.FindCommit(ctx, branch, base, git.Trailer{Key: TrailerReceipt, Value: r.receiptKey(a, m)}); err != nil {
		return loop.Event{}, fmt.Errorf("look for the commit: %w", err)
	} else if ok {
		done.Commit = sha
		return done, r.Repo.AlignIndex(ctx, "HEAD")
	}
	own, err := r.withoutForeign(ctx, tree, m.Base.Commit)
	if err != nil {
		return loop.Event{}, err
	}
	parent := base
	if r.keepsOwn() {
		if parent, err = r.Repo.Head(ctx); err != nil {
			return loop.Event{}, fmt.Errorf("read HEAD: %w", err)
		}
	}
	c, err := r.Repo.Commit(ctx, git.CommitRequest{
		Loop: r.Loop.ID, Branch: branch, Parent: parent, Tree: own,
		Message: cmp.Or(m.State.Found.Message, commitMessage(m.State, a.Tasks)), Trailers: r.trailers(a, m), Date: time.Now(),
	})
	if err != nil {
		return loop.Event{}, fmt.Errorf("commit: %w", err)
	}
	if c.Unsigned != "" {
		r.noteLater(ctx, loop.Warning, "the commit is not signed: "+c.Unsigned)
	}
	if c.Squashed != "" && !r.keepsOwn() {
		r.noteLater(ctx, loop.Info, "commits made while the gates ran are part of this one; they are kept at "+c.Squashed)
	}
	kept := record.Kept{Commit: c.Commit, Gated: a.Tree, Committed: own, Receipt: a.Receipt}
	r.inRun(ctx, func(context.Context) error { return r.append(record.TypeKept, kept) })
	done.Commit = c.Commit
	return done, nil
}

// receiptKey names the commit of this claim even where no gate gave a receipt.
func (r *Runner) receiptKey(a loop.Action, m record.Memory) string {
	return cmp.Or(a.Receipt, fmt.Sprintf("none-%s-%d", r.Loop.ID, m.State.Iteration))
}

func (r *Runner) trailers(a loop.Action, m record.Memory) []git.Trailer {
	ts := []git.Trailer{{Key: TrailerLoop, Value: r.Loop.ID}}
	for _, id := range a.Tasks {
		ts = append(ts, git.Trailer{Key: TrailerTask, Value: plan.OneLine(id, 100)})
	}
	return append(ts, git.Trailer{Key: TrailerEvidence, Value: string(a.Evidence)},
		git.Trailer{Key: TrailerReceipt, Value: r.receiptKey(a, m)})
}

// withoutForeign takes the person's own out of a tree: files that were untracked
// before the loop and are not tracked at its base, and what they changed in files
// that they hid from git. Neither is ever committed by the loop.
func (r *Runner) withoutForeign(ctx context.Context, tree, base string) (string, error) {
	if len(r.Spec.Foreign)+len(r.Spec.Hidden) == 0 || r.Spec.NoCommit { // none is made
		return tree, nil
	}
	tracked, err := r.Repo.Entries(ctx, base, r.Spec.Foreign...)
	if err != nil {
		return "", fmt.Errorf("list what was tracked: %w", err)
	}
	out := slices.Clone(r.Spec.Hidden)
	for _, p := range r.Spec.Foreign {
		// In a worktree of the loop's own the plan is a copy, the branch's.
		if _, ok := tracked[p]; !ok && !(r.Spec.OwnTree && p == r.Spec.Plan) {
			out = append(out, p)
		}
	}
	if tree, err = r.Repo.Overlay(ctx, tree, base, out); err != nil {
		return "", fmt.Errorf("leave out what is not the loop's: %w", err)
	}
	return tree, nil
}

// commitMessage is a conventional message made from the tasks. Titles come from
// a plan: they are one cleaned line here, and no shell ever sees them.
func commitMessage(s loop.State, ids []string) string {
	first, _ := s.Task(ids[0])
	kind := "feat"
	switch lower := strings.ToLower(first.Title); {
	case first.ID == loop.FinalTask || strings.HasPrefix(lower, "fix"):
		kind = "fix"
	case plan.LooksLikeProse(plan.Task{ID: first.ID, Title: first.Title}):
		kind = "docs"
	}
	scope := ""
	if first.ID != record.GoalTask && first.ID != loop.FinalTask {
		scope = "(" + plan.Scope(first.ID) + ")"
	}
	title := plan.OneLine(first.Title, 60)
	if len(ids) > 1 {
		title += " and " + plan.OneLine(strings.Join(ids[1:], ", "), 30)
	}
	return kind + scope + ": " + title
}
