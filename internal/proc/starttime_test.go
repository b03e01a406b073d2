package proc_test

import (
	"os"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

// beganSlack is the precision of start times on all systems.
const beganSlack = 2 * time.Second

func TestStartTimeIdentifiesAProcess(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(os.Args[0]) // this binary was linked before it started
	if err != nil {
		t.Fatal(err)
	}
	if got := proc.StartTime(os.Getpid()); got.Before(info.ModTime().Add(-beganSlack)) || got.After(time.Now().Add(beganSlack)) {
		t.Errorf("this process began %v, its program is of %v, now it is %v", got, info.ModTime(), time.Now())
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if got := proc.StartTime(pid); !got.IsZero() {
			t.Errorf("process %d began %v", pid, got)
		}
	}
}
