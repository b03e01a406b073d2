package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// TaskStatus says where a task stands.
type TaskStatus string

// The states of a task.
const (
	Open      TaskStatus = "open"
	Done      TaskStatus = "done"
	Skipped   TaskStatus = "skipped"   // the ladder is exhausted
	Blocked   TaskStatus = "blocked"   // the agent says it cannot
	Unchanged TaskStatus = "unchanged" // claimed done, but changed no files
)

// Task is what the machine knows of a task of the plan, or of the one task that
// a prompt without a plan is.
type Task struct {
	ID           string        `json:"id"`
	Title        string        `json:"title,omitempty"`
	Priority     int           `json:"priority,omitempty"`
	Optional     bool          `json:"optional,omitempty"` // worked on after all others
	DependsOn    []string      `json:"depends_on,omitempty"`
	Wanted       gate.Evidence `json:"wanted,omitempty"` // evidence wanted; "" = proven
	Status       TaskStatus    `json:"status"`
	DoneEarlier  bool          `json:"done_earlier,omitempty"` // was done before this loop
	Evidence     gate.Evidence `json:"evidence,omitempty"`
	Why          string        `json:"why,omitempty"`     // one line: what told, or why not
	Flipped      []string      `json:"flipped,omitempty"` // tests or gates that turned green with it
	TestsChanged []string      `json:"tests_changed,omitempty"`
	TestsRemoved bool          `json:"tests_removed,omitempty"` // these are gone, and the work passes with them
	ChangedTests []TestChange  `json:"changed_tests,omitempty"` // old tests, where their structure shows it
	IfApproved   *IfApproved   `json:"if_approved,omitempty"`   // what it is worth if its changes of old tests are approved
	Approved     []string      `json:"approved,omitempty"`      // changed tests that a review accepts
	StillRed     []string      `json:"still_red,omitempty"`     // tests and gates that did not pass before, nor after it
	Commit       string        `json:"commit,omitempty"`
	Receipt      string        `json:"receipt,omitempty"`
	Reviewed     ReviewEnd     `json:"reviewed,omitempty"`    // how the reviews of it ended, "" without
	Findings     []string      `json:"findings,omitempty"`    // of the review that disagreed last
	Accepted     bool          `json:"accepted,omitempty"`    // a user read the work and says that it is right
	ForMessage   bool          `json:"for_message,omitempty"` // Pawl opened it to deliver a message of the user's
	LeftOut      bool          `json:"left_out,omitempty"`    // skipped by a user: not counted against the loop
	Rejected     []string      `json:"rejected,omitempty"`    // changes of tests that it was done with: put back before it is taken up again
	Undone       bool          `json:"undone,omitempty"`      // it was done until a user restored a checkpoint from before
	WorkKept     bool          `json:"work_kept,omitempty"`   // work of it was undone, and is kept in a checkpoint
	Turns        int           `json:"turns,omitempty"`       // a turn that is begun again after a failure counts once, as its iteration does
	LastTurn     int           `json:"last_turn,omitempty"`   // the iteration of the last of them
	Took         time.Duration `json:"took,omitempty"`        // of work: waits that count against no limit aside
	CostUSD      float64       `json:"cost_usd,omitempty"`    // of its turns and reviews
}

// Restorable reports whether the task ended with work that was undone and can be restored.
func (t Task) Restorable() bool { return t.WorkKept && (t.Status == Skipped || t.Status == Blocked) }

// GoalTask is the id of the only task of a loop without a plan.
const GoalTask = "goal"

// FinalTask is the id of the task that Pawl opens itself when all others are
// done and a gate is still red.
const FinalTask = "final-gates"

// tasks returns the tasks to be changed in place or appended to. They are copied when this is
// first called in a step: most steps change none of them, and a plan may have thousands.
func (m *machine) tasks() Tasks {
	if !m.owned {
		m.s.Tasks, m.owned = slices.Clone(m.s.Tasks), true
	}
	return m.s.Tasks
}

