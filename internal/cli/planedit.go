package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/workplan"
)

// editedPlanArg is an operand that names a plan to edit.
type editedPlanArg struct {
	Plan string `arg:"" name:"PLAN" help:"the plan, or the loop that works on it; . = the newest unfinished loop here"`
}

// editedTaskArg names a plan and one of its tasks.
type editedTaskArg struct {
	editedPlanArg
	Task string `arg:"" name:"ID" help:"the task, as in pawl plan show"`
}

// taskPosition says before or after which task to work on a task.
type taskPosition struct {
	Before string `placeholder:"ID" xor:"place" help:"work on it before this task"`
	After  string `placeholder:"ID" xor:"place" help:"work on it after this task"`
}

type planAddCmd struct {
	editedPlanArg
	taskPosition
	Title []string `arg:"" name:"TITLE" help:"what is to be done"`
}

// Run adds a task.
func (c *planAddCmd) Run(a *app) error {
	return a.editPlan(c.Plan, plan.Edit{Do: plan.Add, Title: strings.Join(c.Title, " "), Before: c.Before, After: c.After})
}

type planEditCmd struct {
	editedTaskArg
	Title []string `arg:"" name:"TITLE" help:"its new title"`
}

// Run changes the title of a task.
func (c *planEditCmd) Run(a *app) error {
	return a.editPlan(c.Plan, plan.Edit{Do: plan.Retitle, Task: c.Task, Title: strings.Join(c.Title, " ")})
}

// planTaskCmd is `pawl plan skip`, `retry` or `reopen`: an edit that is named like the command.
type planTaskCmd struct{ editedTaskArg }

// Run makes the edit.
func (c *planTaskCmd) Run(a *app, k *kong.Context) error {
	return a.editPlan(c.Plan, plan.Edit{Do: plan.EditKind(k.Selected().Name), Task: c.Task})
}

type planMoveCmd struct {
	editedTaskArg
	taskPosition
}

// Run changes when a task is worked on.
func (c *planMoveCmd) Run(a *app) error {
	return a.editPlan(c.Plan, plan.Edit{Do: plan.Move, Task: c.Task, Before: c.Before, After: c.After})
}

type planAcceptCmd struct {
	requiredLoopArg
	File string `arg:"" optional:"" name:"FILE" help:"the edit, as pawl report names it; default: the last one"`
}

// Run applies an edit that the loop held back.
func (c *planAcceptCmd) Run(a *app, s *loopinfo.Loop) error {
	held := s.Memory.State.UnappliedEditFiles
	if len(held) == 0 {
		return failure.New(failure.Usage, "pawl report "+s.ID+" lists such edits", "no edit of the plan waits in loop %s", s.ID)
	}
	e := plan.Edit{Do: plan.Accept, File: held[len(held)-1]}
	if c.File != "" {
		i := slices.IndexFunc(held, func(f string) bool { return f == c.File || filepath.Base(f) == filepath.Base(c.File) })
		if i < 0 {
			return failure.New(failure.Usage, "waiting: "+strings.Join(held, ", "), "no edit %s waits in loop %s", c.File, s.ID)
		}
		e.File = held[i]
	}
	return a.editPlanOf(s, s.PlanPath(), e)
}

