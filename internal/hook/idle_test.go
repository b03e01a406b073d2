package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/session"
)

func TestSessionsThatAGlanceSees(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, event string
		want        []string // nil: it cannot tell
	}{
		{"as the client writes it", `{"session_id":"a-1","hook_event_name":"Stop"}`, []string{"a-1"}},
		{"laid out for people", "{\n  \"session_id\" :\t\"a-1\"\n}", []string{"a-1"}},
		{"a tool's argument has the name too", `{"tool_input":{"session_id":"b"},"session_id":"a"}`, []string{"b", "a"}},
		{"in a text", `{"session_id":"a","prompt":"what is \"session_id\":\"c\"?"}`, []string{"a"}},
		{"as a value", `{"key":"session_id","session_id":"a"}`, []string{"a"}},
		{"escaped", `{"session_id":"\u0061"}`, nil},
		{"no text", `{"session_id":7}`, nil},
		{"very many", `{"session_id":"a","x":[{"session_id":"b"},{"session_id":"c"},{"session_id":"d"},{"session_id":"e"}]}`, nil},
		{"cut off", `{"session_id":"a`, nil},
		{"none", `{"sessionId":"a"}`, nil},
		{"nothing", ``, nil},
	}
	for _, c := range cases {
		got, ok := sessionsNamed([]byte(c.event))
		if !ok {
			got = nil
		}
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != nil) {
			t.Errorf("%s: %v %s", c.name, ok, diff)
		}
	}
}

// What could concern Pawl is never idle.
func TestIdle(t *testing.T) {
	t.Parallel()
	const stopEvent = `{"session_id":"a","hook_event_name":"Stop"}`
	cases := []struct {
		name, event string
		change      func(t *testing.T, h *hook)
		want        bool
	}{
		{"nothing there", stopEvent, nil, true},
		{"a tool call", `{"session_id":"a","hook_event_name":"PreToolUse","tool_name":"Bash"}`, nil, true},
		{"a command", `{"session_id":"a","hook_event_name":"UserPromptExpansion"}`, nil, false},
		{"a loop lives here", stopEvent, func(t *testing.T, h *hook) { put(t, h, "a.json") }, false},
		{"a loop lives elsewhere", stopEvent, func(t *testing.T, h *hook) { put(t, h, "b.json") }, true},
		{"a loop waits for its session", stopEvent, func(t *testing.T, h *hook) { put(t, h, "waiting.json") }, false},
		{"another tool's file", stopEvent, func(t *testing.T, h *hook) {
			write(t, filepath.Join(h.Env.Session.Project, ".claude", "ralph-loop.local.md"))
		}, false},
		{"another tool's file, of no concern to a tool call", `{"session_id":"a","hook_event_name":"PostToolUse"}`, func(t *testing.T, h *hook) {
			write(t, filepath.Join(h.Env.Session.Project, ".claude", "ralph-loop.local.md"))
		}, true},
		{"no folder to look for it", stopEvent, func(_ *testing.T, h *hook) { h.Env.Session.Project = "" }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			h := &hook{sessions: session.Open(home)}
			h.Env = environment.Environment{PawlHome: home, Session: environment.Session{Project: t.TempDir()}}
			if c.change != nil {
				c.change(t, h)
			}
			if got := h.idle([]byte(c.event)); got != c.want {
				t.Errorf("idle: %v", got)
			}
		})
	}
}

func put(t *testing.T, h *hook, name string) {
	t.Helper()
	write(t, filepath.Join(h.Env.PawlHome, "sessions", name))
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The session that a parser finds is one of those that the glance names, unless
// somebody writes the field's name in a way that no client does.
func FuzzGlance(f *testing.F) {
	for _, s := range []string{
		`{"session_id":"a"}`, `{"x":{"session_id":"b"},"session_id" : "a"}`, `{"session_id":"a\"b"}`,
		`{"session_id":"a","prompt":"\"session_id\":\"c\""}`, `["session_id"]`, `{"session_id":null,"session_id":"a"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		p, ok := read(event)
		odd := bytes.Contains(event, []byte(`\u`)) || !json.Valid(event) ||
			bytes.Count(bytes.ToLower(event), []byte("session_id")) != bytes.Count(event, []byte("session_id")) ||
			slices.ContainsFunc(event, func(b byte) bool { return b >= 0x80 })
		if !ok || odd {
			return
		}
		if ids, ok := sessionsNamed(event); ok && !slices.Contains(ids, p.Session) {
			t.Errorf("session %q is not among %q", p.Session, ids)
		}
	})
}
