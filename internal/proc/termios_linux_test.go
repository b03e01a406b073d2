package proc_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/proc"
)

// A process outside the terminal's foreground job reads no keys, and does not change the terminal.
func TestKeysOfAnotherJob(t *testing.T) {
	t.Parallel()
	tty := terminal(t)
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	keys := proc.ReadKeys(tty)
	keys.Hold()()
	select {
	case key := <-keys.C:
		t.Errorf("key %q", key)
	case <-time.After(10 * time.Millisecond):
	}
	keys.Close()
	after, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("changed from %+v to %+v (%v)", before, after, err)
	}
}