// editPlan edits a plan. It sends a message if a loop works on the plan, else it changes the file.
func (a *app) editPlan(word string, e plan.Edit) error {
	path := a.abs(word)
	isPath := strings.ContainsAny(word, `/\`) || filepath.Ext(word) == ".md" || filepath.Ext(word) == ".json"
	if info, err := os.Stat(path); err == nil && !info.IsDir() || isPath {
		s, err := a.loopOfPlan(path)
		if err != nil {
			return err
		}
		return a.editPlanOf(s, path, e)
	}
	s, err := a.findNewest(word, "", func(s *loopinfo.Loop) bool { return s.Spec.Plan != "" && !s.HasEnded() })
	if err != nil {
		return err
	}
	if s.Spec.Plan == "" {
		return failure.New(failure.Usage, "pawl tell "+s.ID+" sends its agent a message", "loop %s has no plan", s.ID)
	}
	return a.editPlanOf(s, s.PlanPath(), e)
}

// loopOfPlan returns the loop that works on a plan, or else the last one that did, or nil.
func (a *app) loopOfPlan(path string) (*loopinfo.Loop, error) {
	loops, err := a.store.Loops()
	if err != nil {
		return nil, err
	}
	var found *loopinfo.Loop
	for _, l := range loops {
		spec, err := record.ReadSpec(l) // pawl list warns of loops that cannot be read
		if err != nil || spec.Plan == "" || git.RealPath(spec.PlanPath(spec.Root)) != git.RealPath(path) {
			continue
		}
		s, err := a.find(l.ID)
		if err != nil {
			return nil, err
		}
		if found == nil || found.HasEnded() && (!s.HasEnded() || s.Spec.CreatedAt.After(found.Spec.CreatedAt)) {
			found = s
		}
	}
	return found, nil
}

// editPlanOf edits the plan at path. s is the loop that works on it or did, or nil. A file has no mark
// for a task that is left out, so an ended loop leaves it out when it is resumed.
func (a *app) editPlanOf(s *loopinfo.Loop, path string, e plan.Edit) error {
	if s == nil || s.HasEnded() && !(e.Do == plan.Skip && s.HasWorkLeft()) {
		return a.editPlanFile(s, path, e)
	}
	done, err := tryEdit(s, e)
	if err != nil {
		return err
	}
	if err := a.send(s, record.Message{Kind: record.MessagePlan, Edit: &e}); err != nil {
		return err
	}
	a.printf("%s: %s, from its next turn on\n%s", s.ID, done, deliveryNote(s))
	return nil
}

// editPlanFile edits the file of a plan. s is nil or a loop that has ended.
func (a *app) editPlanFile(s *loopinfo.Loop, path string, e plan.Edit) error {
	f, err := planfile.Load(path)
	if err != nil {
		return err
	}
	var out *planfile.File
	switch {
	case e.Do == plan.Skip || e.Do == plan.Retry:
		hint := "pawl run " + a.relativePath(path) + "  starts one; then run this again"
		if s != nil && s.HasWorkLeft() {
			hint = s.Memory.State.ResumeCommand(s.ID) + "  continues with the skipped tasks"
		}
		return failure.New(failure.Usage, hint, "no loop works on %s", a.relativePath(path))
	case e.Do == plan.Accept:
		if out, e.Since, err = f.MergeAccepted(e.File); err != nil {
			return err
		}
	default:
		if out, e, err = f.Edit(e, s == nil || !s.HasWorkLeft()); err != nil {
			if errors.Is(err, planfile.ErrKeepsOrder) { // it lacks ids
				err = failure.New(failure.Usage, "give the tasks ids, as in  - [ ] T1 title", "%w", err)
			}
			return err
		}
	}
	if err := planfile.Write(path, out); err != nil {
		return fmt.Errorf("write %s: %w", a.relativePath(path), err)
	}
	a.printf("%s: %s\n", a.relativePath(path), e)
	if s != nil && !s.HasWorkLeft() {
		a.printf("%s", a.reopenedTasksText(s))
	}
	return nil
}

// tryEdit checks an edit on the loop's plan, after the edits that are pending. It returns the edit as
// it would be made.
func tryEdit(s *loopinfo.Loop, e plan.Edit) (plan.Edit, error) {
	t, known := s.Memory.State.Task(e.Task)
	switch {
	case !known:
	case e.Do == plan.Reopen && t.Status != loop.Done:
		return e, failure.New(failure.Usage, "pawl plan retry is for skipped tasks", "task %s is not done", e.Task)
	case (e.Do == plan.Retry || e.Do == plan.Skip) && t.Status == loop.Done:
		return e, failure.New(failure.Usage, "pawl plan reopen works on it again", "task %s is done", e.Task)
	}
	if e.Do == plan.Accept {
		return e, nil
	}
	f, err := workplan.Frozen(s.Loop, s.Spec, s.PlanPath())
	if err != nil {
		return e, err
	}
	inbox, err := record.PendingEdits(s.Loop)
	if err != nil {
		return e, err
	}
	for _, w := range slices.Concat(s.Memory.State.Edits, inbox) {
		if next, _, err := workplan.Edited(f, w); err == nil {
			f = next
		}
	}
	_, done, err := workplan.Edited(f, e)
	return done, err
}
