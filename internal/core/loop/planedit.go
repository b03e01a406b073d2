package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// maxUnappliedEditFiles bounds UnappliedEditFiles.
const maxUnappliedEditFiles = 20

// RemovedFromPlan is why a task is left out that a user removed from the plan.
const RemovedFromPlan = "a user removed it from the plan"

// IsRemovedFromPlan reports whether a user removed the task from the plan.
func (t Task) IsRemovedFromPlan() bool { return t.LeftOut && t.Why == RemovedFromPlan }

// leaveOut skips a task that a user removed from the plan.
func (m *machine) leaveOut(removed Task) {
	known, ok := m.s.Task(removed.ID)
	if !ok || known.Status == Done || known.IsRemovedFromPlan() {
		return
	}
	m.updateTask(removed.ID, func(t *Task) { t.Status, t.Why, t.LeftOut = Skipped, removed.Why, true })
	m.note(Info, fmt.Sprintf("task %s (%s) was removed from the plan: left out", known.ID, known.Title))
}

// addTasks adds tasks that are new in the plan, updates changed titles and wanted evidence, and
// leaves out removed tasks.
func (m *machine) addTasks(tasks []Task) {
	for _, t := range tasks {
		if t.LeftOut {
			m.leaveOut(t)
			continue
		}
		if known, ok := m.s.Task(t.ID); ok {
			if known.Title != t.Title {
				m.updateTask(t.ID, func(known *Task) { known.Title = t.Title })
				m.note(Info, fmt.Sprintf("task %s (%s) has another title in the plan now: %s", t.ID, known.Title, t.Title))
			}
			if known.Wanted != t.Wanted {
				m.updateTask(t.ID, func(known *Task) { known.Wanted = t.Wanted })
			}
			if known.IsRemovedFromPlan() {
				m.updateTask(t.ID, func(known *Task) { known.Status, known.Why = Open, "" })
				m.note(Info, fmt.Sprintf("task %s (%s) is in the plan again: open", t.ID, t.Title))
			}
			continue
		}
		m.s.Tasks = append(m.tasks(), t)
		m.note(Info, fmt.Sprintf("task %s (%s) was added to the plan and is now part of the loop", t.ID, t.Title))
	}
}

// tickedByUser marks tasks as done that a user ticked.
func (m *machine) tickedByUser(ids []string) {
	for _, id := range ids {
		m.updateTask(id, func(t *Task) { t.Status, t.DoneEarlier, t.Why = Done, true, "ticked by a user" })
	}
}

// somethingOpen reports whether one of these tasks is open.
func (m *machine) somethingOpen(tasks []Task) bool {
	return slices.ContainsFunc(tasks, func(a Task) bool {
		t, _ := m.s.Task(a.ID)
		return t.Status == Open
	})
}

// recordUnapplied remembers the file that holds a plan edit which was not applied.
func (m *machine) recordUnapplied(file string) {
	if file != "" && !slices.Contains(m.s.UnappliedEditFiles, file) {
		m.s.UnappliedEditFiles = lastOf(append(slices.Clip(m.s.UnappliedEditFiles), file), maxUnappliedEditFiles)
	}
}

const (
	maxEdits      = 100 // queued plan edits
	skippedByUser = "skipped by a user"
)

// queueInboxEdits queues edits that waited in the inbox when an owner began. The inbox delivers them
// again, so their IDs are remembered.
func (m *machine) queueInboxEdits(edits []plan.Edit) {
	for _, edit := range edits {
		if !slices.Contains(m.s.ReceivedIDs, edit.ID) {
			m.s.ReceivedIDs = lastOf(append(slices.Clip(m.s.ReceivedIDs), edit.ID), maxReceivedIDs)
			m.queuePlanEdits([]plan.Edit{edit})
		}
	}
}

// queuePlanEdits queues a user's edits of the plan until the next turn.
func (m *machine) queuePlanEdits(edits []plan.Edit) {
	for _, edit := range edits {
		if len(m.s.Edits) == maxEdits {
			m.note(Warning, fmt.Sprintf("more than %d edits of the plan wait for the next turn: the last one is not applied", maxEdits))
			continue
		}
		m.s.Edits = append(slices.Clip(m.s.Edits), edit)
	}
}

// startPlanEdit applies queued edits before anything else. It reports whether there are any.
func (m *machine) startPlanEdit(then After) bool {
	if len(m.s.Edits) == 0 {
		return false
	}
	m.s.After = then
	m.await(Editing, EditPlan{Edits: m.s.Edits})
	return true
}

// warnPendingEdits warns at the end of a loop about queued edits.
func (m *machine) warnPendingEdits() {
	if n := len(m.s.Edits); n > 0 {
		m.note(Warning, fmt.Sprintf("edits of the plan not applied yet: %d; pawl resume applies them", n))
	}
}

