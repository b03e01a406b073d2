package runner

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// An action that ignores its cancellation must not hold the loop for ever: its
// owner gives up, and leaves the loop as it stands to the next one.
func TestAnActionThatDoesNotEndIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cancelled := false
		r := &Runner{action: &underway{do: loop.Look, cancel: func() { cancelled = true }, done: make(chan struct{})}}
		begin := time.Now()
		for _, want := range []time.Duration{overtakeMost, 0} { // it is waited for once
			err := r.act(t.Context(), []loop.Action{{Do: loop.Finish}})
			if !errors.Is(err, errStuck) || !cancelled {
				t.Fatalf("error %v, cancelled %v", err, cancelled)
			}
			if took := time.Since(begin); took != want {
				t.Errorf("took %s, want %s", took, want)
			}
			begin = time.Now()
		}
		close(r.action.done)
		if err := r.action.overtake(); err != nil && !errors.Is(err, errStuck) {
			t.Error(err)
		}
	})
}
