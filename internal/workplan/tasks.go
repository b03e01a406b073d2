package workplan

import (
	"cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// LoopTask returns the loop's task for one of the plan, which wants this evidence.
func LoopTask(t plan.Task, wanted gate.Evidence) loop.Task {
	task := loop.Task{
		ID: t.ID, Title: plan.OneLine(t.Title, 100), Priority: t.Priority, Optional: t.Optional, DependsOn: t.DependsOn,
		Wanted: wanted, Status: loop.Open,
	}
	if t.Done {
		task.Status, task.DoneEarlier = loop.Done, true
	}
	return task
}

// loopTask converts a task that is added while the loop runs, or that the loop has already: old,
// whose wanted evidence stays if the plan's was not edited.
func (p *Plan) loopTask(t plan.Task, old loop.Task) loop.Task {
	task := LoopTask(t, cmp.Or(gate.Evidence(t.Evidence), p.Spec.RequiredEvidence))
	if _, edited := p.Settings().Evidence[t.ID]; old.ID != "" && !edited {
		task.Wanted = old.Wanted
	}
	return task
}

// leavesOut reports whether the loop leaves out a task that is new in the plan.
func (p *Plan) leavesOut(t plan.Task) bool {
	return t.Optional && p.Spec.SkipOptional || len(p.Spec.OnlyTasks) > 0
}

// NewTasks returns the tasks of the plan that the loop does not have, or has with another title
// or other wanted evidence, or as removed, and those that a user removed from the plan, left out.
func (p *Plan) NewTasks(have loop.Tasks) []loop.Task {
	known := make(map[string]loop.Task, len(have))
	for _, t := range have {
		known[t.ID] = t
	}
	var added []loop.Task
	for _, t := range p.Current().Tasks {
		old, had := known[t.ID]
		task := p.loopTask(t, old)
		if len(p.Spec.OnlyTasks) > 0 || had && old.Title == task.Title && old.Wanted == task.Wanted && !old.IsRemovedFromPlan() || !had && p.leavesOut(t) {
			continue
		}
		added = append(added, task)
	}
	return append(added, p.removedTasks(have)...)
}

// removedTasks returns the loop's unfinished tasks that the plan does not have any more. They could
// not be ticked.
func (p *Plan) removedTasks(have loop.Tasks) []loop.Task {
	if p.Spec.Plan == "" {
		return nil
	}
	var removed []loop.Task
	inPlan := p.Current().Index() // a plan may have thousands
	for _, t := range have {
		if _, there := inPlan[t.ID]; !there && t.Status != loop.Done && !t.IsOwn() {
			removed = append(removed, loop.Task{ID: t.ID, Title: t.Title, Status: loop.Skipped, Why: loop.RemovedFromPlan, LeftOut: true})
		}
	}
	return removed
}

// acceptedTasks returns the tasks of an accepted plan, without those that the loop leaves out.
func (p *Plan) acceptedTasks(have loop.Tasks) []loop.Task {
	var tasks []loop.Task
	for _, t := range p.Current().Tasks {
		if old, known := have.Task(t.ID); known || !p.leavesOut(t) {
			tasks = append(tasks, p.loopTask(t, old))
		}
	}
	return tasks
}

// AddedTasks returns the tasks that were added to the plan after all others were done. Other
// edits stay, since Pawl no longer writes the plan.
func (p *Plan) AddedTasks(m memory.ActionContext) ([]loop.Task, error) {
	if p.Spec.Plan == "" || p.InSession {
		return nil, nil
	}
	now, err := p.load()
	if err == nil && now.Plan().OnlyAddsTasks(p.frozen.Plan()) {
		if err := p.saveEdit(now, m); err != nil {
			return nil, err
		}
	}
	return p.NewTasks(m.Tasks), nil
}
