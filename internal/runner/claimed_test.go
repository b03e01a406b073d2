package runner_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// A claim by a tool call during a turn counts when the turn ends, even if the last message claims
// nothing.
func TestClaimByToolCallCountsAtTurnEnd(t *testing.T) {
	t.Parallel()
	const works = "-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\nbye\n"
	claim := record.Message{Kind: record.MessageClaim, Tasks: []string{loop.GoalTask}, Text: "every word is there", Turn: 1}
	late := claim
	late.Turn = 2
	cases := map[string]struct {
		script string
		said   []record.Message
		want   loop.Outcome
		after  int // iterations
	}{
		"done":                   {works, []record.Message{claim}, loop.Verified, 1},
		"done, and to be merged": {works, []record.Message{{Kind: record.MessageMerge, Text: "all"}, claim}, loop.Verified, 1},
		"done, in another turn":  {works + "-- 2/reply --\nnothing\n", []record.Message{late}, loop.Iterations, 2},
		"it cannot be done":      {works, []record.Message{{Kind: record.MessageBlocked, Text: "no words", Turn: 1}}, loop.BlockedEnd, 1},
		"one message says more":  {works + "<blocked>they are wrong</blocked>\n", []record.Message{claim}, loop.BlockedEnd, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, words)
			w := &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: c.said}
			d := b.begin(c.script, []string{"have every word"}, withGate(map[string]any{"max_iterations": "2"}))
			b.loop = d.Loop
			s, err := b.drive(t.Context(), d, w)
			if err != nil {
				t.Fatal(err)
			}
			if s.Outcome != c.want || s.Iteration != c.after {
				t.Errorf("%s after %d iterations: %s", s.Outcome, s.Iteration, s.Reason)
			}
			if merge := len(c.said) > 1; merge != (s.Merge != nil) {
				t.Errorf("to be merged: %+v", s.Merge)
			}
		})
	}
}
