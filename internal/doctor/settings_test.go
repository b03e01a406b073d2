package doctor

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var whole = cmp.AllowUnexported(settings{}, entry{})

func TestSettingsAreParsed(t *testing.T) {
	t.Parallel()
	yes := true
	got, err := parseSettings([]byte("\ufeff" + `{
		"model": "opus", "disableAllHooks": true, "allowManagedHooksOnly": true,
		"env": {"A": "x", "B": 7, "C": true},
		"enabledPlugins": {"a@m": true, "b@m": false, "c@m": ["1.0.0"]},
		"hooks": {"Stop": [
			{"hooks": [{"type": "command", "command": "a b", "timeout": 1.5}, {"type": "command", "command": "c", "args": []}]},
			{"matcher": "*", "hooks": [{"type": "prompt", "prompt": "done?"}]}
		], "SomethingNew": []}}`))
	want := settings{
		env: map[string]string{"A": "x", "B": "7", "C": "true"}, disableAllHooks: &yes, managedHooksOnly: true,
		plugins: map[string]bool{"a@m": true, "b@m": false, "c@m": true},
		hooks: []entry{
			{event: "Stop", kind: "command", command: "a b", timeout: 1500 * time.Millisecond},
			{event: "Stop", kind: "command", command: "c", args: []string{}},
			{event: "Stop", kind: "prompt"},
		},
	}
	if diff := cmp.Diff(want, got, whole); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The client does not load these files (measured).
func TestFilesThatAreNotLoaded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{ // why\n}":                        "it has comments, or commas before a closing bracket",
		`{"a": 1,}`:                          "it has comments, or commas before a closing bracket",
		"{\n\"a\" 1}":                        "line 2: invalid character '1' after object key",
		`{"a": 1} more`:                      "line 1: invalid character 'm' after top-level value",
		`{"a": `:                             "line 1: unexpected end of JSON input",
		`[]`:                                 "it holds a list, not an object",
		`{"hooks": []}`:                      `"hooks" is a list, not an object`,
		`{"env": ["A"]}`:                     `"env" is a list, not an object`,
		`{"enabledPlugins": "all"}`:          `"enabledPlugins" is a string, not an object`,
		`{"env": null}`:                      `"env" is null, not an object`,
		`{"disableAllHooks": "true"}`:        `"disableAllHooks" is a string, not true or false`,
		`{"enabledPlugins": {"a@b": "yes"}}`: `"a@b" in "enabledPlugins" is a string, not true or false`,
	} {
		if _, err := parseSettings([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{"", " \n", "{}", `{"hooks": null}`} {
		if s, err := parseSettings([]byte(text)); err != nil || s.disableAllHooks != nil {
			t.Errorf("%q: %v %v", text, s, err)
		}
	}
}

// The client ignores only the wrong part of these files.
func TestEntriesThatAreLeftOut(t *testing.T) {
	t.Parallel()
	const good = `{"hooks": [{"type": "command", "command": "good"}]}`
	for stop, want := range map[string]string{
		`{"hooks": []}`:                         "Stop is an object, not a list",
		`"x"`:                                   "Stop is a string, not a list",
		`[{"type": "command", "command": "x"}]`: `Stop[0] has no "hooks": each entry of an event is {"hooks": [ … ]}`,
		`[{"hooks": {"type": "command"}}]`:      "Stop[0].hooks is an object, not a list",
		`[{"hooks": ["x"]}]`:                    "Stop[0].hooks[0] is a string, not an object",
		`[{"hooks": [{"command": "x"}]}]`:       "Stop[0].hooks[0] has no type",
		`[{"hooks": [{"type": "command"}]}]`:    "Stop[0].hooks[0] has no command",
		`[` + good + `, {"hooks": [{"type": "command", "command": "x", "args": "y"}]}]`: "Stop[1].hooks[0] has args that are a string, not a list",
		`[{"hooks": [{"type": "command", "command": "x", "args": [1]}]}]`:               "Stop[0].hooks[0] has an argument that is a number, not a string",
		`[{"hooks": [{"type": "command", "command": "x", "timeout": "60"}]}]`:           "Stop[0].hooks[0] has a timeout that is a string, not a number",
		`[{"hooks": [{"type": "command", "command": "x", "timeout": 0}]}]`:              "Stop[0].hooks[0] has a timeout of 0",
	} {
		s, err := parseSettings([]byte(`{"hooks": {"Stop": ` + stop + `, "SubagentStop": [` + good + `]}}`))
		if err != nil || len(s.ignored) != 1 || s.ignored[0] != want {
			t.Errorf("%s\n got %q %v\nwant %q", stop, s.ignored, err, want)
		}
		if len(s.hooks) == 0 || s.hooks[len(s.hooks)-1].command != "good" {
			t.Errorf("%s: the good hook is lost: %v", stop, s.hooks)
		}
	}
	for name, want := range map[string]string{"stop": "stop is not a hook event; Stop is", "session_start": "session_start is not a hook event; SessionStart is", "Elicitation": ""} {
		s, err := parseSettings([]byte(`{"hooks": {"` + name + `": []}}`))
		if err != nil || (want == "") != (len(s.ignored) == 0) || want != "" && s.ignored[0] != want {
			t.Errorf("%s: %q %v", name, s.ignored, err)
		}
	}
}

// For any content, parseSettings returns an error or only the parts that the client accepts.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "{}", "[[[", "{//\n}", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}`, `{"env":{"A":1e999}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSettings(data)
		if err != nil && !cmp.Equal(s, settings{}, whole) {
			t.Errorf("an error and settings: %v %v", err, s)
		}
		for _, h := range s.hooks {
			if h.kind == "command" && h.command == "" {
				t.Errorf("a hook without a command: %v", h)
			}
		}
		if err == nil && s.env != nil && !json.Valid(bytesAfterMark(data)) {
			t.Errorf("not JSON, but loaded")
		}
	})
}

func bytesAfterMark(data []byte) []byte {
	if len(data) >= 3 && string(data[:3]) == "\ufeff" {
		return data[3:]
	}
	return data
}
