package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

var gatedPolicy = loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 9}}

// bothTasksDone returns a loop that has done a and b.
func bothTasksDone(t *testing.T) *scenario {
	sc := begin(t, gatedPolicy, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit b")
	sc.committed("gates final")
	return sc
}

func (sc *scenario) taskStatuses() (words string) {
	for _, t := range sc.s.Tasks {
		words += t.ID + " " + string(t.Status) + " "
	}
	return words
}

func TestRestoreReopensTasksWhoseWorkItRemoved(t *testing.T) {
	t.Parallel()
	sc := bothTasksDone(t)
	sc.gates(proven, "finish verified")
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{DoneTasks: []string{"a"}}}, "")
	if got := sc.taskStatuses(); got != "a done b open " || sc.s.Outcome != loop.Unverified {
		t.Errorf("%s, %s: %s", got, sc.s.Outcome, sc.s.Reason)
	}
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{DoneTasks: []string{"a", "b"}}}, "") // the undo
	if got := sc.taskStatuses(); got != "a done b done " || sc.s.Outcome != loop.Verified {
		t.Errorf("%s, %s: %s", got, sc.s.Outcome, sc.s.Reason)
	}
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{}}, "")
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: gatedPolicy.Limits}}, "checkpoint")
	if sc.s.Current != "a" {
		t.Errorf("continues with %s", sc.s.Current)
	}
}

// A user's action after the end is no work time of the loop.
func TestUserActionsAfterEndAddNoElapsedTime(t *testing.T) {
	t.Parallel()
	sc := bothTasksDone(t)
	sc.gates(proven, "finish verified")
	sc.feed(loop.Event{Payload: loop.Concluded{}}, "")
	took := sc.s.Elapsed()
	for _, e := range []loop.Event{{Payload: loop.CheckpointRestored{DoneTasks: []string{"a"}}}, {Payload: loop.Approved{Tasks: []string{"a"}}}, {Payload: loop.Rejected{Paths: []string{"a_test.go"}}}} {
		sc.now = sc.now.Add(8 * time.Hour)
		sc.feed(e, "")
		if got := sc.s.Elapsed(); got != took {
			t.Errorf("%s: %s of work, %s before", e.Kind(), got, took)
		}
	}
	sc.now = sc.now.Add(8 * time.Hour)
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: gatedPolicy.Limits}}, "checkpoint")
	if got := sc.s.Elapsed(); got > took+time.Minute {
		t.Errorf("reopened: %s of work, %s before", got, took)
	}
}

// A restore begins the current task again, because its tree is replaced.
func TestRestoreRestartsCurrentTask(t *testing.T) {
	t.Parallel()
	judging := func() *scenario {
		sc := begin(t, gatedPolicy, open("a", "b")...)
		sc.checkpointed("gates baseline")
		sc.gates(green, "turn 1 fresh first")
		return sc
	}
	sc := judging()
	sc.turn("done", "gates claim")
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{}}, "")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "checkpoint")

	sc = judging()
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{}}, "")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "checkpoint")

	sc = judging()
	sc.turn("done", "gates claim")
	sc.gates(red("x"), "turn 2 continue gates_failed")
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{}}, "")
	sc.feed(loop.Event{Payload: loop.HandedOver{To: loop.OwnerRunner}}, "checkpoint")
}

func TestTaskIsReopenedWhenItsCommitIsLost(t *testing.T) {
	t.Parallel()
	sc := bothTasksDone(t)
	gone := proven
	gone.LostCommits = []string{"a"}
	sc.gates(gone, "note; checkpoint")
	if got := sc.taskStatuses(); got != "a open b done " {
		t.Error(got)
	}
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 3 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.feed(loop.Event{Payload: loop.Committed{Commit: "c2", Tree: "t2", LostTasks: []string{"b"}}}, "note; checkpoint")
}

// maybeRestoreCheckpoint restores a checkpoint at random, with some tasks done in it.
func (w *randomWalk) maybeRestoreCheckpoint() {
	var done []string
	for _, t := range w.s.Tasks {
		if w.oneIn(2) {
			done = append(done, t.ID)
		}
	}
	if w.oneIn(4) {
		w.feed(loop.Event{Payload: w.filled(loop.CheckpointRestored{DoneTasks: done})})
	}
}

func (w *randomWalk) randomOwner() loop.Owner {
	return []loop.Owner{loop.OwnerRunner, loop.OwnerSession}[w.r.IntN(2)]
}
