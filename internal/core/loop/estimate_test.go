package loop_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory/memorytest"
)

// The estimate is the median of the ended tasks for each open one, less the time of the current task.
func TestEstimateUsesMedianOfFinishedTasks(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	ended := func(took time.Duration, cost float64) loop.Task {
		return loop.Task{Status: loop.Done, Turns: 1, Took: took, CostUSD: cost}
	}
	s := loop.State{Tasks: []loop.Task{
		ended(2*time.Minute, 0.2), ended(10*time.Minute, 1),
		{Status: loop.Done, DoneEarlier: true},
		ended(3*time.Minute, 0.5),
		{ID: "4", Status: loop.Open, CostUSD: 0.25},
		{ID: "5", Status: loop.Open},
	}, Clock: loop.Clock{StartedAt: began, Now: began.Add(20 * time.Minute), Away: 4 * time.Minute}, Work: loop.Work{Current: "4", TaskElapsed: 15 * time.Minute}}
	got, ok := s.Estimate()
	want := loop.Estimate{Open: 2, Basis: 3, Median: 3 * time.Minute, MedianCost: 0.5, Left: 5 * time.Minute, LeftCost: 0.75}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(ok, diff)
	}
	s.TaskElapsed, s.Tasks[4].CostUSD = 0, 9 // longer and more expensive than any finished task
	if got, _ := s.Estimate(); got.Left != 3*time.Minute || got.LeftCost != 0.5 || got.Longer != 13*time.Minute {
		t.Errorf("%+v", got)
	}
	for name, change := range map[string]func(*loop.State){
		"nothing ended":    func(s *loop.State) { s.Tasks = s.Tasks[4:] },
		"nothing left":     func(s *loop.State) { s.Tasks = s.Tasks[:4] },
		"the loop ended":   func(s *loop.State) { s.Outcome = loop.Stuck },
		"ticked by a user": func(s *loop.State) { s.Tasks = append(s.Tasks[2:3:3], s.Tasks[4:]...) },
	} {
		c := s
		if change(&c); func() bool { _, ok := c.Estimate(); return ok }() {
			t.Error(name)
		}
	}
}

// The duration of an ended loop includes the mutation testing after its end. Work time does not.
func TestTookIncludesMutationTestingAfterTheEnd(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	s, events := loop.State{}, memorytest.Life()
	for i, e := range events {
		if e.At = start.Add(time.Duration(i) * time.Second); e.Kind() == loop.KindConcluded {
			e = loop.Event{At: e.At.Add(19 * time.Second), Payload: loop.Concluded{Tested: 19 * time.Second}}
		}
		s, _ = loop.Step(s, e)
	}
	s.Now = s.Now.Add(time.Hour)
	if work := time.Duration(len(events)-2) * time.Second; s.Took() != work+19*time.Second || s.Elapsed() != work {
		t.Errorf("took %s, of it work %s", s.Took(), s.Elapsed())
	}
}
