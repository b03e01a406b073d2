// Package deps finds the folders into which package managers install a project's
// dependencies (node_modules, a virtual environment): which of them are missing, which
// command installs them, and how to copy them into another checkout (copy.go).
package deps

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// IsFolder reports whether package managers install into folders of that name.
func IsFolder(name string) bool {
	return slices.Contains([]string{"node_modules", ".venv", "venv", "vendor", "bower_components"}, name)
}

// Missing is a folder of dependencies that a gate needs and that is not there.
type Missing struct {
	Folder  string `json:"folder"`  // node_modules, relative to the root
	Gate    string `json:"gate"`    // name of the gate that needs it
	Command string `json:"command"` // what installs it, in the root
}

// String returns what is missing and what that means.
func (m Missing) String() string {
	return fmt.Sprintf("%s is not installed: gate %q needs it", m.Folder, m.Gate)
}

// Setup is the setting that has fresh checkouts install the same.
func (m Missing) Setup() string { return Setup(m.Command) }

// Setup is the setting that runs a command in each fresh checkout.
func Setup(command string) string {
	return fmt.Sprintf("[worktree] setup = [%q] in pawl.toml", command)
}

// Submodules is the command that checks out the submodules of the project at root, or "" without
// any. A fresh checkout has none of them.
func Submodules(root string) string {
	if !isThere(root, ".gitmodules") {
		return ""
	}
	return "git submodule update --init --recursive"
}

// Find names what gates need of a project's dependencies and the project at root has
// not installed. A gate that installs them itself, or whose command does not show
// that it uses them, needs nothing.
func Find(root string, gates []gate.Gate) []Missing {
	var all []Missing
	for _, g := range gate.Commands(gates) {
		folder := needs(root, g)
		known := slices.ContainsFunc(all, func(m Missing) bool { return m.Folder == folder })
		if folder != "" && !known {
			all = append(all, Missing{Folder: folder, Gate: g.Name, Command: Command(root, folder)})
		}
	}
	return all
}

// installers are programs that install dependencies by the word behind their name.
var installers = []string{"npm", "pnpm", "yarn", "bun", "uv", "pip", "pip3", "poetry", "bundle", "composer"}

// Installs reports whether a gate's command installs what the project depends on itself.
func Installs(g gate.Gate) bool {
	before := ""
	for _, w := range Words(g) {
		if installs(before, w) {
			return true
		}
		before = w
	}
	return false
}

func installs(before, w string) bool {
	return slices.Contains(installers, before) && slices.Contains([]string{"ci", "install", "i", "sync"}, w)
}

// Words are the words of a gate's command, without what a shell puts between them.
func Words(g gate.Gate) []string {
	return strings.FieldsFunc(strings.Join(append(slices.Clone(g.Argv), g.Command), " "), func(r rune) bool {
		return strings.ContainsRune(" \t\n;&|()\"'=", r)
	})
}

// needs is the missing folder that a gate's command leads to, "" for none.
func needs(root string, g gate.Gate) string {
	if Installs(g) {
		return ""
	}
	node := false
	for _, w := range Words(g) {
		switch first, _, below := strings.Cut(strings.TrimPrefix(w, "./"), "/"); {
		case below && IsFolder(first) && first != "vendor" && !isThere(root, path.Join(g.Dir, first)):
			return path.Join(g.Dir, first)
		case slices.Contains([]string{"npm", "npx", "pnpm", "yarn", "bun", "bunx"}, w):
			node = true
		}
	}
	if !node {
		return ""
	}
	// Node looks in the folders above, too.
	found := ""
	for dir := path.Clean(g.Dir); ; dir = path.Dir(dir) {
		if isThere(root, path.Join(dir, "node_modules")) || isThere(root, path.Join(dir, ".pnp.cjs")) {
			return ""
		}
		if found == "" && hasDependencies(filepath.Join(root, filepath.FromSlash(dir), "package.json")) {
			found = path.Join(dir, "node_modules")
		}
		if dir == "." || dir == "/" {
			return found
		}
	}
}

func isThere(root, name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

const maxManifest = 4 << 20

// hasDependencies reports whether a package.json names something to install, or one of its
// workspaces does.
func hasDependencies(file string) bool {
	var m struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
		Workspaces      json.RawMessage   `json:"workspaces"`
	}
	data, err := atomicfile.Read(file, maxManifest)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return false
	}
	return len(m.Dependencies)+len(m.DevDependencies) > 0 || slices.ContainsFunc(workspaces(filepath.Dir(file), m.Workspaces), hasDependencies)
}

// workspaces returns the package.json files below dir that a list of workspaces names; Yarn
// also knows an object with the list.
func workspaces(dir string, list json.RawMessage) (files []string) {
	var globs []string
	var object struct {
		Packages []string `json:"packages"`
	}
	if json.Unmarshal(list, &globs) != nil && json.Unmarshal(list, &object) == nil {
		globs = object.Packages
	}
	for _, g := range globs {
		found, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(g), "package.json")) // a bad pattern names none
		files = append(files, slices.DeleteFunc(found, func(file string) bool { return filepath.Dir(file) == filepath.Clean(dir) })...)
	}
	return files
}

// Command returns the command that installs a folder of the project at root, to be run there.
func Command(root, folder string) string {
	command, _ := LockedCommand(root, folder)
	return command
}

// HasManifest reports whether the project at root may declare dependencies that are installed in
// folders of it.
func HasManifest(root string) bool {
	return slices.ContainsFunc([]string{"package.json", "pyproject.toml", "requirements.txt", "composer.json"}, func(name string) bool { return isThere(root, name) })
}

// LockedCommand returns the command that installs a folder of the project at root, to be run there. It
// returns true if a lock file there says which versions.
func LockedCommand(root, folder string) (command string, locked bool) {
	dir, base := path.Split(folder)
	command, locked = installer(filepath.Join(root, filepath.FromSlash(dir)), base)
	if dir != "" {
		command = "cd " + strings.TrimSuffix(dir, "/") + " && " + command
	}
	return command, locked
}

// installer returns the command by the lock file in dir, and whether there is one.
func installer(dir, folder string) (command string, locked bool) {
	by := func(files ...[2]string) (string, bool) {
		for _, f := range files {
			if f[0] == "" || isThere(dir, f[0]) {
				return f[1], f[0] != ""
			}
		}
		return "", false
	}
	switch folder {
	case "node_modules":
		yarn, _ := by([2]string{".yarnrc.yml", "yarn install --immutable"}, [2]string{"", "yarn install --frozen-lockfile"})
		const bun = "bun install --frozen-lockfile"
		return by([2]string{"package-lock.json", "npm ci"}, [2]string{"npm-shrinkwrap.json", "npm ci"},
			[2]string{"pnpm-lock.yaml", "pnpm install --frozen-lockfile"}, [2]string{"yarn.lock", yarn},
			[2]string{"bun.lock", bun}, [2]string{"bun.lockb", bun}, [2]string{"", "npm install"})
	case ".venv", "venv":
		pip := "python3 -m venv " + folder + " && " + folder + "/bin/pip install "
		return by([2]string{"uv.lock", "uv sync"}, [2]string{"poetry.lock", "poetry install"},
			[2]string{"requirements-dev.txt", pip + "-r requirements-dev.txt"}, [2]string{"requirements.txt", pip + "-r requirements.txt"},
			[2]string{"", pip + "-e ."})
	case "bower_components":
		return "bower install", false
	}
	return by([2]string{"composer.json", "composer install"}, [2]string{"go.mod", "go mod vendor"}, [2]string{"", "bundle install"})
}
