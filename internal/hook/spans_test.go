package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// The hook records when a call begins, before the client asks for permission, and when it ends. A
// call that was denied, or that runs in the background, has no end yet.
func TestHookRecordsToolCallSpans(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.begin(usualSpec())
	says := func(event, tool, id string, input map[string]any) {
		t.Helper()
		payload, err := json.Marshal(map[string]any{
			"hook_event_name": event, "session_id": "s1", "cwd": w.root, "tool_name": tool, "tool_use_id": id, "tool_input": input,
		})
		if err != nil {
			t.Fatal(err)
		}
		var out, problem bytes.Buffer
		Run(t.Context(), Call{Args: []string{"claude"}, In: bytes.NewReader(payload), Out: &out, Err: &problem, Env: w.env, Parent: os.Getppid(), Version: "test", start: startChild})
		if problem.Len() > 0 {
			t.Fatal(problem.String())
		}
	}
	b, err := session.Open(w.env.PawlHome).Find("s1")
	if err != nil {
		t.Fatal(err)
	}
	l := store.Open(w.env.PawlHome).Loop(b.Loop)
	began := time.Now()
	spans := func() []authorship.Span {
		t.Helper()
		calls, err := record.RecordedCalls(l)
		spans, ok := authorship.SessionSpans(calls.SessionStarts, calls.SessionEnds, began, time.Now().Add(time.Hour))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return spans
	}
	bash := func(command string) map[string]any { return map[string]any{"command": command} }

	says(codec.PreToolUse, "Bash", "a", bash("sh gen.sh"))
	if got := spans(); len(got) != 1 || time.Until(got[0].Until) < time.Minute {
		t.Errorf("under way: %v", got)
	}
	time.Sleep(50 * time.Millisecond)
	says(codec.PostToolUse, "Bash", "a", bash("sh gen.sh"))
	if got := spans(); len(got) != 1 || got[0].Until.Sub(got[0].From) < 50*time.Millisecond || time.Until(got[0].Until) > 0 {
		t.Errorf("ended: %v", got)
	}
	says(codec.PreToolUse, "Read", "r", map[string]any{"file_path": "a.txt"})
	says(codec.PostToolUse, "Read", "r", map[string]any{"file_path": "a.txt"})
	if got := spans(); len(got) != 1 {
		t.Errorf("with one that only reads: %v", got)
	}
	says(codec.PreToolUse, "Bash", "b", bash("sh serve.sh &"))
	says(codec.PostToolUse, "Bash", "b", bash("sh serve.sh &"))
	if got := spans(); len(got) != 2 || time.Until(got[1].Until) < time.Minute {
		t.Errorf("with one that leaves something running: %v", got)
	}
}
