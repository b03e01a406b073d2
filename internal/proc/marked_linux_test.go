package proc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

// AllMarked is false if a process without the marker runs a program of the same name.
func TestAllMarkedIsFalseWithoutAMarker(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	const name = "pawl-naps-for-long" // longer than what the kernel keeps
	program := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	start := func(env ...string) {
		c := exec.Command(program, "600")
		c.Env = env
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
	is := func(want bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); proc.AllMarked("the-loop", name) != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it is not %v", want)
			}
		}
	}
	is(false)
	start(proc.MarkerName + "=the-loop")
	is(true)
	start(proc.MarkerName + "=another")
	is(false)
}
