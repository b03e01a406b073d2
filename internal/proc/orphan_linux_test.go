package proc_test

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A process does not outlive a parent that was killed, which cannot end it.
func TestAProcessDiesWithItsParent(t *testing.T) {
	t.Parallel()
	s := self(t, "orphan")
	var out bytes.Buffer
	// By os/exec: a Process would sweep up behind it.
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
