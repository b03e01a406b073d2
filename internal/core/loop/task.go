package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// TaskStatus is the status of a task.
type TaskStatus string

// The statuses.
const (
	Open      TaskStatus = "open"
	Done      TaskStatus = "done"
	Skipped   TaskStatus = "skipped"   // all attempts failed
	Blocked   TaskStatus = "blocked"   // the agent reports that it cannot continue
	Unchanged TaskStatus = "unchanged" // claimed done, but changed no files
)

// Task is a task of the plan, or the prompt of a loop without a plan.
type Task struct {
	ID          string        `json:"id"`
	Title       string        `json:"title,omitempty"`
	Priority    int           `json:"priority,omitempty"`
	Optional    bool          `json:"optional,omitempty"` // worked on after all others
	DependsOn   []string      `json:"depends_on,omitempty"`
	Wanted      gate.Evidence `json:"wanted,omitempty"` // evidence wanted; "" = proven
	Status      TaskStatus    `json:"status"`
	DoneEarlier bool          `json:"done_earlier,omitempty"` // before this loop
	Why         string        `json:"why,omitempty"`          // one line: the reason for status and evidence
	WorkResult
	StillRed   []string      `json:"still_red,omitempty"` // tests and gates that failed before and after it
	Commit     string        `json:"commit,omitempty"`
	Receipt    string        `json:"receipt,omitempty"`
	ForMessage bool          `json:"for_message,omitempty"` // Pawl opened it to deliver a user's message
	LeftOut    bool          `json:"left_out,omitempty"`    // skipped by a user: not counted
	Rejected   []string      `json:"rejected,omitempty"`    // rejected test changes, restored before the task continues
	Undone     bool          `json:"undone,omitempty"`      // its work disappeared when a user restored an earlier checkpoint
	WorkKept   bool          `json:"work_kept,omitempty"`   // its work was undone and is kept in a checkpoint
	SavedWork  *SavedWork    `json:"saved_work,omitempty"`  // its work, put away while it waits for an answer; nil while it is in the tree
	Turns      int           `json:"turns,omitempty"`       // a retried turn counts once, like its iteration
	LastTurn   int           `json:"last_turn,omitempty"`   // iteration of its last turn
	Took       time.Duration `json:"took,omitempty"`        // work time, without waits that do not count for limits
	CostUSD    float64       `json:"cost_usd,omitempty"`    // of its turns and reviews
}

// Restorable reports whether the task ended with undone work that can be restored.
func (t Task) Restorable() bool { return t.WorkKept && (t.Status == Skipped || t.Status == Blocked) }

// GoalTask is the ID of the only task of a loop without a plan.
const GoalTask = "goal"

// FinalTask is the ID of the task that Pawl opens when all others are done and a gate fails.
const FinalTask = "final-gates"

// tasks returns tasks that this step may change. It copies them on first use, because most steps
// change none and a plan may have thousands.
func (m *machine) tasks() Tasks {
	if !m.owned {
		m.s.Tasks, m.owned = slices.Clone(m.s.Tasks), true
	}
	return m.s.Tasks
}

// updateTask changes the task with that ID. A left-out task that gets another status counts again.
func (m *machine) updateTask(id string, change func(*Task)) {
	i := slices.IndexFunc(m.s.Tasks, func(t Task) bool { return t.ID == id })
	if i >= 0 {
		t := &m.tasks()[i]
		change(t)
		t.LeftOut = t.LeftOut && t.Status == Skipped
	}
}

// meets reports whether e is at least the wanted evidence.
func (t Task) meets(e gate.Evidence) bool {
	wanted := t.Wanted
	if wanted == "" {
		wanted = gate.Proven
	}
	return e.Satisfies(wanted)
}

// Tasks are the tasks of a loop, in the plan's order.
type Tasks []Task

// Task returns the task with that ID.
func (ts Tasks) Task(id string) (Task, bool) {
	if i := slices.IndexFunc(ts, func(t Task) bool { return t.ID == id }); i >= 0 {
		return ts[i], true
	}
	return Task{}, false
}

