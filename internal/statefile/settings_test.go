package statefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The nearest settings decide whether a plugin is enabled, and the nearest file with a tool's hook
// is named. Invalid JSON is ignored.
func TestNearestSettingsDecide(t *testing.T) {
	t.Parallel()
	const on, off, hook = `{"enabledPlugins":{"ralph-loop@x":true}}`, `{"enabledPlugins":{"ralph-loop@x":false}}`, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"},{"type":"command","command":"bash .claude/th_loop-stop-hook.sh"}]}]}}`
	tests := []struct {
		name                   string
		person, project, local string
		enabled                bool
		driven                 string
	}{
		{name: "nothing"},
		{name: "the user's", person: on, enabled: true},
		{name: "the project's", project: on, enabled: true},
		{name: "one's own for the project", local: on, enabled: true},
		{name: "off", person: off},
		{name: "off in the project", person: on, local: off},
		{name: "on in the project", person: off, project: on, enabled: true},
		{name: "another market's", person: off, project: `{"enabledPlugins":{"ralph-loop@y":true}}`, enabled: true},
		{name: "no JSON", person: on, local: `{"enabledPlugins":`, enabled: true},
		{name: "another plugin", person: `{"enabledPlugins":{"loop@x":true}}`},
		{name: "a hook, twice", person: hook, project: hook, driven: "project/.claude/settings.json"},
		{name: "a hook of the user's", person: hook, driven: "home/.claude/settings.json"},
		{name: "a hook that is switched off", person: hook, project: `{"disableAllHooks":true}`},
		{name: "and on again", person: hook, project: `{"disableAllHooks":true}`, local: `{"disableAllHooks":false}`, driven: "home/.claude/settings.json"},
		{name: "a plugin whose hooks are switched off", person: on, local: `{"disableAllHooks":true}`},
		{name: "another hook", person: strings.Replace(hook, "th_loop-stop-hook.sh", "pawl-hook claude", 1)},
		{name: "another event", person: strings.Replace(hook, "Stop", "SubagentStop", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{"home/.claude/settings.json": tt.person, "project/.claude/settings.json": tt.project, "project/.claude/settings.local.json": tt.local} {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if text == "" {
					continue
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			root, config := filepath.Join(dir, "project"), filepath.Join(dir, "home", ".claude")
			if got := readClientSettings(root, config).pluginEnabled("ralph-loop", "ralph-wiggum"); got != tt.enabled {
				t.Errorf("enabled: %v", got)
			}
			at := readClientSettings(root, config).stopHookFile("th-loop-stop-hook")
			if at != "" {
				at = DisplayPath(dir, at)
			}
			if at != tt.driven {
				t.Errorf("driven by %q", at)
			}
		})
	}
}
