package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/term"
)

// notes collects the printed notes.
type notes []string

func (n *notes) Print(e term.Event) {
	if note, ok := e.(term.Note); ok {
		*n = append(*n, note.Text)
	}
}

func (n *notes) PrintAt(e term.Event, _ time.Time) { n.Print(e) }

func (*notes) Close() error { return nil }

// "Paused" is shown when the loop pauses, also during a wait for a usage limit.
func TestPausedIsShownWhenLoopPauses(t *testing.T) {
	t.Parallel()
	var said notes
	s := &show{out: &said}
	at := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	var st loop.State
	feed := func(e loop.Event) {
		at = at.Add(time.Minute)
		e.At = at
		var acts []loop.Action
		st, acts = loop.Step(st, e)
		s.Stepped(st, e, acts)
	}
	limit := loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.UsageLimit, Until: at.Add(5 * time.Hour)}}}
	feed(loop.Event{Payload: loop.Started{Policy: loop.Policy{Kind: loop.Change}, Tasks: []loop.Task{{ID: "a", Status: loop.Open}}}})
	feed(loop.Event{Payload: loop.Checkpointed{Tree: "base"}})
	feed(loop.Event{Payload: loop.PauseRequested{}})
	feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}})
	feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}})
	feed(loop.Event{Payload: loop.Resumed{}})
	feed(limit)
	feed(loop.Event{Payload: loop.PauseRequested{}})
	want := notes{
		"pausing after this turn; continue with pawl resume", "paused; continue with pawl resume", "resumed", "paused; continue with pawl resume",
	}
	if diff := cmp.Diff(want, slices.Clip(said)); diff != "" {
		t.Error(diff)
	}
}

// A stop is said once, also if a second message asks for it.
func TestStopIsSaidOnce(t *testing.T) {
	t.Parallel()
	var said notes
	s := &show{out: &said}
	var st loop.State
	for _, p := range []loop.EventPayload{
		loop.Started{Policy: loop.Policy{Kind: loop.Change}, Tasks: []loop.Task{{ID: "a", Status: loop.Open}}},
		loop.Checkpointed{Tree: "base"},
		loop.Cancelled{Cause: loop.ByStop},
		loop.Cancelled{Cause: loop.ByStop},
	} {
		var acts []loop.Action
		e := loop.Event{Payload: p}
		st, acts = loop.Step(st, e)
		s.Stepped(st, e, acts)
	}
	if diff := cmp.Diff(notes{"stopping after this step; the work is kept"}, slices.Clip(said)); diff != "" {
		t.Error(diff)
	}
}

// A restore offers undone work, if there is any. Work that waits for an answer is not undone.
func TestRestoreOffersOnlyUndoneWork(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		before    loop.State
		unchanged bool
	}{
		"1 parse: skipped; its unfinished work was undone (get it back: pawl restore x --task 1)":                      {loop.State{After: loop.ThenNext}, false},
		"1 parse: its work was undone (get it back: pawl restore x --task 1), for one more attempt in a fresh session": {loop.State{After: loop.ThenTurn}, false},
		"1 parse: skipped; it left no unfinished work":                                                                 {loop.State{After: loop.ThenNext}, true},
		"1 parse: one more attempt in a fresh session; no work to undo":                                                {loop.State{After: loop.ThenTurn}, true},
		"1 parse: waits for your answer; its unfinished work is saved until then":                                      {loop.State{After: loop.ThenNext, Tasks: loop.Tasks{{ID: "1", Title: "parse", SavedWork: &loop.SavedWork{}}}}, false},
	} {
		var said notes
		if c.before.Current = "1"; c.before.Tasks == nil {
			c.before.Tasks = []loop.Task{{ID: "1", Title: "parse"}}
		}
		(&show{out: &said, id: "x"}).showRestored(c.before, c.unchanged)
		if diff := cmp.Diff(notes{want}, said); diff != "" {
			t.Error(diff)
		}
	}
}
