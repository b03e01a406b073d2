package runner

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/workplan"
)

// newPlan returns the loop's plan, which is not open yet.
func (r *Runner) newPlan() *workplan.Plan {
	return workplan.New(workplan.Options{Loop: r.Loop, Spec: r.Spec, Repo: r.Repo, InSession: r.inSession, Authors: r.authors, Note: r.enqueueNote})
}

// spec returns the spec with what the user's plan says of its tasks by now. It may be called from
// any goroutine.
func (r *Runner) spec() record.Spec {
	s := r.Spec
	if r.plan != nil {
		s.PlanSettings = r.plan.Settings()
	}
	return s
}

// OwnFiles returns the files that Pawl writes in the work tree, relative to its root: the
// plan, its progress file, and another tool's state files.
func (r *Runner) OwnFiles() []string {
	own := r.plan
	if own == nil {
		own = r.newPlan()
	}
	return append(r.files().OwnPaths(), own.OwnFiles()...)
}

// editPlan applies the edits that the user requested.
func (r *Runner) editPlan(_ context.Context, a loop.EditPlan, m memory.ActionContext) (loop.EventPayload, error) {
	return r.plan.Edit(a.Edits, m)
}

// adoptIdleEdit adopts the user's edit of the plan while the agent did not run, and notes it. The
// next event has the tasks that the user ticked.
func (r *Runner) adoptIdleEdit(while string) error {
	n, ticked, err := r.plan.AdoptIdleEdit(r.mem, while)
	if n.Text != "" {
		r.recordNote(n)
	}
	r.tickedWhileIdle = ticked
	return err
}

// treeWithTicks returns the gated tree with the ticks and the current version of Pawl's other
// files.
func (r *Runner) treeWithTicks(ctx context.Context, tree string, ticks map[string][]byte) (string, error) {
	own := r.files().OwnPaths()
	if tree == "" || len(own) > 0 {
		now, _, err := r.Repo.Resnapshot(ctx)
		if err != nil {
			return "", err
		}
		if tree == "" {
			tree = now
		}
		if tree, err = r.Repo.Overlay(ctx, tree, now, own); err != nil {
			return "", err
		}
	}
	return r.Repo.WithContent(ctx, tree, ticks)
}