// planEdited applies the edits of the plan to the loop's tasks. If the current task was skipped,
// its unfinished work is undone as with any skip.
func (m *machine) planEdited(p PlanEdited) {
	tried := func(wanted plan.Edit) bool {
		return slices.ContainsFunc(p.Edits, func(t plan.Edit) bool { return t.ID == wanted.ID })
	}
	m.s.Edits = slices.DeleteFunc(slices.Clone(m.s.Edits), tried)
	if len(m.s.Edits) == 0 {
		m.s.Edits = nil
	}
	m.addTasks(p.Added)
	m.planReplaced(p.Plan)
	for _, edit := range p.Edits {
		if edit.Failed != "" {
			m.note(Warning, fmt.Sprintf("the plan was not edited (%s): %s", edit.Do, edit.Failed))
			continue
		}
		m.applyEdit(edit)
	}
	if m.stopped() {
		return
	}
	current, _ := m.s.Task(m.s.Current)
	switch {
	case m.s.After != ThenTurn || m.s.TreeReplaced || current.Status == Open:
		m.follow(m.s.After)
	case current.Status == Skipped:
		m.skip(Skipped, current.Why)
	default:
		m.next()
	}
}

// applyEdit applies one edit of the plan to the loop's tasks.
func (m *machine) applyEdit(e plan.Edit) {
	change := func(t *Task) {}
	switch e.Do {
	case plan.Add, plan.Move:
		m.moveTask(e)
		return
	case plan.Retitle:
		change = func(t *Task) { t.Title = plan.OneLine(e.Title, 100) }
		if e.Task == m.s.Current {
			m.tellAgent("the user changed the task: it is now " + strconv.Quote(e.Title))
		}
	case plan.Skip:
		change = func(t *Task) {
			if t.Status != Done {
				t.Status, t.Why, t.LeftOut = Skipped, skippedByUser, t.ID != FinalTask // a red gate is not left out
			}
		}
	case plan.Retry, plan.Reopen:
		change = func(t *Task) {
			if t.Status != Done || e.Do == plan.Reopen {
				why := t.Why
				if *t = t.reopened(); len(t.Rejected) > 0 {
					t.Why = why
				}
			}
		}
		if e.Task == m.s.Current {
			m.s.Ladder = Ladder{}
		}
	case plan.Accept:
		m.s.UnappliedEditFiles = slices.DeleteFunc(slices.Clone(m.s.UnappliedEditFiles), func(file string) bool { return file == e.File })
		if len(m.s.UnappliedEditFiles) == 0 {
			m.s.UnappliedEditFiles = nil
		}
		return
	}
	m.updateTask(e.Task, change)
}

// moveTask moves a task to its new position and gives it its neighbour's priority.
func (m *machine) moveTask(e plan.Edit) {
	i := slices.IndexFunc(m.s.Tasks, func(t Task) bool { return t.ID == e.Task })
	if i < 0 || e.Do == plan.Add && e.Before+e.After == "" {
		return
	}
	t := m.s.Tasks[i]
	rest := slices.Delete(slices.Clone(m.s.Tasks), i, i+1)
	var ids []string
	for _, other := range rest {
		ids = append(ids, other.ID)
	}
	// Behind the current task, which continues first.
	open := slices.IndexFunc(rest, func(t Task) bool { return t.Status == Open && (t.ID != m.s.Current || m.s.After != ThenTurn) })
	place := e.Place(ids, open)
	if neighbour := min(place, len(rest)-1); neighbour >= 0 && e.After == "" {
		t.Priority = rest[neighbour].Priority
	} else if place > 0 {
		t.Priority = rest[place-1].Priority
	}
	m.s.Tasks = slices.Insert(rest, place, t)
}

// planReplaced applies a plan that was replaced as a whole. Open tasks missing from it are removed;
// done tasks with a new title are reopened.
func (m *machine) planReplaced(now []Task) {
	if len(now) == 0 {
		return
	}
	at := make(map[string]int, len(now))
	for i, t := range now {
		at[t.ID] = i
	}
	in := func(id string) bool { _, ok := at[id]; return ok }
	m.s.Tasks = slices.DeleteFunc(m.tasks(), func(t Task) bool {
		return !in(t.ID) && t.Status != Done && !t.IsOwn() && t.ID != m.s.Current
	})
	for _, t := range now {
		if was, _ := m.s.Task(t.ID); was.Status == Done && was.Title != t.Title {
			m.updateTask(t.ID, func(is *Task) { *is = is.reopened() })
		}
	}
	m.addTasks(now)
	for i := range m.s.Tasks {
		t := &m.s.Tasks[i]
		if i, ok := at[t.ID]; ok {
			t.Title, t.Priority, t.Optional, t.DependsOn = now[i].Title, now[i].Priority, now[i].Optional, now[i].DependsOn
		} else if t.ID == m.s.Current && t.Status == Open && !t.IsOwn() {
			t.Status, t.Why, t.LeftOut = Skipped, RemovedFromPlan, true
		}
	}
	place := func(t Task) int { // the others come last, as they were
		if i, ok := at[t.ID]; ok {
			return i
		}
		return len(now)
	}
	slices.SortStableFunc(m.s.Tasks, func(a, b Task) int { return cmp.Compare(place(a), place(b)) })
}
