package narrate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

func TestTaskResultInWords(t *testing.T) {
	t.Parallel()
	for want, task := range map[string]loop.Task{
		"open":                         {Status: loop.Open},
		"open · 1 attempt, $0.10":      {Status: loop.Open, Turns: 1, CostUSD: 0.1},
		"done before this loop":        {Status: loop.Done, DoneEarlier: true},
		"skipped · 5 attempts, 20m00s": {Status: loop.Skipped, Turns: 5, Took: 20 * time.Minute},
		"done, proven · 2 attempts, 3m12s, $0.40 · 1a2b3c4": {
			Status:     loop.Done,
			WorkResult: loop.WorkResult{Evidence: gate.Proven},
			Turns:      2,
			Took:       192 * time.Second,
			CostUSD:    0.4,
			Commit:     "1a2b3c4d5e",
		},
	} {
		if got := Task(task); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPlanLineShowsTheResult(t *testing.T) {
	t.Parallel()
	s := loop.State{
		Tasks: []loop.Task{{ID: "1", Title: "parse", Status: loop.Open}, {ID: "2", Title: "print", Status: loop.Open}, {ID: "3", Title: "save", Status: loop.Open}, {ID: "4", Title: "send", Status: loop.Open}},
		Work:  loop.Work{Current: "1"},
		Conversation: loop.Conversation{Questions: []loop.Question{
			{Text: "UTC?", Task: "2"}, {Approve: "task", Task: "3"}, {Text: "by mail?", Task: "4", Answer: "yes"},
		}},
	}
	var got []string
	for _, task := range s.Tasks {
		got = append(got, PlanLine(s, task, true))
	}
	want := []string{"1  parse: in progress, open", "2  print: waits for your answer, open", "3  save: waits for your approval, open", "4  send: open"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	s.Tasks[0].Status, s.Tasks[0].Evidence = loop.Done, gate.Proven // the last one, while the loop waits for answers
	if got := PlanLine(s, s.Tasks[0], true); got != "1  parse: done, proven" {
		t.Error(got)
	}
}

func TestSpentAndLeft(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	s := loop.State{Tasks: []loop.Task{{ID: "1", Status: loop.Done, Turns: 1, Took: 2 * time.Minute, CostUSD: 0.4}, {ID: "2", Status: loop.Open, CostUSD: 0.1}}, Clock: loop.Clock{StartedAt: began, Now: began.Add(3 * time.Minute)}, Work: loop.Work{TaskElapsed: 2 * time.Minute, Current: "2"}, Counts: loop.Counts{Usage: loop.Usage{CostUSD: 0.5, Input: 1200}}}
	if got := Spending(s); got != "$0.50, 1.2k tokens, 3m00s" {
		t.Error(got)
	}
	if got := TimeLeft(s); got != "about 1m00s, $0.30 (1 open task; the median of 1 so far: 2m00s, $0.40)" {
		t.Error(got)
	}
	longer := s
	longer.Now = s.Now.Add(4 * time.Minute)
	if got := TimeLeft(longer); got != "longer than usual by 3m00s (1 open task; the median of 1 so far: 2m00s, $0.40)" {
		t.Error(got)
	}
	longer.Tasks = append(slices.Clone(s.Tasks), loop.Task{ID: "3", Status: loop.Open})
	if got := TimeLeft(longer); got != "about 2m00s, $0.70 after this task, which takes longer than usual by 3m00s (2 open tasks; the median of 1 so far: 2m00s, $0.40)" {
		t.Error(got)
	}
	s.InSession, s.Usage, s.Tasks[0].CostUSD = true, loop.Usage{}, 0 // what a session costs is not known
	if got := Spending(s) + "; " + TimeLeft(s); got != "3m00s; about 1m00s (1 open task; the median of 1 so far: 2m00s)" {
		t.Error(got)
	}
	s.Tasks = s.Tasks[1:]
	if got := TimeLeft(s); got != "" {
		t.Error(got)
	}
}

// A user's action on a task belongs to the history of that task, whichever is the current one.
func TestUserActionBelongsToItsTask(t *testing.T) {
	t.Parallel()
	at := loop.State{Work: loop.Work{Current: "2"}}
	tests := []struct {
		step Step
		want []string
	}{
		{Step{Before: at, Event: loop.Event{Payload: loop.TurnEnded{}}}, []string{"2"}},
		{Step{After: at, Event: loop.Event{Payload: loop.Started{}}}, []string{"2"}},
		{Step{Before: at, Event: loop.Event{Payload: loop.PlanEdited{Edits: []plan.Edit{{Do: plan.Retry, Task: "1"}}}}}, []string{"2", "1"}},
		{Step{Before: at, Event: loop.Event{Payload: loop.Answered{Task: "3"}}}, []string{"2", "3"}},
		{Step{Before: at, Event: loop.Event{Payload: loop.CheckpointRestored{DoneTasks: []string{"1"}}}}, []string{"2"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.step.Tasks()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.step.Event.Kind(), diff)
		}
	}
}
