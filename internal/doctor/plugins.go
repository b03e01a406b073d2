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

// known is what the client keeps of its plugins, below its folder plugins/.
type known struct {
	installed struct {
		Plugins map[string][]struct {
			Scope   string `json:"scope"`
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

// readPlugins finds the plugins that are installed for this project.
func readPlugins(f Facts, o Options) []plugin {
	dir := configDir(f, o)
	if dir == "" {
		return nil
	}
	var k known
	readJSON(filepath.Join(dir, "plugins", "installed_plugins.json"), &k.installed)
	readJSON(filepath.Join(dir, "plugins", "known_marketplaces.json"), &k.marketplaces)
	enabled := f.enabled()
	var plugins []plugin
	for id := range k.installed.Plugins {
		p := plugin{id: id, enabled: enabled[id], dir: k.dirOf(id, o.Root)}
		if p.dir == "" {
			continue // installed for other projects only
		}
		_, err := os.Stat(p.dir)
		p.gone = errors.Is(err, fs.ErrNotExist)
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

// dirOf is the folder that the client reads a plugin from: its copy, unless the
// marketplace is a folder on this machine, whose plugins are read in place
// (measured).
func (k known) dirOf(id, root string) string {
	p := plugin{id: id}
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
	market := k.marketplaces[p.marketplace()].Source
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
		if listed.Name == p.name() && json.Unmarshal(listed.Source, &source) == nil && filepath.IsLocal(filepath.FromSlash(source)) {
			return filepath.Join(market.Path, filepath.FromSlash(source))
		}
	}
	return dir
}

// pluginHooks are the hooks of a plugin.
func pluginHooks(p plugin) []hook {
	data, err := atomicfile.Read(filepath.Join(p.dir, "hooks", "hooks.json"), maxFile)
	if err != nil {
		return nil
	}
	s, err := parse(data)
	if err != nil {
		return nil
	}
	var hooks []hook
	for _, e := range s.hooks {
		hooks = append(hooks, hook{entry: e, scope: fromPlugin, plugin: p.id, root: p.dir})
	}
	return hooks
}

// wanted is the version of the plugin that this Pawl would install in place of
// the one with these hooks, "" if that is not Pawl's or cannot be told.
func wanted(f Facts, o Options, hooks []hook) string {
	for _, h := range hooks {
		h.argv = h.words(f.root, f.vars)
		if h.event != "SessionStart" || !h.own() || o.PluginVersion == nil {
			continue
		}
		if version, err := o.PluginVersion(h.command, h.args); err == nil {
			return version
		}
	}
	return ""
}

// readJSON reads a file of the client's own. What is not there, or not as
// expected, leaves the value as it is.
func readJSON(path string, into any) {
	if data, err := atomicfile.Read(path, maxFile); err == nil {
		_ = json.Unmarshal(data, into)
	}
}
