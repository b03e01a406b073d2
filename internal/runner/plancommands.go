package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
)

// An edit by pawl plan add, edit, skip and so on arrives as a message, becomes an event, and
// waits in the state until no turn runs. Then the plan is edited, and after it the frozen plan.
// Applying an edit twice has no effect, so the next owner repeats an interrupted one.

// editPlan applies the edits that the user requested.
func (r *Runner) editPlan(_ context.Context, a loop.EditPlan, m memory.ActionContext) (loop.EventPayload, error) {
	var e loop.PlanEdited
	for _, edit := range a.Edits {
		done, err := r.applyEdit(edit, m)
		var refused *refusedEdit
		switch {
		case errors.As(err, &refused):
			done.Failed = refused.Error()
		case err != nil:
			return nil, err
		case done.Do == plan.Accept:
			e.Plan = r.acceptedTasks(m.Tasks)
		}
		if t, ok := r.planTask(done.Task); ok && done.Do == plan.Add && done.Failed == "" {
			e.Added = append(e.Added, r.loopTask(t, loop.Task{}))
		}
		e.Edits = append(e.Edits, done)
	}
	return e, nil
}

func (r *Runner) planTask(id string) (plan.Task, bool) {
	if r.plan == nil {
		return plan.Task{}, false
	}
	return r.plan.Plan().Task(id)
}

// refusedEdit says why an edit was not applied. Nothing has changed then.
type refusedEdit struct{ error }

func (e *refusedEdit) Unwrap() error { return e.error }

// applyEdit applies one edit to the plan in the work tree and to the frozen plan.
func (r *Runner) applyEdit(e plan.Edit, m memory.ActionContext) (plan.Edit, error) {
	if r.plan == nil {
		return e, &refusedEdit{errors.New("the loop has no plan")}
	}
	frozen, done, err := r.editedPlan(r.plan, e, m)
	if errors.Is(err, planfile.ErrKeepsOrder) && e.Do == plan.Move {
		return e, nil // the loop's order changes, the file stays
	}
	if err != nil {
		return e, &refusedEdit{err}
	}
	if bytes.Equal(frozen.Bytes(), r.plan.Bytes()) && e.Do != plan.Add {
		return done, nil
	}
	current := frozen
	switch now, err := r.plans.Load(r.planPath()); {
	case err != nil || bytes.Equal(now.Bytes(), r.plan.Bytes()):
	case e.Do != plan.Accept:
		if current, _, err = now.Edit(e, false); err != nil {
			return e, &refusedEdit{fmt.Errorf("%s is being edited: %w", r.Spec.Plan, err)}
		}
	case !bytes.Equal(now.Text(), r.plan.Text()) && !r.isUnappliedEdit(now) && !bytes.Equal(now.Text(), frozen.Text()):
		return e, &refusedEdit{fmt.Errorf("%s is being edited: pawl plan accept %s once more, when a turn has ended", r.Spec.Plan, r.Loop.ID)}
	}
	if err := planfile.Write(r.planPath(), current); err != nil {
		return e, fmt.Errorf("edit the plan: %w", err)
	}
	return done, r.saveUserPlan(frozen)
}

// editedPlan returns the plan with the edit applied.
func (r *Runner) editedPlan(f *planfile.File, e plan.Edit, m memory.ActionContext) (*planfile.File, plan.Edit, error) {
	if e.Do != plan.Accept {
		return f.Edit(e, false)
	}
	if !slices.Contains(m.UnappliedEditFiles, e.File) {
		return nil, e, fmt.Errorf("%s is not an edit of this loop's plan that waits", e.File)
	}
	accepted, since, err := f.MergeAccepted(e.File)
	if err != nil {
		return nil, e, err
	}
	if isRenumbered(f.Plan(), accepted.Plan()) {
		return nil, e, fmt.Errorf("its tasks have other numbers than the loop's; pawl stop %s, pawl plan accept %[1]s, and run the plan again", r.Loop.ID)
	}
	e.Since = since
	return accepted, e, nil
}

// acceptedTasks returns the tasks of an accepted plan, without those that the loop leaves out.
func (r *Runner) acceptedTasks(have loop.Tasks) []loop.Task {
	var tasks []loop.Task
	for _, t := range r.plan.Plan().Tasks {
		old, known := have.Task(t.ID)
		if !known && (t.Optional && r.Spec.SkipOptional || len(r.Spec.OnlyTasks) > 0) {
			continue
		}
		tasks = append(tasks, r.loopTask(t, old))
	}
	return tasks
}