// task changes the task with that id in place. One that a user left out and that the
// agent worked on all the same counts as any.
func (m *machine) updateTask(id string, change func(*Task)) {
	i := slices.IndexFunc(m.s.Tasks, func(t Task) bool { return t.ID == id })
	if i >= 0 {
		t := &m.tasks()[i]
		change(t)
		t.LeftOut = t.LeftOut && t.Status == Skipped
	}
}

// enough tells whether e is the evidence wanted for the task, or more.
func (t Task) meets(e gate.Evidence) bool {
	wanted := t.Wanted
	if wanted == "" {
		wanted = gate.Proven
	}
	return e.Satisfies(wanted)
}

// Tasks are those of a loop, in the plan's order.
type Tasks []Task

// Task returns the task with that id.
func (ts Tasks) Task(id string) (Task, bool) {
	if i := slices.IndexFunc(ts, func(t Task) bool { return t.ID == id }); i >= 0 {
		return ts[i], true
	}
	return Task{}, false
}

// Wanted is the evidence that a claim of these tasks needs: proven where one of them does.
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

// ToRestore are the tests that are put back before the tasks whose changes of them were
// rejected are taken up again.
func (ts Tasks) ToRestore() (paths []string) {
	for _, t := range ts {
		if t.Status == Open {
			paths = append(paths, t.Rejected...)
		}
	}
	return paths
}

// next takes the next task, or ends the loop where nothing is left. Nothing
// left decides before any limit: a finished job on the last iteration is
// verified.
func (m *machine) next() {
	if m.stopped() {
		return
	}
	m.s.TreeReplaced = false
	if m.startPlanEdit(ThenNext) {
		return
	}
	m.expireQuestions()
	m.s.Questions = exclude(m.s.Questions, func(q Question) bool { return q.Approve != "" }) // of work that is there no more
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
		m.s.TurnSinceGates = false
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
	m.s.PreviousTask, m.s.Current, m.s.TaskElapsed = m.s.Current, id, m.s.Elapsed()
	m.s.Ladder, m.s.Failing, m.s.Claim = Ladder{}, nil, nil
	m.s.TurnSinceGates, m.s.Retry = false, false
	m.s.Situation = NextTask
	m.deliverAnswer(id)
	if first {
		m.s.Situation = FirstTurn
	}
	if perTask := m.s.Policy.Session == PerTask || m.s.Policy.Session == ""; perTask && !(first && m.s.Attended) {
		m.s.Fresh = true
	}
	m.restoreRejected(id)
	m.s.After = ThenBaseline
	m.await(Checkpointing, Action{Do: Checkpoint, Task: id, Text: "before task " + id})
}

// pick leaves the choice to core/plan. A task that an earlier loop had begun goes
// first: its half-done work lies in the tree, and would go into the next commit.
func (m *machine) pick() (string, bool) {
	if t, ok := m.s.Task(m.s.FirstTask); ok && t.Status == Open && m.s.Current == "" {
		return t.ID, true
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

// nothingLeft: the gates have the last word on the tree that is kept.
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
	m.s.UnknownResults = 0
	m.recordGates(g)
	m.addTasks(g.Added)
	if lost := m.commitsLost(g.LostCommits); lost || m.somethingOpen(g.Added) || len(m.s.Edits) > 0 || m.openForMessage() {
		m.next()
		return
	}
	m.s.Green = m.s.Green && g.Status == gate.Pass
	if !m.s.Green {
		m.s.Failing = &Failing{Reason: g.Reason, Tests: g.Failing, FirstError: g.FirstError}
	}
	if m.startedDone() {
		m.gatesOfDonePlan(g)
		return
	}
	_, opened := m.s.Task(FinalTask)
	left := slices.ContainsFunc(m.s.Tasks, func(t Task) bool { return t.Status != Done && !t.LeftOut })
	if m.s.Green || opened || left || g.Status == gate.Unknown {
		m.endByTasks()
		return
	}
	if red := m.redUnrelatedToTasks(g); len(red) > 0 {
		m.finish(Unverified, "red before this loop began, and still: "+plan.Few(red, 4), stillRedHint)
		return
	}
	m.finalTask(makeGatesPass)
	m.remember(fmt.Sprintf("all tasks are done, but a gate is red: %s", g.Reason))
	m.next()
}
