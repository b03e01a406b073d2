package statefile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Where another tool's own hook is in effect its files are left to that: two would
// both count. Settings that are no JSON are in effect for nobody.

// settingsOf are the client's settings for a project, the most general ones first.
func settingsOf(root, home string) []string {
	paths := []string{filepath.Join(root, ".claude", "settings.json"), filepath.Join(root, ".claude", "settings.local.json")}
	if home != "" {
		paths = append([]string{filepath.Join(home, ".claude", "settings.json")}, paths...)
	}
	return paths
}

// driven is where the settings have a tool follow its files itself, the nearest
// place; "" for nowhere.
func driven(root, home string, says func(settings []byte) bool) string {
	for _, path := range slices.Backward(settingsOf(root, home)) {
		if data, err := os.ReadFile(path); err == nil && says(data) {
			return path
		}
	}
	return ""
}

// enabled tells whether the settings have a plugin of one of these names, which
// the nearest ones decide.
func enabled(root, home string, names ...string) bool {
	plugins := map[string]bool{}
	for _, path := range settingsOf(root, home) {
		var settings struct {
			Plugins map[string]any `json:"enabledPlugins"`
		}
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &settings) != nil {
			continue
		}
		for id, on := range settings.Plugins {
			if name, _, _ := strings.Cut(id, "@"); slices.Contains(names, name) {
				plugins[id] = on != false
			}
		}
	}
	for _, on := range plugins {
		if on {
			return true
		}
	}
	return false
}
