package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
)

// An edit of the plan beside a command of the agent's may be the user's or the
// agent's. New tasks are taken up from either: they only add work. Any other edit is
// not applied, kept in full in a file of the loop's, and held against nobody. An edit
// by an editing tool is the agent's; one that no tool call explains, or that was made
// while the loop was paused, is the user's. In a session of theirs nothing is put back
// over their head: an edit that is not applied stays in the plan, too.

// handlePlanEdit decides about a plan whose text is not the frozen one's.
func (r *Runner) handlePlanEdit(ctx context.Context, now *planfile.File) (planInspection, error) {
	if r.tools.wrote(r.planPath()) {
		return planInspection{changed: true}, nil
	}
	maybeAgent := r.mayAgentHaveEditedPlan()
	switch {
	case r.attended() && r.isUnappliedEdit(now):
		return planInspection{unappliedEdit: r.unappliedEditPath(now.Text())}, nil // it has been told
	case r.attended() && !maybeAgent:
	case onlyAddsTasks(r.plan.Plan(), now.Plan()):
		return r.adoptAddedTasks(now, maybeAgent)
	case maybeAgent || isRenumbered(r.plan.Plan(), now.Plan()):
		aside, err := r.saveUnappliedEdit(ctx, now.Text(), now.Bytes())
		if err != nil || r.attended() {
			return planInspection{unappliedEdit: aside}, err
		}
		return planInspection{unappliedEdit: aside}, r.restorePlan()
	}
	return planInspection{changed: true}, nil
}

// unappliedEditPath is where an edit of the plan is kept that is not applied.
func (r *Runner) unappliedEditPath(text []byte) string {
	sum := sha256.Sum256(text)
	return filepath.Join(r.Loop.Dir, "plan.edited-"+hex.EncodeToString(sum[:4])+filepath.Ext(r.Spec.Plan))
}

// isUnappliedEdit reports whether an edit is kept already, its boxes aside.
func (r *Runner) isUnappliedEdit(now *planfile.File) bool {
	_, err := os.Stat(r.unappliedEditPath(now.Text()))
	return err == nil
}

// adoptAddedTasks adopts a plan with more tasks. Boxes that were ticked beside a command are
// nobody's word.
func (r *Runner) adoptAddedTasks(now *planfile.File, maybeAgent bool) (planInspection, error) {
	ticked := tickedSince(r.plan, now)
	if !maybeAgent {
		return planInspection{tickedByUser: ticked}, r.savePlan(now)
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

// handleUnreadablePlan decides about a plan that is none any more.
func (r *Runner) handleUnreadablePlan(ctx context.Context) (planInspection, error) {
	if r.attended() || r.tools.wrote(r.planPath()) {
		return planInspection{changed: true}, nil
	}
	data, err := planfile.Read(r.planPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.enqueueNote(ctx, loop.Warning, r.Spec.Plan+" was gone: put back")
		return planInspection{}, r.restorePlan()
	case err != nil: // no regular file
		return planInspection{changed: true}, nil //nolint:nilerr // that is what it found
	}
	aside, err := r.saveUnappliedEdit(ctx, data, data)
	if err != nil {
		return planInspection{}, err
	}
	return planInspection{unappliedEdit: aside}, r.restorePlan()
}

// saveUnappliedEdit keeps a version of the plan with this text that is not applied, and tells
// where.
func (r *Runner) saveUnappliedEdit(ctx context.Context, text, data []byte) (string, error) {
	path := r.unappliedEditPath(text)
	// Of an edit that is kept already, the first plan counts: what came since is not lost.
	if _, err := os.Stat(planfile.BeforePath(path)); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.Write(planfile.BeforePath(path), r.plan.Bytes(), 0o600); err != nil {
			return "", fmt.Errorf("keep the plan before the edit: %w", err)
		}
	}
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return "", fmt.Errorf("keep the edited plan: %w", err)
	}
	how := "while a command of the agent's ran, so it is not known by whom"
	if !r.mayAgentHaveEditedPlan() {
		how = "so that it cannot be followed (its tasks have other numbers, or it is no plan any more)"
	}
	r.enqueueNote(ctx, loop.Warning, fmt.Sprintf("%s was edited %s: not applied, and kept in %s; pawl plan accept %s applies it", r.Spec.Plan, how, path, r.Loop.ID))
	return path, nil
}

// checkPlanBeforeTick looks for an edit that was made since the last look, before the plan
// is written to: no turn has run since. It returns where one is kept that the ticks
// would overwrite.
func (r *Runner) checkPlanBeforeTick(ctx context.Context) (aside string, err error) {
	now, err := r.plans.Load(r.planPath())
	if err != nil || r.attended() || bytes.Equal(now.Text(), r.plan.Text()) {
		return "", nil //nolint:nilerr // the next look decides
	}
	if onlyAddsTasks(r.plan.Plan(), now.Plan()) {
		f, err := now.Untick(tickedSince(r.plan, now)...)
		if err != nil {
			return "", fmt.Errorf("take marks out of the plan: %w", err)
		}
		return "", r.savePlan(f)
	}
	if !r.mayAgentHaveEditedPlan() {
		return "", nil
	}
	return r.saveUnappliedEdit(ctx, now.Text(), now.Bytes())
}

