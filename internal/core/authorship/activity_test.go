package authorship

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// at is so many seconds after some time.
func at(seconds int) time.Time { return time.Unix(int64(1000+seconds), 0) }

func TestWhenTheAgentIsAtWork(t *testing.T) {
	t.Parallel()
	call := func(a *Activity, from int) { a.CallBegan(); a.BeginWriting(at(from)) }
	cases := map[string]struct {
		turn func(a *Activity, keep func(Span))
		want [][2]int // seconds
	}{
		"one call after another": {func(a *Activity, keep func(Span)) {
			call(a, 1)
			keep(a.CallEnded(at(2)))
			call(a, 5)
			keep(a.CallEnded(at(6)))
			keep(a.TurnEnded(at(9), false, false))
		}, [][2]int{{1, 2}, {5, 6}}},
		"side by side": {func(a *Activity, keep func(Span)) {
			call(a, 1)
			call(a, 2)
			keep(a.CallEnded(at(3)))
			keep(a.CallEnded(at(7)))
			keep(a.TurnEnded(at(9), false, false))
		}, [][2]int{{1, 7}}},
		"one that was cut off": {func(a *Activity, keep func(Span)) {
			call(a, 1)
			keep(a.TurnEnded(at(9), false, true))
			keep(a.SessionEnded(at(12)))
		}, [][2]int{{1, 9}, {1, 12}}},
		"calls that only read": {func(a *Activity, keep func(Span)) {
			a.CallBegan()
			keep(a.CallEnded(at(2)))
			keep(a.TurnEnded(at(9), false, false))
		}, nil},
		"one whose end nobody told": {func(a *Activity, keep func(Span)) {
			call(a, 1)
			keep(a.TurnEnded(at(9), false, false))
		}, [][2]int{{1, 9}}},
		"one that left a process": {func(a *Activity, keep func(Span)) {
			call(a, 1)
			keep(a.CallEnded(at(2)))
			keep(a.TurnEnded(at(9), true, false))
		}, [][2]int{{1, 2}, {1, 9}}},
		"one whose background work ended in the turn": {func(a *Activity, keep func(Span)) {
			call(a, 1)
			keep(a.CallEnded(at(2)))
			keep(a.TurnEnded(at(9), true, false))
		}, [][2]int{{1, 2}, {1, 9}}},
		"background work that continues": {func(a *Activity, keep func(Span)) {
			call(a, 1)
			keep(a.CallEnded(at(2)))
			keep(a.TurnEnded(at(9), true, true))
			keep(a.TurnEnded(at(15), false, false))
			keep(a.SessionEnded(at(20)))
		}, [][2]int{{1, 2}, {1, 9}, {1, 15}, {1, 20}}},
	}
	for name, c := range cases {
		var a Activity
		var got [][2]int
		c.turn(&a, func(span Span) {
			if !span.IsZero() {
				got = append(got, [2]int{int(span.From.Unix()) - 1000, int(span.Until.Unix()) - 1000})
			}
		})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: spans (-want +got):\n%s", name, diff)
		}
	}
}
