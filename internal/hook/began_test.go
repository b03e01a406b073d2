package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/proc"
)

// On a terminal the client writes the transcript's first line at the first prompt, and the first stop
// may come before that. Then the start time of the client counts.
func TestSessionStartIsKnownBeforeTranscriptExists(t *testing.T) {
	t.Parallel()
	client := proc.StartTime(os.Getpid())
	before, after := client.Add(-time.Hour).UTC().Round(0), client.Add(time.Hour).UTC()
	tests := []struct {
		name  string
		pid   int
		first time.Time // in the transcript, zero for none
		want  time.Time
	}{
		{"no transcript yet", os.Getpid(), time.Time{}, client},
		{"a prompt typed later", os.Getpid(), after, client},
		{"resumed", os.Getpid(), before, before},
		{"a client that does not tell its process", 0, before, before},
		{"neither", 0, time.Time{}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "transcript.jsonl")
			lines := `{"type":"mode"}` + "\n"
			if !tt.first.IsZero() {
				lines += fmt.Sprintf("{\"timestamp\":%q}\n", tt.first.Format(time.RFC3339Nano))
			}
			if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
				t.Fatal(err)
			}
			h := &handler{Call: Call{Env: environment.Environment{Session: environment.Session{Client: tt.pid}}}, event: codec.Event{Transcript: path}}
			if got := h.sessionStart(); got.Sub(tt.want).Abs() > time.Second {
				t.Errorf("began %v, want %v", got, tt.want)
			}
		})
	}
}
