//go:build unix

package codec_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
)

// The agent can replace the transcript of its session by a pipe, for which a hook would wait without
// end.
func TestTranscriptThatIsAPipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "transcript.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	e := codec.Event{Transcript: pipe}
	if at := e.TranscriptStart(); !at.IsZero() {
		t.Error(at)
	}
	if text := e.Answer(); text != "" {
		t.Error(text)
	}
}
