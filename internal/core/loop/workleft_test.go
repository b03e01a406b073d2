package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A task that an earlier loop began goes first. Its baseline is the tree without that earlier work.
func TestTaskBegunByEarlierLoopGoesFirst(t *testing.T) {
	t.Parallel()
	sc := &scenario{t: t, now: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)}
	p := loop.Policy{Kind: loop.Change, Gates: true, Limits: loop.Limits{Iterations: 9}}
	sc.feed(loop.Event{Payload: loop.Started{Policy: p, Tasks: open("a", "b", "c"), FirstTask: "b"}}, "checkpoint")
	if sc.s.Current != "b" {
		t.Fatalf("begins with %q", sc.s.Current)
	}
	sc.feed(loop.Event{Payload: loop.Checkpointed{Tree: "start", UnfinishedTree: "half"}}, "gates baseline")
	if run := pending[loop.RunGates](sc); run.UnfinishedTree != "half" || sc.s.Start.Tree != "start" {
		t.Errorf("the baseline leaves %q behind, the task starts from %q", run.UnfinishedTree, sc.s.Start.Tree)
	}
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit b")
	sc.committed("checkpoint")
	if sc.s.Current != "a" {
		t.Errorf("continues with %q", sc.s.Current)
	}
	sc.checkpointed("gates baseline")
	if run := pending[loop.RunGates](sc); run.UnfinishedTree != "" {
		t.Errorf("the next baseline leaves %q behind", run.UnfinishedTree)
	}
}
