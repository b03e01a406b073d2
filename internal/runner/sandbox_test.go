package runner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
)

// The journal records the sandbox of a loop. What it refused is noted once for each host, without a
// secret that was part of a host name.
func TestSandboxIsRecordedInJournal(t *testing.T) {
	b := newBench(t, words)
	d := b.begin("-- 1/reply --\n<blocked>no way out</blocked>\n", []string{"have every word"}, withGate(nil))
	const secret = "hunter2hunter2"
	sandbox := memory.Sandbox{Level: "strict", Mechanism: "bubblewrap", Hosts: []string{"packages.example.org"}}
	d.Sandbox, d.Redact = sandbox, redact.New([]string{"API_TOKEN=" + secret})
	d.RefusedHosts = func() []string { return []string{"a.example.com", secret + ".example.com", "a.example.com"} }
	if s, err := b.drive(t.Context(), d, logObserver{t}); err != nil || s.Outcome != loop.BlockedEnd {
		t.Fatalf("%s: %v", s.Outcome, err)
	}
	m, _, err := record.Load(b.loop)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sandbox, m.Sandbox); diff != "" {
		t.Error(diff)
	}
	if len(m.RefusedHosts) != 2 || m.RefusedHosts[0] != "a.example.com" || slices.ContainsFunc(m.RefusedHosts, func(h string) bool { return strings.Contains(h, secret) }) {
		t.Errorf("refused %q", m.RefusedHosts)
	}
	if n := strings.Count(b.file("journal.jsonl"), "the sandbox blocked"); n != 2 {
		t.Errorf("%d notes", n)
	}
	if n := strings.Count(b.file("journal.jsonl"), `"type":"sandbox"`); n != 1 {
		t.Errorf("%d records of the sandbox", n)
	}
}
