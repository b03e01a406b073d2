package statefile

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Where another tool's own hook is in effect its files are left to that: two would
// both count.

// clientSettings is what the client's settings for a project say about other tools.
type clientSettings struct {
	off     bool            // no hook of any kind runs
	plugins map[string]bool // by id, name@marketplace
	stops   []stopHook      // the most general ones first
}

type stopHook struct{ file, command string }

// settingsOf reads the settings for a project. The nearest ones decide; those that
// are no JSON are in effect for nobody.
func settingsOf(root, home string) clientSettings {
	paths := []string{filepath.Join(root, ".claude", "settings.json"), filepath.Join(root, ".claude", "settings.local.json")}
	if home != "" {
		paths = append([]string{filepath.Join(home, ".claude", "settings.json")}, paths...)
	}
	s := clientSettings{plugins: map[string]bool{}}
	for _, path := range paths {
		s.add(path)
	}
	return s
}

const maxSettingsBytes = 4 << 20 // bytes

func (s *clientSettings) add(path string) {
	var file struct {
		Off     *bool          `json:"disableAllHooks"`
		Plugins map[string]any `json:"enabledPlugins"`
		Hooks   struct {
			Stop []struct {
				Hooks []struct {
					Command string `json:"command"`
				} `json:"hooks"`
			} `json:"Stop"`
		} `json:"hooks"`
	}
	data, err := atomicfile.Read(path, maxSettingsBytes) // it may be a link: people keep their settings elsewhere
	if err != nil || json.Unmarshal(data, &file) != nil {
		return
	}
	if file.Off != nil {
		s.off = *file.Off
	}
	for id, on := range file.Plugins {
		s.plugins[id] = on != false
	}
	for _, group := range file.Hooks.Stop {
		for _, h := range group.Hooks {
			s.stops = append(s.stops, stopHook{path, h.Command})
		}
	}
}

// stopHookFile returns the nearest settings file with a Stop hook that runs a program of
// this name, or "".
func (s clientSettings) stopHookFile(program string) string {
	for _, h := range slices.Backward(s.stops) {
		// Documents write some of the names in two ways.
		if !s.off && strings.Contains(strings.ReplaceAll(h.command, "_", "-"), program) {
			return h.file
		}
	}
	return ""
}

// pluginEnabled reports whether a plugin with one of these names is enabled.
func (s clientSettings) pluginEnabled(names ...string) bool {
	for id, on := range s.plugins {
		if name, _, _ := strings.Cut(id, "@"); on && !s.off && slices.Contains(names, name) {
			return true
		}
	}
	return false
}
