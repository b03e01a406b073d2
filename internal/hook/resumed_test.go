package hook

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// A resumed session has another client. While the loop waits for an answer, it receives replies by
// chat again.
func TestResumedSessionReceivesChatReplies(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{true, false} {
		w := newFixture(t)
		spec := usualSpec()
		spec.Notify.Answers = []string{"telegram env:CHAT from 42"}
		w.begin(spec)
		if asks {
			m := record.Message{Kind: record.MessageQuestion, Question: &loop.Question{Text: "which?"}}
			if err := (streams{out: io.Discard}).sendMessage(t.Context(), w.home, w.loop.ID, m); err != nil {
				t.Fatal(err)
			}
			w.hook([]byte(`{"hook_event_name":"Stop","session_id":"s1","prompt_id":"p1","cwd":"` + w.root + `"}`))
		}
		w.hook([]byte(`{"hook_event_name":"SessionEnd","session_id":"s1","reason":"other","cwd":"` + w.root + `"}`))
		var started []string
		code := Run(t.Context(), Call{
			Args: []string{"claude"}, In: strings.NewReader(`{"hook_event_name":"SessionStart","session_id":"s1","source":"resume","cwd":"` + w.root + `"}`),
			Out: io.Discard, Err: io.Discard, Env: w.env, Tool: os.Args[:1], Parent: os.Getppid(), Version: "test",
			start: func(cmd *exec.Cmd) (func() error, error) {
				started = append(started, strings.Join(cmd.Args[1:], " "))
				return func() error { return nil }, nil
			},
		})
		if listens := slices.Contains(started, "session notify "+w.loop.ID); listens != asks || code != exitOK {
			t.Errorf("asks %t: exit %d, started %q", asks, code, started)
		}
		if m, _, err := record.Load(w.loop); err != nil || m.Bound.Closed || m.Bound.Client == 0 {
			t.Errorf("bound to %+v, %v", m.Bound, err)
		}
	}
}
