package proc_test

import (
	"os"
	"slices"
	"testing"

	"github.com/pawl-dev/pawl/internal/proc"
)

func TestAncestorPIDs(t *testing.T) {
	t.Parallel()
	above := proc.AncestorPIDs()
	if !slices.Contains(above, os.Getppid()) && os.Getppid() != 1 {
		t.Errorf("%v lacks the parent, %d", above, os.Getppid())
	}
	if slices.Contains(above, os.Getpid()) || slices.Contains(above, 1) {
		t.Errorf("%v", above)
	}
	for _, pid := range above {
		if !proc.Alive(pid) {
			t.Errorf("%d is above us, and dead", pid)
		}
	}
	if proc.Alive(0) || proc.Alive(1<<30) {
		t.Error("alive, though there is no such process")
	}
}
