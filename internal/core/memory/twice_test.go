package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/memory/memorytest"
)

// Whoever reports an event again, since they do not know whether it was received, changes
// nothing: neither the state machine nor the rest.
func TestEventCountsOnce(t *testing.T) {
	t.Parallel()
	var m memory.Memory
	for i, e := range memorytest.Life() {
		e.At = time.Unix(int64(i), 0)
		if t, _ := e.Turn(); e.Kind() == loop.KindMessageArrived || e.Kind() == loop.KindStarted || t.ByUser {
			e.ID = fmt.Sprint("message-", i)
		} else {
			e.ActionID = m.State.LastAction
		}
		m.Apply(e)
		once := m
		if acts := m.Apply(e); len(acts) > 0 {
			t.Errorf("%s (%d) again leads to %v", e.Kind(), i, acts)
		}
		once.Notices = nil
		if diff := cmp.Diff(once, m); diff != "" {
			t.Errorf("%s (%d) counts twice: %s", e.Kind(), i, diff)
		}
	}
	if m.State.Outcome != loop.Verified {
		t.Errorf("ended %s", m.State.Outcome)
	}
}
