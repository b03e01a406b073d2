package runner

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
)

// An edit of the plan during a command of the agent or a gate may be the user's or the agent's. New
// tasks are accepted from both, since they only add work. Any other such edit is not applied,
// but saved in a file of the loop, and is no violation. An edit by an editing tool is the
// agent's. An edit that no tool call can have made, also by its time, or that was made while the
// loop was paused, is the user's. In a user's session an edit that is not applied also stays in the
// plan.

// handlePlanEdit handles a plan whose text differs from the frozen plan.
func (r *Runner) handlePlanEdit(ctx context.Context, now *planfile.File, m memory.ActionContext) (planInspection, error) {
	if r.authors.Wrote(r.planPath()) {
		return planInspection{changed: true}, nil
	}
	maybeAgent := r.mayAgentHaveEditedPlan(m)
	switch {
	case r.inSession && r.isUnappliedEdit(now):
		return planInspection{unappliedEdit: r.unappliedEditPath(now.Text())}, nil // it was noted before
	case r.inSession && !maybeAgent:
	case onlyAddsTasks(r.plan.Plan(), now.Plan()):
		return r.adoptAddedTasks(now, maybeAgent)
	case maybeAgent || isRenumbered(r.plan.Plan(), now.Plan()):
		aside, err := r.saveUnappliedEdit(ctx, now.Text(), now.Bytes(), maybeAgent)
		if err != nil || r.inSession {
			return planInspection{unappliedEdit: aside}, err
		}
		return planInspection{unappliedEdit: aside}, r.restorePlan()
	}
	return planInspection{changed: true}, nil
}

// unappliedEditPath returns the file for an edit of the plan that is not applied.
func (r *Runner) unappliedEditPath(text []byte) string {
	sum := sha256.Sum256(text)
	return filepath.Join(r.Loop.Dir, "plan.edited-"+hex.EncodeToString(sum[:4])+filepath.Ext(r.Spec.Plan))
}

// isUnappliedEdit reports whether an edit is saved already, whatever its checkboxes.
func (r *Runner) isUnappliedEdit(now *planfile.File) bool {
	_, err := os.Stat(r.unappliedEditPath(now.Text()))
	return err == nil
}

// adoptAddedTasks adopts a plan with more tasks. Checkboxes that were ticked during a command
// do not count.
func (r *Runner) adoptAddedTasks(now *planfile.File, maybeAgent bool) (planInspection, error) {
	ticked := tickedSince(r.plan, now)
	if !maybeAgent {
		return planInspection{tickedByUser: ticked}, r.saveUserPlan(now)
	}
	f, err := now.Untick(ticked...)
	if err != nil {
		return planInspection{}, fmt.Errorf("take marks out of the plan: %w", err)
	}
	if err := r.savePlan(f); err != nil || len(ticked) == 0 {
		return planInspection{}, err
	}
	return planInspection{}, r.restorePlan()
}

// handleUnreadablePlan handles a plan that cannot be parsed any more.
func (r *Runner) handleUnreadablePlan(ctx context.Context, m memory.ActionContext) (planInspection, error) {
	if r.inSession || r.authors.Wrote(r.planPath()) {
		return planInspection{changed: true}, nil
	}
	if _, err := os.Lstat(r.planPath()); errors.Is(err, fs.ErrNotExist) {
		return r.handleMissingPlan(ctx)
	}
	data, err := planfile.Read(r.planPath())
	if err != nil { // it is not a regular file
		return planInspection{changed: true}, nil //nolint:nilerr // an unreadable plan is a changed plan
	}
	aside, err := r.saveUnappliedEdit(ctx, data, data, r.mayAgentHaveEditedPlan(m))
	if err != nil {
		return planInspection{}, err
	}
	return planInspection{unappliedEdit: aside}, r.restorePlan()
}

