package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/store"
)

// An approval before anything waits for it says when something will.
func TestApproveBeforeAnythingWaits(t *testing.T) {
	t.Parallel()
	s := &loopinfo.Loop{Loop: &store.Loop{ID: "brisk-otter-7f3a"}}
	s.Spec.Policy.Approve = []loop.Approval{loop.ApproveTask, loop.ApproveEnd}
	_, err := (&app{}).approveTests(s, nil, "")
	const want = "nothing waits for your approval yet: loop brisk-otter-7f3a will ask at: each task (before its commit), the end"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if got, want := failure.Hint(err), "pawl status brisk-otter-7f3a shows when something waits for your approval"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}
