package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// The restored work of a task that is not worked on yet is put away, and is back when it begins. If
// the user restores it meanwhile, it is in the tree already.
func TestRestoredWorkIsSetAsideUntilItsTaskBegins(t *testing.T) {
	t.Parallel()
	restored := loop.CheckpointRestored{Work: loop.RestoredWork{Task: "b", Paths: []string{"b.txt"}}, Kept: loop.RestoredWorks{{Task: "a", Paths: []string{"a.txt"}}}}
	away := loop.PutAwayWork{Task: "b", SavedWork: loop.SavedWork{Base: "none", Work: "b", RestoredPaths: []string{"b.txt"}}}
	begun := func(t *testing.T) *scenario {
		t.Helper()
		sc := begin(t, gatedPolicy, open("a", "b")...)
		sc.feed(loop.Event{Payload: restored}, "")
		sc.feed(loop.Event{Payload: loop.Checkpointed{Tree: "t"}}, "checkpoint")
		sc.feed(loop.Event{Payload: loop.Checkpointed{Tree: "none", UnfinishedTree: "a", PutAway: []loop.PutAwayWork{away}}}, "restore")
		if got := pending[loop.Restore](sc); sc.s.Current != "a" || got.Tree != "a" || !sc.s.PutsOthersAway() {
			t.Errorf("task %s, restores %q", sc.s.Current, got.Tree)
		}
		sc.feed(loop.Event{Payload: loop.Restored{Tree: "a"}}, "gates baseline")
		if sc.s.Restores > 0 {
			t.Error("it counts as undone work")
		}
		return sc
	}
	sc := begun(t)
	sc.gates(green, "turn 1 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "reapply_work")
	if got := pending[loop.ReapplyWork](sc); got.Task != "b" || got.Work != "b" {
		t.Errorf("reapplies %+v", got)
	}

	sc = begun(t)
	sc.feed(loop.Event{Payload: restored}, "")
	if b, _ := sc.s.Task("b"); b.SavedWork != nil {
		t.Errorf("kept: %+v", b.SavedWork)
	}
}
