package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

var endless = loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 9}}

// both returns a loop that has done a and b.
func both(t *testing.T) *scenario {
	sc := begin(t, endless, open("a", "b")...)
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

func (sc *scenario) statuses() (words string) {
	for _, t := range sc.s.Tasks {
		words += t.ID + " " + string(t.Status) + " "
	}
	return words
}

func TestATaskWhoseWorkARestoreTookAwayIsOpenAgain(t *testing.T) {
	t.Parallel()
	sc := both(t)
	sc.gates(proven, "finish verified")
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{DoneTasks: []string{"a"}}}, "")
	if got := sc.statuses(); got != "a done b open " || sc.s.Outcome != loop.Unverified {
		t.Errorf("%s, %s: %s", got, sc.s.Outcome, sc.s.Reason)
	}
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{DoneTasks: []string{"a", "b"}}}, "") // the undo
	if got := sc.statuses(); got != "a done b done " || sc.s.Outcome != loop.Verified {
		t.Errorf("%s, %s: %s", got, sc.s.Outcome, sc.s.Reason)
	}
	sc.feed(loop.Event{Payload: loop.CheckpointRestored{}}, "")
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: endless.Limits}}, "checkpoint")
	if sc.s.Current != "a" {
		t.Errorf("continues with %s", sc.s.Current)
	}
}

// A user's action after the end is no work time of the loop.
func TestWhatAUserDoesAfterTheEndTakesNoTime(t *testing.T) {
	t.Parallel()
	sc := both(t)
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
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: endless.Limits}}, "checkpoint")
	if got := sc.s.Elapsed(); got > took+time.Minute {
		t.Errorf("reopened: %s of work, %s before", got, took)
	}
}

// A restore begins the current task again, because its tree is replaced.
func TestARestoreBeginsTheTaskAtWorkAnew(t *testing.T) {
	t.Parallel()
	judging := func() *scenario {
		sc := begin(t, endless, open("a", "b")...)
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

func TestNoTaskIsDoneWithoutItsCommit(t *testing.T) {
	t.Parallel()
	sc := both(t)
	gone := proven
	gone.LostCommits = []string{"a"}
	sc.gates(gone, "note; checkpoint")
	if got := sc.statuses(); got != "a open b done " {
		t.Error(got)
	}
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 3 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.feed(loop.Event{Payload: loop.Committed{Commit: "c2", Tree: "t2", LostTasks: []string{"b"}}}, "note; checkpoint")
}

// mayGoBack restores a checkpoint at random, with some tasks done in it.
func (w *world) mayGoBack() {
	var done []string
	for _, t := range w.s.Tasks {
		if w.coin(2) {
			done = append(done, t.ID)
		}
	}
	if w.coin(4) {
		w.feed(loop.Event{Payload: loop.CheckpointRestored{DoneTasks: done}})
	}
}

func (w *world) anOwner() loop.Owner {
	return []loop.Owner{loop.OwnerRunner, loop.OwnerSession}[w.r.IntN(2)]
}
