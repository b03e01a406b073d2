package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/report"
)

// exploration returns a loop that ended at its limit, as it should.
func exploration() report.Loop {
	return report.Loop{
		Goal: "look for races", Status: "ended",
		State: loop.State{Policy: loop.Policy{Kind: loop.Explore}, Phase: loop.Ended, Tasks: []loop.Task{{ID: "goal", Title: "look for races", Status: loop.Open}}, End: loop.End{Outcome: loop.Finished, Reason: "after 2 iterations", EndedAt: evening.Add(time.Minute)}, Clock: loop.Clock{StartedAt: evening, Now: evening.Add(time.Minute)}, Counts: loop.Counts{Iteration: 2}, Ownership: loop.Ownership{InSession: true}, Work: loop.Work{Current: "goal"}},
		LastMessages: []report.LastMessage{
			{At: evening.Add(10 * time.Second), Text: "I began.\nI looked.\n\nTried: -race.\nRead: a.go.\nLearnt: a.go is \x1b[31mfine.\n"},
			{At: evening.Add(20 * time.Second), Text: "Next: b.go."},
		},
	}
}

// The task of an exploration is neither open nor done: the report shows the last messages of its
// turns.
func TestExplorationShowsLastMessages(t *testing.T) {
	t.Parallel()
	const want = `brisk-otter-7f3a ended FINISHED after 1m00s
  goal          look for races
  why           after 2 iterations
  took          2 iterations, 1m00s of work
  22:00:10      I looked.
                Tried: -race.
                Read: a.go.
                Learnt: a.go is fine.
  22:00:20      Next: b.go.
`
	if diff := cmp.Diff(want, text(t, exploration())); diff != "" {
		t.Error(diff)
	}
	l := exploration()
	for i := range 12 {
		l.LastMessages = append(l.LastMessages, report.LastMessage{At: evening, Text: fmt.Sprintf("turn %d", i+3)})
	}
	got := text(t, l)
	if !strings.Contains(got, "  said          2 turns before these: pawl log brisk-otter-7f3a\n") || strings.Contains(got, "b.go") || !strings.Contains(got, "turn 3\n") {
		t.Errorf("%s", got)
	}
}

// The report says what the agent could not do for any goal. An answer is not a task.
func TestNoTasksOfAnAnswer(t *testing.T) {
	t.Parallel()
	l := exploration()
	l.State.Policy.Kind, l.State.Answer = loop.Answer, "42"
	l.State.Tasks[0].Status, l.State.Tasks[0].Evidence = loop.Done, gate.EvidenceUnknown
	if got := text(t, l); strings.Contains(got, "unknown") || strings.Contains(got, "Next: b.go") || !strings.Contains(got, "\n42\n") {
		t.Errorf("%s", got)
	}
	l.State.Tasks[0].Status, l.State.Tasks[0].Why = loop.Blocked, "no network"
	if got := text(t, l); !strings.Contains(got, "  1 blocked     look for races  the agent says that it is blocked: no network\n") {
		t.Errorf("%s", got)
	}
}

func TestLastMessagesOmitTheUsersTurns(t *testing.T) {
	t.Parallel()
	got := report.LastMessages(slices.Values([]loop.Event{
		{Payload: loop.Started{}},
		{At: evening, Payload: loop.TurnEnded{Turn: loop.Turn{Text: "one"}}},
		{At: evening, Payload: loop.TurnEnded{Turn: loop.Turn{Text: "mine", ByUser: true}}},
		{At: evening, Payload: loop.TurnEnded{Turn: loop.Turn{Text: " \n"}}},
		{At: evening, Payload: loop.TurnEnded{Turn: loop.Turn{Text: "two"}}},
	}))
	if diff := cmp.Diff([]report.LastMessage{{At: evening, Text: "one"}, {At: evening, Text: "two"}}, got); diff != "" {
		t.Error(diff)
	}
}
