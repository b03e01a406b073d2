package loop_test

import (
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// checkDuplicateEvent checks that an event with the id of a message or an action counts once.
func (w *randomWalk) checkDuplicateEvent(s loop.State, e loop.Event) {
	if e.ID == "" && e.ActionID == 0 {
		return
	}
	again, acts := loop.Step(s, e)
	if len(acts) > 0 || !reflect.DeepEqual(again, s) {
		w.t.Errorf("%s of action %d counts twice: %v\nfirst  %+v\nsecond %+v", e.Kind(), e.ActionID, acts, s, again)
	}
}

// advanceClock advances the time. It counts, except during a wait for a usage limit, during a pause, and
// without an owner.
func (w *randomWalk) advanceClock(d time.Duration, counts bool) {
	w.now = w.now.Add(d)
	if counts {
		w.countedTime += d
	}
}

// step feeds an event, and sometimes checks that it did not change the given state: later states share
// unchanged tasks with it.
func (w *randomWalk) step(e loop.Event) (loop.State, []loop.Action) {
	w.events++
	if w.events%8 != 0 {
		return loop.Step(w.s, e)
	}
	const room = 4 // behind the tasks, where an append would write
	w.s.Tasks = append(slices.Clone(w.s.Tasks), make([]loop.Task, room)...)[:len(w.s.Tasks)]
	given := w.s
	given.Tasks = given.Tasks[:len(given.Tasks)+room]
	was := roundTrip(w.t, given)
	s, acts := loop.Step(w.s, e)
	if diff := cmp.Diff(was, roundTrip(w.t, given)); diff != "" {
		w.t.Errorf("%s altered the state before it (-was +is):\n%s", e.Kind(), diff)
	}
	return s, acts
}
