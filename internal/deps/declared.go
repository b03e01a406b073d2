package deps

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// What of a manifest decides what an installer puts into a folder of the project.
const (
	packageMembers = `name dependencies devDependencies optionalDependencies peerDependencies bundleDependencies bundledDependencies
		workspaces overrides resolutions pnpm packageManager`
	projectTables  = `build-system dependency-groups`
	projectMembers = `name dependencies optional-dependencies requires-python dynamic scripts gui-scripts entry-points`
	packagers      = `poetry uv pdm hatch rye flit setuptools maturin pixi setuptools_scm`
)

// Declared returns the part of a manifest that decides what is installed, in one form however it is
// written: two versions that differ in scripts or a runner's settings have the same. It is
// the whole file where that is not known.
func Declared(file string, content []byte) []byte {
	var all map[string]any
	kept := map[string]any{}
	keep := func(from map[string]any, names string) {
		for name, value := range from {
			if slices.Contains(strings.Fields(names), name) {
				kept[name] = value
			}
		}
	}
	switch path.Base(file) {
	case "package.json":
		if json.Unmarshal(content, &all) != nil {
			return content
		}
		keep(all, packageMembers)
	case "pyproject.toml":
		if toml.Unmarshal(content, &all) != nil {
			return content
		}
		tool, _ := all["tool"].(map[string]any)
		keep(tool, packagers)
		project, _ := all["project"].(map[string]any)
		keep(project, projectMembers)
		keep(all, projectTables)
	default:
		return content
	}
	out, err := json.Marshal(kept)
	if err != nil {
		return content
	}
	return out
}