// IDs returns the IDs of the tasks that are chosen.
func (ts Tasks) IDs(chosen func(Task) bool) (ids []string) {
	for _, t := range ts {
		if chosen(t) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// Count returns how many tasks have that status.
func (ts Tasks) Count(status TaskStatus) int {
	return len(ts.IDs(func(t Task) bool { return t.Status == status }))
}

// Wanted returns the evidence that a claim of these tasks needs: proven if any of them does.
func (ts Tasks) Wanted(ids []string) gate.Evidence {
	for _, id := range ids {
		if t, known := ts.Task(id); !known || t.Wanted != gate.Unproven {
			return gate.Proven
		}
	}
	if len(ids) == 0 {
		return gate.Proven
	}
	return gate.Unproven
}

// ToRestore returns the files to restore before tasks with rejected test changes continue.
func (ts Tasks) ToRestore() (paths []string) {
	for _, t := range ts {
		if t.Status == Open {
			paths = append(paths, t.Rejected...)
		}
	}
	return paths
}

// next begins the next task, or ends the loop if none is left. That check comes before any limit: a
// job finished on the last iteration is verified.
func (m *machine) next() {
	if m.stopped() {
		return
	}
	m.s.TreeReplaced = false
	if m.startPlanEdit(ThenNext) {
		return
	}
	m.expireQuestions()
	m.s.Questions = exclude(m.s.Questions, func(q Question) bool { return q.Approve != "" }) // their work is gone
	first := m.s.Current == ""
	id, ok := m.pick()
	asked := m.s.Unanswered()
	if !ok && len(asked) == 0 && m.openForMessage() {
		id, ok = m.pick()
	}
	if !ok && len(asked) == 0 {
		m.nothingLeft()
		return
	}
	if o := m.limit(); o != "" {
		m.s.Gates.TurnSince = false
		m.limitReached(o)
		return
	}
	if m.s.Pause {
		m.hold(ThenNext)
		return
	}
	if first && !m.s.PlanApproved && m.askApproval(ApprovePlan, "") {
		return
	}
	if !ok { // all that is left waits for an answer
		m.waitForAnswer(slices.MinFunc(asked, func(a, b Question) int { return a.Until.Compare(b.Until) }), ThenNext)
		return
	}
	m.beginTask(id)
}

// beginTask makes a task the current one, and begins with a checkpoint of the tree.
func (m *machine) beginTask(id string) {
	first := m.s.Current == ""
	m.s.PreviousTask, m.s.Current, m.s.TaskElapsed = m.s.Current, id, m.s.Elapsed()
	m.s.Ladder, m.s.Failing, m.s.Claim = Ladder{}, nil, nil
	m.s.Gates.TurnSince, m.s.Next.Retry = false, false
	m.s.Next.Situation = NextTask
	m.deliverAnswer(id)
	if first {
		m.s.Next.Situation = FirstTurn
	}
	if perTask := m.s.Policy.Session == PerTask || m.s.Policy.Session == ""; perTask && !(first && m.s.InSession) {
		m.s.Next.Fresh = true
	}
	m.restoreRejected(id)
	m.s.After = ThenBaseline
	m.await(Checkpointing, Checkpoint{Task: id, Subject: "before task " + id})
}

// pick chooses the next task with core/plan. A task with unfinished work in the tree, of an earlier
// loop or restored by the user, goes first, because that work would go into the next commit.
func (m *machine) pick() (string, bool) {
	first := m.s.RestoredTasks()
	if t, ok := m.s.Task(m.s.FirstTask); ok && len(first) == 0 && m.s.Current == "" {
		first = []Task{t}
	}
	for _, t := range first {
		if t.Status == Open {
			return t.ID, true
		}
	}
	p := plan.Plan{Tasks: make([]plan.Task, len(m.s.Tasks))}
	open := make(map[string]bool, len(m.s.Tasks))
	for i, t := range m.s.Tasks {
		p.Tasks[i] = plan.Task{ID: t.ID, Done: t.Status == Done, Optional: t.Optional, Priority: t.Priority, DependsOn: t.DependsOn}
		open[t.ID] = t.Status == Open
	}
	t, ok := p.Next(func(id string) bool {
		_, asks := m.s.question(id)
		return !open[id] || asks
	})
	return t.ID, ok
}

// nothingLeft runs all gates on the final tree.
func (m *machine) nothingLeft() {
	if m.s.Policy.Gates && m.s.Policy.Kind != Answer && slices.ContainsFunc(m.s.Tasks, func(t Task) bool { return t.Status == Done && !t.DoneEarlier }) {
		m.s.Claim = nil
		m.runGates(ForFinal)
		return
	}
	m.endByTasks()
}

func (m *machine) finalGates(g Gates) {
	if g.Status == gate.Unknown && m.rerun(g) {
		return
	}
	m.s.Trouble.UnknownResults = 0
	m.recordGates(g)
	m.addTasks(g.Added)
	if lost := m.commitsLost(g.LostCommits); lost || m.somethingOpen(g.Added) || len(m.s.Edits) > 0 || m.openForMessage() {
		m.next()
		return
	}
	m.s.Gates.Green = m.s.Gates.Green && g.Status == gate.Pass
	if !m.s.Gates.Green {
		m.s.Failing = &Failing{Reason: g.Reason, Tests: g.Failing, FirstError: g.FirstError}
	}
	if m.startedDone() {
		m.endDonePlanByGates(g)
		return
	}
	_, opened := m.s.Task(FinalTask)
	left := slices.ContainsFunc(m.s.Tasks, func(t Task) bool { return t.Status != Done && !t.LeftOut })
	if m.s.Gates.Green || opened || left || g.Status == gate.Unknown {
		m.endByTasks()
		return
	}
	if red := m.redUnrelatedToTasks(g); len(red) > 0 {
		m.finish(Unverified, "failed before this loop started and still fails: "+plan.Few(red, 4), stillRedHint)
		return
	}
	m.finalTask(makeGatesPass)
	m.remember(fmt.Sprintf("all tasks are done, but a gate fails: %s", g.Reason))
	m.next()
}
