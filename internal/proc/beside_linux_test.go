package proc_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/proc"
)

// A sweep spares processes that another owner is just starting: until exec, such a process shows no
// tag. This test does not run in parallel, because any sweep ends orphans without a tag.
func TestSweepSparesStartingProcesses(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if e := proc.Run(t.Context(), proc.Spec{Argv: []string{"/bin/sh", "-c", "exit 3"}}); e.Code != 3 || e.Swept != 0 {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	all.Wait()
}

// Bubblewrap is no leftover of the command that it confines, though it may end later. Not in
// parallel, for the reason above.
func TestSweepDoesNotCountBubblewrap(t *testing.T) {
	bwrap := []string{"/bin/sh", "-c", `exec bwrap "$@"`, "sh", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "sh", "-c"}
	if e := proc.Run(t.Context(), proc.Spec{Argv: append(bwrap, "exit 0")}); !e.OK() {
		t.Skipf("nothing can be confined here: %+v", e)
	}
	for range 20 {
		if e := proc.Run(t.Context(), proc.Spec{Argv: append(bwrap, "echo x >/dev/null")}); !e.OK() || e.Swept != 0 {
			t.Errorf("%+v", e)
		}
	}
	if e := proc.Run(t.Context(), proc.Spec{Argv: append(bwrap, "sleep 1000 >/dev/null 2>&1 &")}); !e.OK() || e.Swept != 1 {
		t.Errorf("%+v, and one was left running", e)
	}
}

// The subreaper adopts a daemon that cleared its environment and left its session, and can name it.
// Not in parallel, for the reason above.
func TestOrphansNamesDaemonWithoutEnvironment(t *testing.T) {
	var out lockedBuffer
	s := self(t, "leak:naked:")
	s.Stdout, s.KeepBackground, s.Marker = &out, true, "left-by-the-loop"
	if e := proc.Run(t.Context(), s); !e.OK() {
		t.Fatalf("%+v", e)
	}
	pid, ok := out.pid()
	if !ok {
		t.Fatalf("no pid in %q", out.String())
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	named := slices.ContainsFunc(proc.Orphans(s.Marker), func(process string) bool {
		return strings.HasPrefix(process, strconv.Itoa(pid)+" ")
	})
	if !named {
		t.Errorf("%d is not among %q", pid, proc.Orphans(s.Marker))
	}
}
