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

// With --closed no tool call runs that could not be judged; without it all do.
func TestClosed(t *testing.T) {
	t.Parallel()
	const call = `{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}`
	event := func(text string) func(*world) io.Reader {
		return func(*world) io.Reader { return strings.NewReader(text) }
	}
	for name, tt := range map[string]struct {
		event  func(*world) io.Reader
		denied bool
	}{
		"judged":             {event(call), false},
		"without a loop":     {event(strings.Replace(call, "s1", "s9", 1)), false},
		"another agent's":    {event(strings.Replace(call, "{", `{"timestamp":"now",`, 1)), false},
		"no event":           {event(""), true},
		"no JSON":            {event(call[:40]), true},
		"without a session":  {event(`{"hook_event_name":"PreToolUse"}`), true},
		"too large":          {func(*world) io.Reader { return io.LimitReader(spaces{}, codec.MaxEventBytes+2) }, true},
		"a reader that dies": {func(*world) io.Reader { return dies{} }, true},
		"binding": {func(w *world) io.Reader {
			write(t, place.Of(w.home).BindingPath("s1"), "{")
			return strings.NewReader(call)
		}, true},
		"rules": {func(w *world) io.Reader {
			write(t, filepath.Join(w.loop.Dir, "spec.json"), "{")
			return strings.NewReader(call)
		}, true},
	} {
		for _, closed := range []bool{true, false} {
			w := newWorld(t)
			w.begin(usual())
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

type spaces struct{}

func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

type dies struct{}

func (dies) Read([]byte) (int, error) { panic("in the middle of an event") }
