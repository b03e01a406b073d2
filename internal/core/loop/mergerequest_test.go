package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestMergeRequestIsRecordedOnly(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.MergeRequested{Summary: "half"}}, "")
	sc.feed(loop.Event{Payload: loop.MergeRequested{Summary: "all"}}, "")
	if m := sc.s.Merge; m == nil || m.Summary != "all" || m.Iteration != 1 || sc.s.Phase != loop.Turning {
		t.Errorf("%+v while %s", m, sc.s.Phase)
	}
}

func TestPartialWorkIsAddedToHistory(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Partial: "the parser stands"}}}, "inspect")
	want := loop.RecapLine{Iteration: 1, Task: "a", What: "done in part: the parser stands"}
	if h := sc.s.History; len(h) != 1 || h[0] != want {
		t.Errorf("history %+v", h)
	}
}

func TestClaimSummaryIsLastAgentLine(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	claim := &loop.Claim{Tasks: []string{"a"}, Summary: "the parser stands\nEvidence: TestParse"}
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Text: "Bye.", Claim: claim}}}, "inspect deep")
	if sc.s.LastAgentLine != "the parser stands Evidence: TestParse" && sc.s.LastAgentLine != "the parser stands" {
		t.Errorf("said %q", sc.s.LastAgentLine)
	}
}
