package loop_test

import (
	"reflect"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// checkTwice: an event that says which message or action it belongs to counts once.
func (w *world) checkTwice(s loop.State, e loop.Event) {
	if e.ID == "" && e.Of == 0 {
		return
	}
	again, acts := loop.Step(s, e)
	if len(acts) > 0 || !reflect.DeepEqual(again, s) {
		w.t.Errorf("%s of action %d counts twice: %v\nfirst  %+v\nsecond %+v", e.Kind, e.Of, acts, s, again)
	}
}

// pass lets time go by; it counts unless it is a wait for a usage limit, a
// pause, or has no owner.
func (w *world) pass(d time.Duration, counts bool) {
	w.now = w.now.Add(d)
	if counts {
		w.busy += d
	}
}
