package doctor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// pluginRegistry holds the client's records of plugins and marketplaces, in its folder plugins/.
type pluginRegistry struct {
	installed struct {
		Plugins map[string][]struct {
			Dir     string `json:"installPath"`
			Project string `json:"projectPath"`
		} `json:"plugins"`
	}
	marketplaces map[string]struct {
		Source struct {
			Kind string `json:"source"`
			Path string `json:"path"`
		} `json:"source"`
	}
}

// readPlugins returns the plugins that are installed for this project, sorted by id.
func readPlugins(f Facts, o Options) []plugin {
	dir := o.ClientConfig
	if dir == "" {
		return nil
	}
	var k pluginRegistry
	readJSON(filepath.Join(dir, "plugins", "installed_plugins.json"), &k.installed)
	readJSON(filepath.Join(dir, "plugins", "known_marketplaces.json"), &k.marketplaces)
	enabled := f.enabledPlugins()
	var plugins []plugin
	for id := range k.installed.Plugins {
		p := plugin{id: id, enabled: enabled[id], dir: k.dirOf(id, o.Root)}
		if p.dir == "" {
			continue // installed for other projects only
		}
		_, err := os.Stat(p.dir)
		p.dirMissing = errors.Is(err, fs.ErrNotExist)
		var manifest struct {
			Version string `json:"version"`
		}
		readJSON(filepath.Join(p.dir, ".claude-plugin", "plugin.json"), &manifest)
		p.version = manifest.Version
		plugins = append(plugins, p)
	}
	slices.SortFunc(plugins, func(a, b plugin) int { return strings.Compare(a.id, b.id) })
	return plugins
}

// dirOf returns the folder from which the client reads a plugin. That is the client's copy, unless
// the marketplace is a local folder. The client reads plugins there in place (measured).
func (k pluginRegistry) dirOf(id, root string) string {
	name, marketplace, _ := strings.Cut(id, "@")
	dir := ""
	for _, at := range k.installed.Plugins[id] {
		if at.Project == root {
			dir = at.Dir
			break
		}
		if at.Project == "" && dir == "" {
			dir = at.Dir
		}
	}
	market := k.marketplaces[marketplace].Source
	if dir == "" || market.Kind != "directory" {
		return dir
	}
	var content struct {
		Plugins []struct {
			Name   string          `json:"name"`
			Source json.RawMessage `json:"source"`
		} `json:"plugins"`
	}
	readJSON(filepath.Join(market.Path, ".claude-plugin", "marketplace.json"), &content)
	for _, listed := range content.Plugins {
		var source string
		if listed.Name == name && json.Unmarshal(listed.Source, &source) == nil && filepath.IsLocal(filepath.FromSlash(source)) {
			return filepath.Join(market.Path, filepath.FromSlash(source))
		}
	}
	return dir
}

// pluginHooks returns the hooks of a plugin.
func pluginHooks(p plugin) []hook {
	data, err := atomicfile.Read(filepath.Join(p.dir, "hooks", "hooks.json"), maxFileBytes)
	if err != nil {
		return nil
	}
	s, err := parseSettings(data)
	if err != nil {
		return nil
	}
	var hooks []hook
	for _, e := range s.hooks {
		hooks = append(hooks, hook{entry: e, scope: fromPlugin, plugin: p.id, root: p.dir})
	}
	return hooks
}

// wantedVersion returns the version that this Pawl would install of the plugin with these hooks.
// It returns "" if the plugin is not Pawl's or the version is unknown.
func wantedVersion(f Facts, o Options, hooks []hook) string {
	for _, h := range hooks {
		h.argv = h.splitWords(f.root, f.vars)
		if h.event != "SessionStart" || !h.isOwn() || o.PluginVersion == nil {
			continue
		}
		if version, err := o.PluginVersion(h.command, h.args); err == nil {
			return version
		}
	}
	return ""
}

// readJSON reads a JSON file of the client. It leaves values unchanged that are missing or have
// another type, because doctor then works with less information.
func readJSON(path string, into any) {
	if data, err := atomicfile.Read(path, maxFileBytes); err == nil {
		_ = json.Unmarshal(data, into)
	}
}
