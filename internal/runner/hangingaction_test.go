package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
)

// An action that ignores its cancellation must not block the loop: its owner gives up and leaves the
// loop to the next one.
func TestHangingActionIsAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cancelled := false
		r := &Runner{controlState: controlState{action: &runningAction{kind: "inspect", cancel: func() { cancelled = true }, done: make(chan struct{})}}}
		begin := time.Now()
		for _, want := range []time.Duration{maxCancelTime, 0} { // only the first wait is long
			err := r.act(t.Context(), []loop.Action{{Payload: loop.Finish{}}})
			if !errors.Is(err, errStuck) || !cancelled {
				t.Fatalf("error %v, cancelled %v", err, cancelled)
			}
			if took := time.Since(begin); took != want {
				t.Errorf("took %s, want %s", took, want)
			}
			begin = time.Now()
		}
		close(r.action.done)
		if err := r.action.cancelAndWait(); err != nil && !errors.Is(err, errStuck) {
			t.Error(err)
		}
	})
}

// A panic in an action is an error that names its place. It does not end the process.
func TestPanicInActionIsReportedAsError(t *testing.T) {
	t.Parallel()
	var none []string
	_, err := recoverPanics("run_gates", func(context.Context, memory.ActionContext) (loop.EventPayload, error) {
		return loop.Faulted{Error: none[2]}, nil
	})(t.Context(), memory.ActionContext{})
	if err == nil || !strings.Contains(err.Error(), "Pawl failed inside (run_gates)") || !strings.Contains(err.Error(), "at runner/hangingaction_test.go:") {
		t.Errorf("%v", err)
	}
	if failure.Hint(err) == "" {
		t.Error("it does not say what to do")
	}
	_, err = recoverPanics("run_gates", func(context.Context, memory.ActionContext) (loop.EventPayload, error) {
		return nil, errStuck
	})(t.Context(), memory.ActionContext{})
	if !errors.Is(err, errStuck) {
		t.Errorf("%v", err)
	}
}
