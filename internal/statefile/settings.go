package statefile

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// If another tool's hook is active, its files are left to that hook: both would count iterations.

// clientSettings holds what the client's settings for a project say about other tools.
type clientSettings struct {
	hooksDisabled bool            // no hook runs
	plugins       map[string]bool // by id, name@marketplace
	stopHooks     []stopHook      // from the most general file to the nearest
}

type stopHook struct{ file, command string }

// readClientSettings reads the settings for a project, and those of the user in config. The nearest
// file has precedence. Files with invalid JSON are ignored, as the client does.
func readClientSettings(root, config string) clientSettings {
	paths := []string{filepath.Join(root, ".claude", "settings.json"), filepath.Join(root, ".claude", "settings.local.json")}
	if config != "" {
		paths = append([]string{filepath.Join(config, "settings.json")}, paths...)
	}
	s := clientSettings{plugins: map[string]bool{}}
	for _, path := range paths {
		s.addFile(path)
	}
	return s
}

const maxSettingsBytes = 4 << 20

func (s *clientSettings) addFile(path string) {
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
	data, err := atomicfile.Read(path, maxSettingsBytes) // it may be a link: some users keep their settings elsewhere
	if err != nil || json.Unmarshal(data, &file) != nil {
		return
	}
	if file.Off != nil {
		s.hooksDisabled = *file.Off
	}
	for id, on := range file.Plugins {
		s.plugins[id] = on != false
	}
	for _, group := range file.Hooks.Stop {
		for _, h := range group.Hooks {
			s.stopHooks = append(s.stopHooks, stopHook{path, h.Command})
		}
	}
}

// HooksDisabled reports whether the client's settings turn all hooks off in a project.
func HooksDisabled(root, config string) bool { return readClientSettings(root, config).hooksDisabled }

// stopHookFile returns the nearest settings file with a Stop hook that runs a program of
// this name, or "".
func (s clientSettings) stopHookFile(program string) string {
	for _, h := range slices.Backward(s.stopHooks) {
		// Some tools' documents write their names with "_", others with "-".
		if !s.hooksDisabled && strings.Contains(strings.ReplaceAll(h.command, "_", "-"), program) {
			return h.file
		}
	}
	return ""
}

// pluginEnabled reports whether a plugin with one of these names is enabled.
func (s clientSettings) pluginEnabled(names ...string) bool {
	for id, on := range s.plugins {
		if name, _, _ := strings.Cut(id, "@"); on && !s.hooksDisabled && slices.Contains(names, name) {
			return true
		}
	}
	return false
}
