package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/store"
)

// An approval before anything waits for it says when something will.
func TestApproveTooEarly(t *testing.T) {
	t.Parallel()
	s := &loopinfo.Loop{Loop: &store.Loop{ID: "brisk-otter-7f3a"}}
	s.Spec.Policy.Approve = []loop.Approval{loop.ApproveTask, loop.ApproveEnd}
	_, err := (&app{}).approveTests(s, nil, "")
	const want = "nothing waits for an approval yet: loop brisk-otter-7f3a stops for yours at: each task (before its commit), the end"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if got, want := failure.Hint(err), "pawl status brisk-otter-7f3a shows when something waits for you"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}
