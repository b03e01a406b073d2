package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// The file of a turn with many long calls has a bounded size and counts the omitted calls. A call
// without an end was interrupted.
func TestTranscriptIsBounded(t *testing.T) {
	t.Parallel()
	l := &store.Loop{Dir: t.TempDir()}
	path := record.TranscriptPath(l, 1)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	tr, err := openTranscript(path, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	const n = 5000
	tr.record(agent.Event{Kind: agent.KindTool, Call: "never ends"})
	for range n - 1 {
		tr.record(agent.Event{Kind: agent.KindTool, Call: "c", Tool: "Bash", Detail: "$ yes " + strings.Repeat("x", 90)})
		tr.record(agent.Event{Kind: agent.KindToolEnd, Call: "c", Output: strings.Repeat("y\n", 9000)})
	}
	if err := tr.close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxTranscriptBytes+4096 {
		t.Fatalf("%d bytes, %v", info.Size(), err)
	}
	calls, dropped, err := record.Transcript(l, 1)
	if err != nil || len(calls)+dropped != n || dropped == 0 {
		t.Fatalf("%v, %d calls and %d dropped", err, len(calls), dropped)
	}
	if calls[0].Status != record.CallInterrupted {
		t.Errorf("a call without an end: %s", calls[0].Status)
	}
	if out := calls[1].Output; len(out) < maxOutputBytes || len(out) > maxOutputBytes+8 {
		t.Errorf("%d bytes of output", len(out))
	}
}