// addedTasks are the tasks that were added to the plan when all others were done.
// Another edit stays: nothing writes to the plan any more.
func (r *Runner) addedTasks(m memory.ActionContext) ([]loop.Task, error) {
	if r.Spec.Plan == "" || r.attended() {
		return nil, nil
	}
	now, err := r.plans.Load(r.planPath())
	if err == nil && onlyAddsTasks(r.plan.Plan(), now.Plan()) {
		if err := r.savePlan(now); err != nil {
			return nil, err
		}
	}
	return r.newTasks(m.Tasks), nil
}

// adoptUserEdit takes the plan as the user left it while nothing of the agent's was at work: the loop was
// paused, or had ended. One that they removed is put back, for it says what is left to do.
func (r *Runner) adoptUserEdit(while string) error {
	if r.Spec.Plan == "" || r.attended() && r.mem.State.Phase != loop.Paused {
		return nil
	}
	if r.attended() { // there the agent may be at work in a pause
		if err := r.readNewCalls(r.mem.ActionContext()); err != nil || r.mayAgentHaveEditedPlan() {
			return err
		}
	}
	if _, err := os.Stat(r.planPath()); errors.Is(err, fs.ErrNotExist) && r.mem.State.Phase == loop.Ended {
		r.note(loop.Warning, r.Spec.Plan+" was removed "+while+": it is put back")
		return r.restorePlan()
	}
	now, err := r.plans.Load(r.planPath())
	if err != nil || bytes.Equal(now.Text(), r.plan.Text()) {
		return nil //nolint:nilerr // the next look decides
	}
	if isRenumbered(r.plan.Plan(), now.Plan()) {
		return nil
	}
	f, err := now.Untick(tickedSince(r.plan, now)...) // what the boxes say, the next look finds
	if err != nil {
		return fmt.Errorf("take marks out of the plan: %w", err)
	}
	r.note(loop.Info, r.Spec.Plan+" was edited "+while+": it counts")
	return r.savePlan(f)
}

// newTasks are tasks of the plan that the loop does not have yet, or by another title.
func (r *Runner) newTasks(have loop.Tasks) []loop.Task {
	if r.plan == nil || len(r.Spec.OnlyTasks) > 0 {
		return nil
	}
	titles := make(map[string]string, len(have))
	for i := range have {
		titles[have[i].ID] = have[i].Title
	}
	var added []loop.Task
	for _, t := range r.plan.Plan().Tasks {
		task := r.loopTask(t)
		if title, known := titles[t.ID]; known && title == task.Title || !known && t.Optional && r.Spec.SkipOptional {
			continue
		}
		added = append(added, task)
	}
	return added
}

// loopTask is a task that comes into the loop while it runs.
func (r *Runner) loopTask(t plan.Task) loop.Task {
	task := loop.Task{
		ID: t.ID, Title: plan.OneLine(t.Title, 100), Priority: t.Priority, Optional: t.Optional, DependsOn: t.DependsOn, Wanted: r.Spec.RequiredEvidence, Status: loop.Open,
	}
	if t.Done {
		task.Status, task.DoneEarlier = loop.Done, true
	}
	return task
}

// tickedSince are the tasks that are done in the one version and not in the other.
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

// onlyAddsTasks reports whether a plan is another one with more tasks, which bring no
// settings of their own.
func onlyAddsTasks(was, now plan.Plan) bool {
	if len(now.Tasks) <= len(was.Tasks) || was.Format != now.Format || was.Title != now.Title || was.Overview != now.Overview || !slices.Equal(was.Gates, now.Gates) {
		return false
	}
	had, has := was.Index(), now.Index()
	for _, old := range was.Tasks {
		if i, ok := has[old.ID]; !ok || !sameTask(old, now.Tasks[i]) {
			return false
		}
	}
	return !slices.ContainsFunc(now.Tasks, func(t plan.Task) bool {
		_, known := had[t.ID]
		return !known && (t.Evidence != "" || len(t.Scope) > 0 || t.AllowTestChanges)
	})
}

// sameTask compares two tasks but for their marks and where they stand.
func sameTask(a, b plan.Task) bool {
	a.Done, a.Line, b.Done, b.Line = false, 0, false, 0
	return reflect.DeepEqual(a, b)
}

// isRenumbered reports whether a task has another id: in a plan without ids, a task
// that is put in before others is done under their number.
func isRenumbered(was, now plan.Plan) bool {
	has := now.Index()
	return slices.ContainsFunc(was.Tasks, func(old plan.Task) bool {
		i, ok := has[old.ID]
		return (!ok || now.Tasks[i].Title != old.Title) && slices.ContainsFunc(now.Tasks, func(n plan.Task) bool { return n.ID != old.ID && n.Title == old.Title })
	})
}
