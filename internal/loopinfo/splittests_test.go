package loopinfo

import (
	"slices"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// An approval without names covers only tests; pawl.toml must be named.
func TestUnnamedApprovalKeepsToTests(t *testing.T) {
	t.Parallel()
	s := &Loop{Memory: memory.Memory{State: loop.State{Tasks: []loop.Task{{Status: loop.Done, WorkResult: loop.WorkResult{IfApproved: &loop.IfApproved{Paths: []string{"src/lib.rs"}}}}}, Requests: loop.Requests{TestRequests: []loop.TestChangeRequest{{Paths: []string{"a_test.go", "pawl.toml"}}}}}}}
	tests, others := s.SplitTests(s.Memory.State.Unapproved())
	if !slices.Equal(tests, []string{"a_test.go", "src/lib.rs"}) || !slices.Equal(others, []string{"pawl.toml"}) {
		t.Errorf("approved %v, to be named %v", tests, others)
	}
}
