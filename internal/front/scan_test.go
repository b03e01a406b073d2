package front

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
	"github.com/pawl-dev/pawl/internal/session/place"
)

func TestScanEventFindsSessions(t *testing.T) {
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
		e := scanEvent([]byte(c.event))
		if !e.complete {
			e.sessions = nil
		}
		if diff := cmp.Diff(c.want, e.sessions); diff != "" || e.complete != (c.want != nil) {
			t.Errorf("%s: %v %s", c.name, e.complete, diff)
		}
	}
}

// An event that could concern Pawl is never idle.
func TestIdleEventsAreRecognized(t *testing.T) {
	t.Parallel()
	const stopEvent = `{"session_id":"a","hook_event_name":"Stop"}`
	file := filepath.FromSlash(ralphloop.Path)
	agent := place.Project{ThLoopAgent: "eris"}
	elsewhere := place.Project{RalphLoopDir: "loops/mine", ThLoopAgent: "../.."}
	cases := []struct {
		name, event string
		home        string // file that is there in the folder of sessions
		project     string // in the project
		with        place.Project
		want        bool
	}{
		{name: "nothing there", event: stopEvent, want: true},
		{name: "a tool call", event: `{"session_id":"a","hook_event_name":"PreToolUse","tool_name":"Bash"}`, want: true},
		{name: "a command", event: `{"session_id":"a","hook_event_name":"UserPromptExpansion"}`},
		{name: "a loop lives here", event: stopEvent, home: "a.json"},
		{name: "a loop lives elsewhere", event: stopEvent, home: "b.json", want: true},
		{name: "a loop waits for its session", event: stopEvent, home: "waiting.json"},
		{name: "another tool's file", event: stopEvent, project: file},
		{name: "another tool's file, of no concern to a tool call", event: `{"session_id":"a","hook_event_name":"PostToolUse"}`, project: file, want: true},
		{name: "another tool's file, of no concern to a session's start", event: `{"session_id":"a","hook_event_name":"SessionStart"}`, project: file, want: true},
		{name: "a session starts, a loop waits for it", event: `{"session_id":"a","hook_event_name":"SessionStart"}`, home: "waiting.json"},
		{name: "th-loop's file", event: stopEvent, project: ".claude/th-loop.local.md"},
		{name: "th-loop's file of an agent", event: stopEvent, project: ".claude/th-loop-eris.local.md", with: agent},
		{name: "th-loop's file, of another agent", event: stopEvent, project: ".claude/th-loop.local.md", with: agent, want: true},
		{name: "a feature list", event: stopEvent, project: ".claude/data/ralph-loops/named/feature_list.json"},
		{name: "a feature list elsewhere", event: stopEvent, project: "loops/mine/feature_list.json", with: elsewhere},
		{name: "a feature list is missed elsewhere", event: stopEvent, project: "loops/yours/feature_list.json", with: elsewhere},
		{name: "a verify loop", event: stopEvent, project: "runtime-state/verify-active.json"},
		{name: "a verify loop of a newer version", event: stopEvent, project: "runtime-state/verify-state.db"},
		{name: "a folder for verify loops", event: stopEvent, project: "runtime-state/argument.json", want: true},
		{name: "a plan", event: stopEvent, project: ".ralph/current-story", want: true},
		{name: "a verify loop is typed", event: `{"session_id":"a","hook_event_name":"UserPromptSubmit","prompt":"fix it :: verify:\"make\""}`},
		{name: "something else is typed", event: `{"session_id":"a","hook_event_name":"UserPromptSubmit","prompt":"fix it"}`, want: true},
		{
			name: "a turn that ends with the name of another event", project: file,
			event: `{"session_id":"a","hook_event_name":"Stop","last_assistant_message":"A UserPromptSubmit hook"}`,
		},
		{name: "no session to be seen", event: `{"hook_event_name":"Stop"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home, project := t.TempDir(), t.TempDir()
			if c.home != "" {
				write(t, filepath.Join(home, "sessions", c.home))
			}
			if c.project != "" {
				write(t, filepath.Join(project, filepath.FromSlash(c.project)))
			}
			c.with.Root = project
			if got := scanEvent([]byte(c.event)).isIdle(place.Of(home), c.with); got != c.want {
				t.Errorf("idle: %v", got)
			}
			if scanEvent([]byte(stopEvent)).isIdle(place.Of(home), place.Project{}) {
				t.Error("idle, though nobody knows where another tool's file could lie")
			}
		})
	}
}

// After an inspection a session is idle while the files do not change. The inspection is
// forgotten at its end.
func TestIdleAfterInspection(t *testing.T) {
	t.Parallel()
	event := func(name, session string) scannedEvent {
		return scanEvent([]byte(`{"session_id":"` + session + `","hook_event_name":"` + name + `"}`))
	}
	home, p := place.Of(t.TempDir()), place.Project{Root: t.TempDir()}
	file := p.ThLoopPath()
	write(t, file)
	of := func(at time.Time) {
		t.Helper()
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-time.Hour)
	of(then)
	if event("Stop", "a").isIdle(home, p) {
		t.Error("idle before anybody looked")
	}
	if err := home.RecordInspection("a", p.Fingerprint(time.Now())); err != nil {
		t.Fatal(err)
	}
	two := scanEvent([]byte(`{"session_id":"a","x":{"session_id":"b"},"hook_event_name":"Stop"}`))
	if !event("Stop", "a").isIdle(home, p) || event("Stop", "b").isIdle(home, p) || two.isIdle(home, p) {
		t.Error("only the session that looked knows")
	}
	of(then.Add(time.Minute))
	if event("Stop", "a").isIdle(home, p) {
		t.Error("idle, though the file was written")
	}
	of(then)
	event("PostToolUse", "a").forgetSession(home)
	event("SessionEnd", "b").forgetSession(home)
	if !event("Stop", "a").isIdle(home, p) {
		t.Error("forgotten")
	}
	if err := home.SaveEndText("a", "why"); err != nil {
		t.Fatal(err)
	}
	if last := event("SessionEnd", "a").forgetSession(home); string(last) != "why" || event("Stop", "a").isIdle(home, p) {
		t.Error("known for ever")
	}
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

// A session id found by a parser is found by the scan too, unless the field's name is
// written in a way that no client uses.
func FuzzScanEvent(f *testing.F) {
	for _, s := range []string{
		`{"session_id":"a"}`, `{"x":{"session_id":"b"},"session_id" : "a"}`, `{"session_id":"a\"b"}`,
		`{"session_id":"a","prompt":"\"session_id\":\"c\""}`, `["session_id"]`, `{"session_id":null,"session_id":"a"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p struct {
			Session string `json:"session_id"`
		}
		odd := bytes.Contains(data, []byte(`\u`)) ||
			bytes.Count(bytes.ToLower(data), []byte("session_id")) != bytes.Count(data, []byte("session_id")) ||
			slices.ContainsFunc(data, func(b byte) bool { return b >= 0x80 })
		if json.Unmarshal(data, &p) != nil || p.Session == "" || odd {
			return
		}
		if e := scanEvent(data); e.complete && !slices.Contains(e.sessions, p.Session) {
			t.Errorf("session %q is not among %q", p.Session, e.sessions)
		}
	})
}

// What one side says, the other understands; what nobody said is refused.
func FuzzWire(f *testing.F) {
	f.Add([]byte("claude"), []byte("CLAUDECODE=1"), []byte(`{"session_id":"a"}`), 7)
	f.Add([]byte(nil), []byte("\x00\xff"), bytes.Repeat([]byte("x"), 70_000), 0)
	f.Fuzz(func(t *testing.T, arg, variable, data []byte, n int) {
		var wire bytes.Buffer
		r := Request{Args: []string{string(arg), ""}, Vars: []string{string(variable)}, Parent: max(n%(1<<22), 0), Event: data}
		if err := r.Write(&wire); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRequest(&wire)
		if diff := cmp.Diff(r, got, bytesAreBytes()); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		a := Answer{Code: (n & 0x7f), Out: data, Err: arg}
		if err := a.Write(&wire); err != nil {
			t.Fatal(err)
		}
		back, err := ReadAnswer(&wire)
		if diff := cmp.Diff(a, back, bytesAreBytes()); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		_, _ = ReadRequest(bytes.NewReader(data)) // must not panic, nor take more room than was sent
		_, _ = ReadAnswer(bytes.NewReader(append([]byte{byte(len(arg)), 0, 0, 0}, arg...)))
	})
}

func bytesAreBytes() cmp.Option {
	return cmp.Comparer(bytes.Equal)
}
