package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

func (w *randomWalk) randomTree() string { return fmt.Sprint("tree", w.r.IntN(1000)) }

// randomPlanEdit returns a user's edit of the plan, which may name an unknown task.
func (w *randomWalk) randomPlanEdit() loop.Event {
	kinds := []plan.EditKind{plan.Add, plan.Retitle, plan.Skip, plan.Retry, plan.Move, plan.Reopen, plan.Accept}
	e := plan.Edit{ID: w.randomTree(), Do: kinds[w.r.IntN(len(kinds))], Title: "new", File: "edited.md", Before: w.randomTask(), Task: w.randomTask()}
	return loop.Event{Payload: loop.PlanEditRequested{Edits: []plan.Edit{e}}}
}

func (w *randomWalk) randomTask() string {
	if len(w.s.Tasks) == 0 || w.oneIn(5) {
		return ""
	}
	return w.s.Tasks[w.r.IntN(len(w.s.Tasks))].ID
}

// applyPlanEdits returns the result of edits: a few tasks are added, and some edits fail.
func (w *randomWalk) applyPlanEdits(edits []plan.Edit) loop.PlanEdited {
	e := loop.PlanEdited{Edits: slices.Clone(edits)}
	for i := range e.Edits {
		switch edit := &e.Edits[i]; {
		case w.oneIn(3):
			edit.Failed = "no"
		case edit.Do == plan.Add && len(w.s.Tasks) < 8:
			edit.Task = w.randomTree()
			e.Added = append(e.Added, loop.Task{ID: edit.Task, Title: "new", Status: loop.Open})
		case edit.Do == plan.Accept && len(w.s.Tasks) > 1:
			e.Plan = slices.Clone(w.s.Tasks[1:])
		}
	}
	return e
}

// editPlan requests an edit of the plan and feeds its result.
func (sc *scenario) editPlan(e plan.Edit, when, want string, added ...loop.Task) {
	sc.t.Helper()
	e.ID = "m"
	sc.feed(loop.Event{Payload: loop.PlanEditRequested{Edits: []plan.Edit{e}}}, when)
	if sc.s.Phase == loop.Editing {
		return
	}
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, "edit")
	sc.feed(loop.Event{Payload: loop.PlanEdited{Edits: []plan.Edit{e}, Added: added}}, want)
}

func describeTasks(s loop.State) string {
	var words []string
	for _, t := range s.Tasks {
		words = append(words, t.ID+" "+string(t.Status))
	}
	return strings.Join(words, ", ")
}

// A user's edit of the plan takes effect before the next turn.
func TestPlanEditTakesEffectBeforeNextTurn(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		edit  plan.Edit
		added []loop.Task
		want  string // what is done next
		tasks string
	}{
		{"a new task", plan.Edit{Do: plan.Add, Task: "d"}, []loop.Task{{ID: "d", Status: loop.Open}}, "note; turn 2 continue no_claim", "a open, b open, c done, d open"},
		{"a new task in its place", plan.Edit{Do: plan.Add, Task: "d", Before: "b"}, []loop.Task{{ID: "d", Status: loop.Open}}, "note; turn 2 continue no_claim", "a open, d open, b open, c done"},
		{"another title", plan.Edit{Do: plan.Retitle, Task: "b", Title: "new"}, nil, "turn 2 continue no_claim", "a open, b open, c done"},
		{"a task left out", plan.Edit{Do: plan.Skip, Task: "b"}, nil, "turn 2 continue no_claim", "a open, b skipped, c done"},
		{"the task at work left out", plan.Edit{Do: plan.Skip, Task: "a"}, nil, "checkpoint", "a skipped, b open, c done"},
		{"a done task", plan.Edit{Do: plan.Skip, Task: "c"}, nil, "turn 2 continue no_claim", "a open, b open, c done"},
		{"done once more", plan.Edit{Do: plan.Reopen, Task: "c"}, nil, "turn 2 continue no_claim", "a open, b open, c open"},
		{"no second try of what is done", plan.Edit{Do: plan.Retry, Task: "c"}, nil, "turn 2 continue no_claim", "a open, b open, c done"},
		{"another order", plan.Edit{Do: plan.Move, Task: "b", Before: "a"}, nil, "turn 2 continue no_claim", "b open, a open, c done"},
		{"next", plan.Edit{Do: plan.Move, Task: "c"}, nil, "turn 2 continue no_claim", "a open, c done, b open"},
		{"one that failed", plan.Edit{Do: plan.Skip, Task: "b", Failed: "no"}, nil, "note; turn 2 continue no_claim", "a open, b open, c done"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{}, loop.Task{ID: "a", Status: loop.Open}, loop.Task{ID: "b", Status: loop.Open}, loop.Task{ID: "c", Status: loop.Done, DoneEarlier: true})
			sc.checkpointed("turn 1 fresh first")
			sc.editPlan(c.edit, "", c.want, c.added...)
			if got := describeTasks(sc.s); got != c.tasks || len(sc.s.Edits) > 0 {
				t.Errorf("%s, want %s; waiting %v", got, c.tasks, sc.s.Edits)
			}
		})
	}
}