// handleMissingPlan restores a plan that was removed or renamed, by whomever: the loop works
// through it. It is a violation only if a call named the plan.
func (r *Runner) handleMissingPlan(ctx context.Context) (planInspection, error) {
	if r.authors.Named(r.planPath()) {
		return planInspection{changed: true}, nil
	}
	r.enqueueNote(ctx, loop.Warning, r.Spec.Plan+" was removed or renamed: it is put back, since the loop works through it. To continue with another file: pawl stop, then pawl run FILE")
	return planInspection{}, r.restorePlan()
}

// saveUnappliedEdit saves a version of the plan that is not applied, and notes the file.
func (r *Runner) saveUnappliedEdit(ctx context.Context, text, data []byte, maybeAgent bool) (string, error) {
	path := r.unappliedEditPath(text)
	// Of an edit that is saved already the first plan counts, so that later changes are not lost.
	if _, err := os.Stat(planfile.BeforePath(path)); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.Write(planfile.BeforePath(path), r.plan.Bytes(), 0o600); err != nil {
			return "", fmt.Errorf("keep the plan before the edit: %w", err)
		}
	}
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return "", fmt.Errorf("keep the edited plan: %w", err)
	}
	how := "while a command of the agent's ran, so it is not known by whom"
	if !maybeAgent {
		how = "so that it cannot be followed (its tasks have other numbers, or it is no plan any more)"
	}
	r.enqueueNote(ctx, loop.Warning, fmt.Sprintf("%s was edited %s: not applied, and kept in %s; pawl plan accept %s applies it", r.Spec.Plan, how, path, r.Loop.ID))
	return path, nil
}

// checkPlanBeforeTick handles an edit that was made since the last inspection, before Pawl writes
// the plan. It returns the file with an edit that the ticks would overwrite.
func (r *Runner) checkPlanBeforeTick(ctx context.Context, m memory.ActionContext) (aside string, err error) {
	now, err := r.plans.Load(r.planPath())
	if err != nil || r.inSession || bytes.Equal(now.Text(), r.plan.Text()) {
		return "", nil //nolint:nilerr // the next inspection reports it
	}
	if onlyAddsTasks(r.plan.Plan(), now.Plan()) {
		f, err := now.Untick(tickedSince(r.plan, now)...)
		if err != nil {
			return "", fmt.Errorf("take marks out of the plan: %w", err)
		}
		return "", r.saveEditedPlan(f, m)
	}
	if !r.mayAgentHaveEditedPlan(m) {
		return "", nil
	}
	return r.saveUnappliedEdit(ctx, now.Text(), now.Bytes(), true)
}

// addedTasks returns the tasks that were added to the plan after all others were done. Other
// edits stay, since Pawl no longer writes the plan.
func (r *Runner) addedTasks(m memory.ActionContext) ([]loop.Task, error) {
	if r.Spec.Plan == "" || r.inSession {
		return nil, nil
	}
	now, err := r.plans.Load(r.planPath())
	if err == nil && onlyAddsTasks(r.plan.Plan(), now.Plan()) {
		if err := r.saveEditedPlan(now, m); err != nil {
			return nil, err
		}
	}
	return r.newTasks(m.Tasks), nil
}

// adoptUserEdit adopts the plan as the user edited it while the agent did not run: the loop was
// paused, or had ended. A plan that the user removed is restored, since it has the open tasks.
func (r *Runner) adoptUserEdit(while string) error {
	if r.Spec.Plan == "" || r.inSession && r.mem.State.Phase != loop.Paused {
		return nil
	}
	if r.inSession { // in a session the agent may work during a pause
		m := r.mem.ActionContext()
		if err := r.authors.ReadNewCalls(m); err != nil || r.mayAgentHaveEditedPlan(m) {
			return err
		}
	}
	if _, err := os.Stat(r.planPath()); errors.Is(err, fs.ErrNotExist) && r.mem.State.Phase == loop.Ended {
		r.note(loop.Warning, r.Spec.Plan+" was removed "+while+": it is put back")
		return r.restorePlan()
	}
	now, err := r.plans.Load(r.planPath())
	if err != nil || bytes.Equal(now.Text(), r.plan.Text()) {
		return nil //nolint:nilerr // the next inspection reports it
	}
	if isRenumbered(r.plan.Plan(), now.Plan()) {
		return nil
	}
	f, err := now.Untick(tickedSince(r.plan, now)...) // the next inspection handles the checkboxes
	if err != nil {
		return fmt.Errorf("take marks out of the plan: %w", err)
	}
	r.note(loop.Info, r.Spec.Plan+" was edited "+while+": it counts")
	return r.saveUserPlan(f)
}

