package install

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInstallAndUninstallRestoreEveryShape(t *testing.T) {
	t.Parallel()
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			after, origin, err := Add([]byte(s.file), wanted(), nil)
			if s.refused != "" {
				if err == nil || err.Error() != s.refused {
					t.Fatalf("error = %v, want %s", err, s.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tree, err := parse(after); err != nil {
				t.Error(err)
			} else {
				for _, e := range wanted().Events {
					wantGroups(t, tree, e)
				}
			}
			back, err := Remove(after, origin)
			if err != nil {
				t.Fatal(err)
			}
			if string(back) != s.file {
				t.Errorf("not as before:\n%s", cmp.Diff(clip(s.file), clip(string(back))))
			}
		})
	}
}

func clip(s string) string { return s[:min(len(s), 4096)] }

// one is a single hook at Stop.
func one() Entries {
	return Entries{Events: Events{{"Stop", []Group{{Hooks: []Hook{{Type: "command", Command: "pawl-hook", Args: []string{"claude"}}}}}}}}
}

// inline is the group of one in a file with one line.
const inline = `{"hooks": [{"type": "command", "command": "pawl-hook", "args": ["claude"]}]}`

func TestAddedHooksKeepTheStyle(t *testing.T) {
	t.Parallel()
	lines := `{
  "hooks": [
    {
      "type": "command",
      "command": "pawl-hook",
      "args": [
        "claude"
      ]
    }
  ]
}`
	at := func(indent string) string { return strings.ReplaceAll(lines, "\n", "\n"+indent) }
	tabs := func(s string) string { return strings.ReplaceAll(s, "  ", "\t") }
	for _, c := range []struct{ name, before, after string }{
		{"nothing", "", "{\n  \"hooks\": {\n    \"Stop\": [\n      " + at("      ") + "\n    ]\n  }\n}\n"},
		{"empty object", "{}\n", "{\n  \"hooks\": {\n    \"Stop\": [\n      " + at("      ") + "\n    ]\n  }\n}\n"},
		{"one line", `{"a": 1}`, `{"a": 1, "hooks": {"Stop": [` + inline + `]}}`},
		{"minified", `{"a":1}`, `{"a":1,"hooks":{"Stop":[` + strings.NewReplacer(": ", ":", ", ", ",").Replace(inline) + `]}}`},
		{"a line in lines", "{\n  \"hooks\": {\"Stop\": [1]}\n}", "{\n  \"hooks\": {\"Stop\": [1, " + inline + "]}\n}"},
		{"tabs", "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t1\n\t\t]\n\t}\n}\n", "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t1,\n\t\t\t" + tabs(at("      ")) + "\n\t\t]\n\t}\n}\n"},
		{"line ends", "{\r\n  \"a\": 1\r\n}", "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n      " + strings.ReplaceAll(at("      "), "\n", "\r\n") + "\r\n    ]\r\n  }\r\n}"},
		{"comments", "{\n  \"a\": 1 // one\n  // two\n}", "{\n  \"a\": 1, // one\n  // two\n  \"hooks\": {\n    \"Stop\": [\n      " + at("      ") + "\n    ]\n  }\n}"},
		{"trailing comma", "{\n  \"hooks\": {\n    \"Stop\": [\n      1, // one\n    ],\n  },\n}", "{\n  \"hooks\": {\n    \"Stop\": [\n      1, // one\n      " + at("      ") + ",\n    ],\n  },\n}"},
		{"escaped name", `{"h\u006foks": {"Stop": []}}`, `{"h\u006foks": {"Stop": [` + inline + `]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			after, _, err := Add([]byte(c.before), one(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, string(after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A user edits the file after the install. Remove keeps those edits.
func TestEditsInBetweenStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, find, replace, after string }{
		{"another setting", "{}\n", "{\n", "{\n  \"model\": \"opus\",\n", "{\n  \"model\": \"opus\"\n}\n"},
		{"a hook behind ours", `{}`, "\n    ]\n  }", ",\n      \"theirs\"\n    ]\n  }", "{\n  \"hooks\": {\n    \"Stop\": [\n      \"theirs\"\n    ]\n  }\n}"},
		{"a hook before ours", `{"hooks": {"Stop": []}}`, `[{`, `["theirs" /*!*/, {`, `{"hooks": {"Stop": ["theirs" /*!*/]}}`},
		{"a hook among ours", `{"hooks": {"Stop": []}}`, `["claude"]}`, `["claude"]}, {"command": "theirs"}`, `{"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}}`},
		{"a comment where nothing was", `{}`, "\n    ]\n  }", "\n    // mine\n    ]\n  }", "{\n  \"hooks\": {\n    \"Stop\": [\n    // mine\n    ]\n  }\n}"},
		{"a comment before ours, on one line with theirs", `{"hooks": {"Stop": [1]}}`, `1, {`, "1, // one\n{", "{\"hooks\": {\"Stop\": [1 // one\n]}}"},
		{"the time limit", `{"a": 1}`, `"args"`, `"timeout": 5, "args"`, `{"a": 1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file, origin, err := Add([]byte(c.before), one(), nil)
			if err != nil {
				t.Fatal(err)
			}
			edited := strings.Replace(string(file), c.find, c.replace, 1)
			if edited == string(file) {
				t.Fatalf("%q is not in\n%s", c.find, file)
			}
			after, err := Remove([]byte(edited), origin)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, string(after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNewerHooksReplaceOlderOnes(t *testing.T) {
	t.Parallel()
	before := `{"hooks": {"Stop": [1], "PostToolBatch": [ ]}, "b": 2}`
	file, origin, err := Add([]byte(before), older(), nil)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(file), `], "PostToolBatch"`, `, "theirs"], "PostToolBatch"`, 1)
	after, origin, err := Add([]byte(edited), one(), origin)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"hooks": {"Stop": [1, `+inline+`, "theirs"], "PostToolBatch": [ ]}, "b": 2}`, string(after)); diff != "" {
		t.Error(diff)
	}
	back, err := Remove(after, origin)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"hooks": {"Stop": [1, "theirs"], "PostToolBatch": [ ]}, "b": 2}`, string(back)); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutARecordEmptyListsGo(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{
		"{}\n":                                  "{}\n",
		"{\n  \"a\": 1\n}\n":                    "{\n  \"a\": 1\n}\n",
		`{"hooks": {"Stop": [1]}}`:              `{"hooks": {"Stop": [1]}}`,
		`{"hooks": {"Stop": [ ]}, "b": 2}`:      `{"b": 2}`,
		`{"hooks": {"SessionEnd": []}}`:         `{"hooks": {"SessionEnd": []}}`,
		`{"hooks": {"Stop": [ /* mine */ ]}}`:   `{"hooks": {"Stop": [ /* mine */]}}`,
		`{"env": {"A": "1"}, "hooks": {"X":1}}`: `{"env": {"A": "1"}, "hooks": {"X":1}}`,
	} {
		file, _, err := Add([]byte(before), one(), nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Remove(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(after, string(back)); diff != "" {
			t.Errorf("%s: %s", before, diff)
		}
	}
}

func TestTheUsersOwnVariableStays(t *testing.T) {
	t.Parallel()
	want := Entries{Env: []Var{{StopBlockCap, "0"}}}
	for _, file := range []string{`{"env": {"` + StopBlockCap + `": "50"}}`, `{"env": {"` + StopBlockCap + `": 0}}`} {
		after, origin, err := Add([]byte(file), want, nil)
		if err != nil || string(after) != file {
			t.Errorf("%s became %s (%v)", file, after, err)
		}
		if back, err := Remove(after, origin); err != nil || string(back) != file {
			t.Errorf("%s became %s (%v)", file, back, err)
		}
	}
	after, origin, err := Add([]byte(`{"a": 1}`), want, nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(after), `"0"`, `"9"`, 1)
	if back, err := Remove([]byte(changed), origin); err != nil || string(back) != changed {
		t.Errorf("%s became %s (%v)", changed, back, err)
	}
}

// The user deleted the hooks but not the variable: it is still ours.
func TestOwnVariableIsRememberedWithoutHooks(t *testing.T) {
	t.Parallel()
	file, origin, err := Add(nil, wanted(), nil)
	if err != nil {
		t.Fatal(err)
	}
	start, end := strings.Index(string(file), `"hooks": {`), strings.Index(string(file), `"env"`)
	edited := string(file[:start]) + string(file[end:])
	after, origin, err := Add([]byte(edited), one(), origin)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Remove(after, origin); err != nil || back != nil {
		t.Errorf("left %q (%v)", back, err)
	}
}

// Adding only a variable leaves existing hooks alone, ours too.
func TestVariableAloneIsAddedAndRemoved(t *testing.T) {
	t.Parallel()
	alone := Entries{Env: wanted().Env}
	for _, s := range shapes() {
		after, origin, err := Add([]byte(s.file), alone, nil)
		if err != nil && s.refused != "" {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if back, err := Remove(after, origin); err != nil || string(back) != s.file {
			t.Errorf("%s: not as before (%v):\n%s", s.name, err, cmp.Diff(clip(s.file), clip(string(back))))
		}
	}
	file, origin, err := Add(nil, one(), nil)
	if err != nil {
		t.Fatal(err)
	}
	after, origin, err := Add(file, alone, origin)
	if err != nil || !strings.Contains(string(after), "pawl-hook") || !strings.Contains(string(after), alone.Env[0].Name) {
		t.Errorf("%s (%v)", after, err)
	}
	if back, err := Remove(after, origin); err != nil || back != nil {
		t.Errorf("left %q (%v)", back, err)
	}
}

func TestHooksThatRunPawlAreOwn(t *testing.T) {
	t.Parallel()
	for hook, want := range map[string]bool{
		`{"command": "pawl-hook", "args": ["claude"]}`:                              true,
		`{"command": "/opt/my tools/pawl-hook", "args": ["claude", "--wake"]}`:      true,
		`{"command": "C:\\Program Files\\Pawl\\PAWL-HOOK.EXE", "args": ["claude"]}`: true,
		`{"command": "./pawl", "args": ["hook", "claude"], /* why */}`:              true,
		`{"type": "command", "command": "pawl-hook claude"}`:                        true,
		`{"command": "/usr/bin/pawl hook claude"}`:                                  true,
		`{"command": "pawl", "args": ["hook"]}`:                                     false,
		`{"command": "pawl", "args": ["hook", "copilot"]}`:                          false,
		`{"command": "pawl", "args": "hook claude"}`:                                false,
		`{"command": "pawl status"}`:                                                false,
		`{"command": "my-pawl-hook", "args": []}`:                                   false,
		`{"command": "pawl-hook.sh"}`:                                               false,
		`{"command": "echo pawl-hook claude"}`:                                      false,
		`{"command": "pawl-hook claude && make"}`:                                   false,
		`{"command": "pawl-hook/run"}`:                                              false,
		`{"command": ""}`:                                                           false,
		`{"COMMAND": "pawl-hook"}`:                                                  false,
		`{"command": ["pawl-hook"]}`:                                                false,
		`{"type": "prompt", "prompt": "pawl-hook"}`:                                 false,
		`"pawl-hook"`: false,
		`null`:        false,
	} {
		d, err := parse([]byte(`{"hook": ` + hook + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := isPawlHook(*lastMember(d.root, "hook")); got != want {
			t.Errorf("%s: ours = %v", hook, got)
		}
	}
}

func TestClaudeHooksCoverEveryEvent(t *testing.T) {
	t.Parallel()
	w := ClaudeHooks("pawl-hook", []string{"claude"})
	data, err := json.Marshal(map[string]any{"hooks": w.Events})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"pawl-hook","args":["claude"]}]}],"SessionEnd"`,
		`"SessionEnd":[{"hooks":[{"type":"command","command":"pawl-hook","args":["claude"],"timeout":20}]}]`,
		`"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"pawl-hook","args":["claude"],"timeout":720}]}]`,
		`"Stop":[{"hooks":[{"type":"command","command":"pawl-hook","args":["claude"],"timeout":3600},` +
			`{"type":"command","command":"pawl-hook","args":["claude","--wake"],"timeout":691200,"asyncRewake":true}]}]`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s\nlacks %s", data, want)
		}
	}
	if got := len(w.Events.Names()); got != 13 {
		t.Errorf("%d events: %v", got, w.Events.Names())
	}
	args := ClaudeHooks("/bin/pawl", []string{"hook", "claude"}).Events[10].Groups[0].Hooks[1].Args
	if diff := cmp.Diff([]string{"hook", "claude", "--wake"}, args); diff != "" {
		t.Error(diff)
	}
}

// A blocking guard blocks only before tools. A second install without it removes it.
func TestBlockingGuardIsInstalledAndRemoved(t *testing.T) {
	t.Parallel()
	usual := ClaudeHooks("pawl-hook", []string{"claude"})
	with, origin, err := Add(nil, usual.WithBlockingGuard(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(with), `"onFailure": "block"`); n != 1 {
		t.Errorf("%d hooks block:\n%s", n, with)
	}
	var file struct {
		Hooks map[string][]Group `json:"hooks"`
	}
	if err := json.Unmarshal(with, &file); err != nil || file.Hooks["PreToolUse"][0].Hooks[0].OnFailure != "block" {
		t.Errorf("%v: %s", err, with)
	}
	if args := file.Hooks["PreToolUse"][0].Hooks[0].Args; !slices.Equal(args, []string{"claude", "--closed"}) {
		t.Errorf("called with %q", args)
	}
	again, _, err := Add(with, usual, origin)
	if err != nil || strings.Contains(string(again), "onFailure") {
		t.Errorf("%v: %s", err, again)
	}
	if usual.Events[4].Groups[0].Hooks[0].OnFailure != "" {
		t.Error("what was wanted without it was changed")
	}
}
