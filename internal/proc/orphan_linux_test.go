package proc_test

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/proc"
)

// A process does not outlive its parent, even if the parent was killed.
func TestKillWithParent(t *testing.T) {
	t.Parallel()
	s := self(t, "orphan")
	var out bytes.Buffer
	// os/exec, because a Process would clean up.
	cmd := exec.CommandContext(t.Context(), s.Argv[0])
	cmd.Env, cmd.Stdout = s.Env, &out
	if err := cmd.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the parent ended by %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatalf("no pid in %q", out.String())
	}
	mustBeGone(t, pid)
}

// A dying process shows neither environment nor tag. Its first thread is a zombie before it
// releases its port, which a gate may need.
func TestSweepSessionsWaitsForDyingProcesses(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]string{
		"child":  "leak-and-hang:session:heavy",
		"orphan": "leak-and-hang:session:leak:group:heavy", // only the tag identifies it
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out lockedBuffer
			s := self(t, mode)
			s.Env = append(s.Env, "GODEBUG=disablethp=1") // small pages are released slowly
			s.Stdout = &out
			ctx, cancel := context.WithCancel(t.Context())
			p, err := proc.Start(ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			out.waitFor(t, "listens on ")
			_, addr, _ := strings.Cut(out.String(), "listens on ")
			if n := p.SweepSessions(); n == 0 { // its parent may still be ending
				t.Error("nothing was swept")
			}
			if l, err := net.Listen("tcp", strings.TrimSpace(addr)); err != nil {
				t.Errorf("after the sweep: %v", err)
			} else {
				_ = l.Close()
			}
			cancel()
			p.Wait()
		})
	}
}
