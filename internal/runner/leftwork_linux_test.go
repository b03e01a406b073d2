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

// A daemon that a gate starts lives on, and is named with its process id.
func TestADaemonOfAGateIsNamed(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "setsid")
	b := newBench(t, words)
	daemon := "sleep 307.25"
	s := b.watched(haveAll, []string{"have every word"}, withGate(map[string]any{"gates": []string{
		"sh check.sh", startsDaemon(daemon),
	}}), teller{t})
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

// The same in a user's session, whose own processes are not the loop's.
func TestADaemonOfAGateIsNamedInASession(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "setsid")
	daemon := "sleep 309.25"
	st := sit(t, words, gated(map[string]any{"gates": []string{"sh check.sh", startsDaemon(daemon)}}))
	st.edits("have.txt", "one\ntwo\n")
	s := st.claims()
	m, _, err := record.Load(st.loop)
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome != loop.Verified || !endLeft(m, daemon) {
		t.Errorf("%s: %s; left %q", s.Outcome, s.Reason, m.Orphans)
	}
}

// startsDaemon returns a gate that ends once its daemon has a session of its own: before
// that the daemon would be ended with the gate, as any process that is still in it.
func startsDaemon(command string) string {
	return "setsid -f sh -c 'echo ready; exec " + command + " >/dev/null' </dev/null 2>/dev/null | grep -q ready"
}

// endLeft ends the process of a command that a loop has named, and reports whether it
// has. Orphans come to the process of all these tests: a loop names those of others, too.
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
