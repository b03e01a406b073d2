package hook

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// With --closed, a tool call that cannot be checked is denied; without it, it is allowed.
func TestClosedModeDeniesUncheckableToolCalls(t *testing.T) {
	t.Parallel()
	const call = `{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}`
	event := func(text string) func(*fixture) io.Reader {
		return func(*fixture) io.Reader { return strings.NewReader(text) }
	}
	for name, tt := range map[string]struct {
		event  func(*fixture) io.Reader
		denied bool
	}{
		"judged":             {event(call), false},
		"without a loop":     {event(strings.Replace(call, "s1", "s9", 1)), false},
		"another agent's":    {event(strings.Replace(call, "{", `{"timestamp":"now",`, 1)), false},
		"no event":           {event(""), true},
		"no JSON":            {event(call[:40]), true},
		"without a session":  {event(`{"hook_event_name":"PreToolUse"}`), true},
		"too large":          {func(*fixture) io.Reader { return io.LimitReader(endlessSpaces{}, codec.MaxEventBytes+2) }, true},
		"a reader that dies": {func(*fixture) io.Reader { return panickingReader{} }, true},
		"binding": {func(w *fixture) io.Reader {
			write(t, place.Of(w.home).BindingPath("s1"), "{")
			return strings.NewReader(call)
		}, true},
		"rules": {func(w *fixture) io.Reader {
			write(t, filepath.Join(w.loop.Dir, "spec.json"), "{")
			return strings.NewReader(call)
		}, true},
	} {
		for _, closed := range []bool{true, false} {
			w := newFixture(t)
			w.begin(usualSpec())
			args, want := []string{"claude"}, exitOK
			if closed {
				args = append(args, "--closed")
			}
			if closed && tt.denied {
				want = 2 // the tool call does not run
			}
			out, problem, code := w.run(tt.event(w), args...)
			if code != want || len(out) > 0 || strings.Contains(string(problem), "denied: the guard could not check") != (want == 2) {
				t.Errorf("%s, closed %t: exit %d, want %d: %s%s", name, closed, code, want, out, problem)
			}
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

type endlessSpaces struct{}

func (endlessSpaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

type panickingReader struct{}

func (panickingReader) Read([]byte) (int, error) { panic("in the middle of an event") }
