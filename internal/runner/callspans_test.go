package runner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// at is so many seconds after some time.
func at(seconds int) time.Time { return time.Unix(int64(1000+seconds), 0) }

func TestWhenTheAgentIsAtWork(t *testing.T) {
	t.Parallel()
	call := func(w *callSpans, from int) { w.called(true, at(from)); w.begin(at(from)) }
	cases := map[string]struct {
		turn func(w *callSpans, keep func(record.ToolCall))
		want [][2]int // seconds
	}{
		"one call after another": {func(w *callSpans, keep func(record.ToolCall)) {
			call(w, 1)
			keep(w.called(false, at(2)))
			call(w, 5)
			keep(w.called(false, at(6)))
			keep(w.turnEnds(at(9), agent.Result{}))
		}, [][2]int{{1, 2}, {5, 6}}},
		"side by side": {func(w *callSpans, keep func(record.ToolCall)) {
			call(w, 1)
			call(w, 2)
			keep(w.called(false, at(3)))
			keep(w.called(false, at(7)))
			keep(w.turnEnds(at(9), agent.Result{}))
		}, [][2]int{{1, 7}}},
		"one that was cut off": {func(w *callSpans, keep func(record.ToolCall)) {
			call(w, 1)
			keep(w.turnEnds(at(9), agent.Result{Failure: &loop.Failure{Class: loop.TimedOut}}))
			keep(w.sessionEnds(at(12)))
		}, [][2]int{{1, 9}, {1, 12}}},
		"calls that only read": {func(w *callSpans, keep func(record.ToolCall)) {
			w.called(true, at(1))
			keep(w.called(false, at(2)))
			keep(w.turnEnds(at(9), agent.Result{}))
		}, nil},
		"one whose end nobody told": {func(w *callSpans, keep func(record.ToolCall)) {
			call(w, 1)
			keep(w.turnEnds(at(9), agent.Result{}))
		}, [][2]int{{1, 9}}},
		"one that left a process": {func(w *callSpans, keep func(record.ToolCall)) {
			call(w, 1)
			keep(w.called(false, at(2)))
			keep(w.turnEnds(at(9), agent.Result{Swept: 1}))
		}, [][2]int{{1, 2}, {1, 9}}},
		"one whose background work ended in the turn": {func(w *callSpans, keep func(record.ToolCall)) {
			call(w, 1)
			keep(w.called(false, at(2)))
			keep(w.turnEnds(at(9), agent.Result{Beside: true}))
		}, [][2]int{{1, 2}, {1, 9}}},
		"background work that goes on": {func(w *callSpans, keep func(record.ToolCall)) {
			call(w, 1)
			keep(w.called(false, at(2)))
			keep(w.turnEnds(at(9), agent.Result{Background: []string{"serve"}}))
			keep(w.turnEnds(at(15), agent.Result{}))
			keep(w.sessionEnds(at(20)))
		}, [][2]int{{1, 2}, {1, 9}, {1, 15}, {1, 20}}},
	}
	for name, c := range cases {
		var w callSpans
		var got [][2]int
		c.turn(&w, func(span record.ToolCall) {
			if !span.At.IsZero() {
				got = append(got, [2]int{int(span.At.Unix()) - 1000, int(span.Until.Unix()) - 1000})
			}
		})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: spans (-want +got):\n%s", name, diff)
		}
	}
}
