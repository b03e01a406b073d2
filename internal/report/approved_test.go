package report

import (
	"bytes"
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
	var out bytes.Buffer
	if err := Markdown(&out, l); err != nil {
		t.Fatal(err)
	}
	const want = "| approved | US-001 greet | passes only with its changes of t/greet.sh; accepted by pawl approve |  |"
	if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "to approve") {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}
