package runner_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

// A daemon that a gate starts is not ended, but reported with its process id.
func TestDaemonStartedByGateIsReported(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "setsid")
	b := newBench(t, words)
	daemon := "sleep 307.25"
	s := b.runObserved(haveAll, []string{"have every word"}, withGate(map[string]any{"gates": []string{
		"sh check.sh", daemonCommand(daemon),
	}}), logObserver{t})
	m, _, err := record.Load(b.loop)
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome != loop.Verified || !endLeft(m, daemon) {
		t.Errorf("%s: %s; left %q", s.Outcome, s.Reason, m.Orphans)
	}
	if got := b.file("journal.jsonl"); !strings.Contains(got, "processes that gates started still run: ") {
		t.Error("the log does not say so")
	}
}

// The same in a user's session, whose other processes are not the loop's.
func TestDaemonStartedByGateInSessionIsReported(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "setsid")
	daemon := "sleep 309.25"
	st := beginInSession(t, words, requestWithGate(map[string]any{"gates": []string{"sh check.sh", daemonCommand(daemon)}}))
	st.editAsAgent("have.txt", "one\ntwo\n")
	s := st.endTurnWithClaim()
	m, _, err := record.Load(st.loop)
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome != loop.Verified || !endLeft(m, daemon) {
		t.Errorf("%s: %s; left %q", s.Outcome, s.Reason, m.Orphans)
	}
}

// daemonCommand returns a gate that ends once its daemon has its own process session. Before that,
// the daemon would be ended with the gate, like any of its processes.
func daemonCommand(command string) string {
	return "setsid -f sh -c 'echo ready; exec " + command + " >/dev/null' </dev/null 2>/dev/null | grep -q ready"
}

// endLeft ends the process of a command that a loop has reported, and tells whether it was reported.
// Orphans are adopted by the test process, so a loop also reports those of other tests.
func endLeft(m memory.Memory, command string) (named bool) {
	for _, process := range m.Orphans {
		pid, what, _ := strings.Cut(process, " ")
		if what != command {
			continue
		}
		named = true
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
	return named
}
