package term

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDecodeReadsWhatEncodeWrites reads back what Encode wrote for each kind of event. Decode rejects everything else.
func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 22, 15, 4, 0, time.UTC)
	full := []Event{
		LoopStarted{Loop: "brisk-otter", Source: "plan.md", Open: 3, Gates: []Gate{{Name: "test", Command: "go test ./..."}}, MaxDuration: Span(8 * time.Hour)},
		TurnActivity{Iteration: 2, Doing: "edit a.go", ContextPercent: 40, Tokens: 1200, CostUSD: 0.5},
		Note{Level: Warn, Text: "x"},
	}
	for _, e := range append(full, allEvents()...) {
		line, err := Encode(e, at)
		if err != nil {
			t.Fatal(err)
		}
		got, when, err := Decode(line)
		if err != nil || !when.Equal(at) {
			t.Errorf("%s: %v at %s", line, err, when)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
	for _, line := range []string{"", "{", `{"event":"unknown"}`, `{"event":"note","level":3}`} {
		if e, _, err := Decode([]byte(line)); err == nil {
			t.Errorf("%q is %v", line, e)
		}
	}
}