// newTasks returns the tasks of the plan that the loop does not have, or has with another title
// or other wanted evidence.
func (r *Runner) newTasks(have loop.Tasks) []loop.Task {
	if r.plan == nil || len(r.Spec.OnlyTasks) > 0 {
		return nil
	}
	known := make(map[string]loop.Task, len(have))
	for _, t := range have {
		known[t.ID] = t
	}
	var added []loop.Task
	for _, t := range r.plan.Plan().Tasks {
		old, had := known[t.ID]
		task := r.loopTask(t, old)
		if had && old.Title == task.Title && old.Wanted == task.Wanted || !had && t.Optional && r.Spec.SkipOptional {
			continue
		}
		added = append(added, task)
	}
	return added
}

// loopTask converts a task that is added while the loop runs, or that the loop has already: old,
// whose wanted evidence stays if the plan's was not edited.
func (r *Runner) loopTask(t plan.Task, old loop.Task) loop.Task {
	task := loop.Task{
		ID: t.ID, Title: plan.OneLine(t.Title, 100), Priority: t.Priority, Optional: t.Optional, DependsOn: t.DependsOn, Status: loop.Open,
		Wanted: cmp.Or(gate.Evidence(t.Evidence), r.Spec.RequiredEvidence),
	}
	if _, edited := r.spec().Evidence[t.ID]; old.ID != "" && !edited {
		task.Wanted = old.Wanted
	}
	if t.Done {
		task.Status, task.DoneEarlier = loop.Done, true
	}
	return task
}

// tickedSince returns the tasks that are done in now and not in was.
func tickedSince(was, now *planfile.File) (ids []string) {
	done := map[string]bool{}
	for _, t := range was.Plan().Tasks {
		done[t.ID] = t.Done
	}
	for _, t := range now.Plan().Tasks {
		if t.Done && !done[t.ID] {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// onlyAddsTasks reports whether a plan only has more tasks than another one, and these have no
// settings.
func onlyAddsTasks(was, now plan.Plan) bool {
	if len(now.Tasks) <= len(was.Tasks) || was.Format != now.Format || was.Title != now.Title || was.Overview != now.Overview || !slices.Equal(was.Gates, now.Gates) {
		return false
	}
	had, has := was.Index(), now.Index()
	for _, old := range was.Tasks {
		if i, ok := has[old.ID]; !ok || !old.SameButMark(now.Tasks[i]) {
			return false
		}
	}
	return !slices.ContainsFunc(now.Tasks, func(t plan.Task) bool {
		_, known := had[t.ID]
		return !known && (t.Evidence != "" || len(t.Scope) > 0 || t.AllowTestChanges)
	})
}

// isRenumbered reports whether a task has got another id: in a plan without ids, inserting a
// task changes the numbers of those after it.
func isRenumbered(was, now plan.Plan) bool {
	has := now.Index()
	return slices.ContainsFunc(was.Tasks, func(old plan.Task) bool {
		i, ok := has[old.ID]
		return (!ok || now.Tasks[i].Title != old.Title) && slices.ContainsFunc(now.Tasks, func(n plan.Task) bool { return n.ID != old.ID && n.Title == old.Title })
	})
}
