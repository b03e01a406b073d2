package report

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A task whose changed tests the user accepted is listed as approved.
func TestApprovedTaskInMarkdown(t *testing.T) {
	t.Parallel()
	var l Loop
	l.State.Tasks = []loop.Task{{ID: "US-001", Title: "greet", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown, TestsChanged: []string{"t/greet.sh"}, Accepted: true}}}
	out := Markdown(l)
	const want = "| approved | US-001 greet | passes only with its changes of t/greet.sh; accepted by pawl approve |  |"
	if !strings.Contains(out, want) || strings.Contains(out, "to approve") {
		t.Errorf("got %s, want %s", out, want)
	}
}
