package workplan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
)

// An edit by pawl plan add, edit, skip and so on arrives as a message, becomes an event, and
// waits in the state until no turn runs. Then the plan is edited, and after it the frozen copy.
// Applying an edit twice has no effect, so the next owner repeats an interrupted one.

// Edit applies the edits that the user requested.
func (p *Plan) Edit(edits []plan.Edit, m memory.ActionContext) (loop.PlanEdited, error) {
	var e loop.PlanEdited
	for _, edit := range edits {
		done, err := p.applyEdit(edit, m)
		var refused *refusedEdit
		switch {
		case errors.As(err, &refused):
			done.Failed = refused.Error()
		case err != nil:
			return e, err
		case done.Do == plan.Accept:
			e.Plan = p.acceptedTasks(m.Tasks)
		}
		if t, ok := p.Current().Task(done.Task); ok && done.Do == plan.Add && done.Failed == "" {
			e.Added = append(e.Added, p.loopTask(t, loop.Task{}))
		}
		e.Edits = append(e.Edits, done)
	}
	return e, nil
}

// refusedEdit says why an edit was not applied. Nothing has changed then.
type refusedEdit struct{ error }

func (e *refusedEdit) Unwrap() error { return e.error }

// applyEdit applies one edit to the plan in the work tree and to the frozen copy.
func (p *Plan) applyEdit(e plan.Edit, m memory.ActionContext) (plan.Edit, error) {
	if p.frozen == nil {
		return e, &refusedEdit{errors.New("the loop has no plan")}
	}
	if i := slices.IndexFunc(m.Tasks, func(t loop.Task) bool { return t.ID == e.Task }); i >= 0 && m.Tasks[i].Status == loop.Done && (e.Do == plan.Skip || e.Do == plan.Retry) {
		return e, &refusedEdit{fmt.Errorf("task %s was done before the edit could be applied; pawl plan reopen %s %[1]s works on it again", e.Task, p.Loop.ID)}
	}
	frozen, done, err := p.edited(e, m)
	if err != nil {
		return e, &refusedEdit{err}
	}
	if bytes.Equal(frozen.Bytes(), p.frozen.Bytes()) && e.Do != plan.Add {
		return done, nil
	}
	current := frozen
	switch now, err := p.load(); {
	case err != nil || bytes.Equal(now.Bytes(), p.frozen.Bytes()):
	case e.Do != plan.Accept:
		if current, _, err = now.Edit(e, false); err != nil {
			return e, &refusedEdit{fmt.Errorf("%s is being edited: %w", p.Spec.Plan, err)}
		}
	case !bytes.Equal(now.Text(), p.frozen.Text()) && !p.isUnappliedEdit(now) && !bytes.Equal(now.Text(), frozen.Text()):
		return e, &refusedEdit{fmt.Errorf("%s is being edited: pawl plan accept %s once more, when a turn has ended", p.Spec.Plan, p.Loop.ID)}
	}
	if err := planfile.WriteBelow(p.Repo.Root(), p.Spec.Plan, current); err != nil {
		return e, fmt.Errorf("edit the plan: %w", err)
	}
	return done, p.saveUserEdit(frozen)
}

// edited returns the frozen copy with an edit applied.
func (p *Plan) edited(e plan.Edit, m memory.ActionContext) (*planfile.File, plan.Edit, error) {
	if e.Do != plan.Accept {
		return Edited(p.frozen, e)
	}
	if !slices.Contains(m.UnappliedEditFiles, e.File) {
		return nil, e, fmt.Errorf("%s is not a waiting edit of this loop's plan", e.File)
	}
	accepted, since, err := p.frozen.MergeAccepted(e.File)
	if err != nil {
		return nil, e, err
	}
	if accepted.Plan().IsRenumbered(p.frozen.Plan()) {
		return nil, e, fmt.Errorf("its tasks have other numbers than the loop's; pawl stop %s, pawl plan accept %[1]s, and run the plan again", p.Loop.ID)
	}
	e.Since = since
	return accepted, e, nil
}

// Edited returns a plan that a loop works on with an edit applied. A move that its file cannot
// express changes only the loop's order.
func Edited(f *planfile.File, e plan.Edit) (*planfile.File, plan.Edit, error) {
	out, done, err := f.Edit(e, false)
	if errors.Is(err, planfile.ErrKeepsOrder) && e.Do == plan.Move {
		return f, e, nil
	}
	return out, done, err
}