// A task that the user skips counts against nothing, and is worked on again if the user asks for it.
func TestTaskSkippedByUserCountsAgainstNothing(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, loop.Task{ID: "a", Status: loop.Open}, loop.Task{ID: "b", Status: loop.Open})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.editPlan(plan.Edit{Do: plan.Skip, Task: "b"}, "", "turn 2 continue no_claim")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Status: gate.Pass, Green: true, Tree: "t", WorkResult: loop.WorkResult{Evidence: gate.Proven}}}}, "commit a")
	sc.feed(loop.Event{Payload: loop.Committed{Commit: "c", Tree: "t"}}, "gates final")
	again := sc.s
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Status: gate.Pass, Green: true}}}, "finish verified")
	if got := sc.s.Progress(); got != "1 of 2 tasks done, 1 left out" || sc.s.HasWorkLeft() {
		t.Errorf("%q, left %v", got, sc.s.HasWorkLeft())
	}

	// Retried while the last gates run: the loop does not end.
	sc.s = again
	sc.feed(loop.Event{Payload: loop.PlanEditRequested{Edits: []plan.Edit{{ID: "n", Do: plan.Retry, Task: "b"}}}}, "")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Status: gate.Pass, Green: true}}}, "edit")
	sc.feed(loop.Event{Payload: loop.PlanEdited{Edits: []plan.Edit{{ID: "n", Do: plan.Retry, Task: "b"}}}}, "checkpoint")
	if sc.s.Current != "b" {
		t.Errorf("at work: %q", sc.s.Current)
	}
}

// A left-out task that the agent claims is gated like any other.
func TestClaimedLeftOutTaskIsGated(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, loop.Task{ID: "a", Wanted: gate.Unproven, Status: loop.Open}, loop.Task{ID: "b", Wanted: gate.Unproven, Status: loop.Open})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.editPlan(plan.Edit{Do: plan.Skip, Task: "b"}, "", "turn 2 continue no_claim")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{Tasks: []string{"a", "b"}}}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Status: gate.Pass, Green: true, Tree: "t", WorkResult: loop.WorkResult{Evidence: gate.Proven}}}}, "commit a+b")
	sc.feed(loop.Event{Payload: loop.Committed{Commit: "c", Tree: "t"}}, "gates final")
	if b, _ := sc.s.Task("b"); b.Status != loop.Done || b.LeftOut {
		t.Errorf("%+v", b)
	}
}

// Accepting a whole plan adds its new tasks and removes missing ones.
func TestAcceptedPlanAddsAndRemovesTasks(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{}, loop.Task{ID: "a", Status: loop.Open}, loop.Task{ID: "b", Status: loop.Open}, loop.Task{ID: "c", Status: loop.Done, DoneEarlier: true})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.PlanEditRequested{Edits: []plan.Edit{{ID: "m", Do: plan.Accept}}}}, "")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, "edit")
	sc.feed(loop.Event{
		Payload: loop.PlanEdited{Edits: []plan.Edit{{ID: "m", Do: plan.Accept}}, Plan: []loop.Task{{ID: "d", Status: loop.Open}, {ID: "b", Title: "other", Status: loop.Open}}},
	}, "note; note; checkpoint")
	if got := describeTasks(sc.s); got != "d open, b open, a skipped, c done" || sc.s.Tasks[1].Title != "other" {
		t.Error(got)
	}
}

// A done task is open again if the user's plan changes it.
func TestAcceptedPlanReopensChangedTask(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{}, loop.Task{ID: "a", Status: loop.Open}, loop.Task{ID: "b", Title: "holds 1", Status: loop.Done, Commit: "c1"}, loop.Task{ID: "c", Title: "same", Status: loop.Done, Commit: "c1"})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.PlanEditRequested{Edits: []plan.Edit{{ID: "m", Do: plan.Accept}}}}, "")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, "edit")
	sc.feed(loop.Event{
		Payload: loop.PlanEdited{Edits: []plan.Edit{{ID: "m", Do: plan.Accept}}, Plan: []loop.Task{{ID: "a", Status: loop.Open}, {ID: "b", Title: "holds ELEVEN", Status: loop.Open}, {ID: "c", Title: "same", Status: loop.Open}}},
	}, "note; turn 2 continue no_claim")
	if got := describeTasks(sc.s); got != "a open, b open, c done" {
		t.Error(got)
	}
}

// The message of an edit may arrive twice: before an owner has begun, and from the inbox.
func TestQueuedPlanEditIsAppliedOnce(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	edit := []plan.Edit{{ID: "m", Do: plan.Add, Title: "new"}}
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}, QueuedEdits: edit}, "edit")
	sc.feed(loop.Event{ID: "m", Payload: loop.PlanEditRequested{Edits: edit}}, "")
	if len(sc.s.Edits) != 1 {
		t.Errorf("%v", sc.s.Edits)
	}
}

// A plan that is replaced lacks the tasks that Pawl opened itself. They stay.
func TestReplacedPlanKeepsPawlsOwnTask(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t)
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
	sc.gates(red("x"), "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "turn 2 fresh next_task")
	sc.feed(loop.Event{Payload: loop.PlanEditRequested{Edits: []plan.Edit{{ID: "m", Do: plan.Accept}}}}, "")
	sc.turn("", "edit")
	sc.feed(loop.Event{Payload: loop.PlanEdited{Edits: sc.s.Edits, Plan: []loop.Task{{ID: "a", Status: loop.Open}}}}, "turn 3 continue no_claim")
	if task, _ := sc.s.Task(loop.FinalTask); task.Status != loop.Open {
		t.Errorf("%+v", task)
	}
}
