package config

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Subproject is a project in a folder of a repository, such as a monorepo.
type Subproject struct {
	Dir     string // relative to the root, with slashes
	Command string // runs the project's tests from the root
}

// Limits of the search for projects below the root.
const (
	maxProjectDepth = 2   // maximum depth of a folder, such as packages/app
	maxFoldersRead  = 300 // maximum number of folders to read
)

// Subprojects returns the projects below root with their likeliest test command, in the order of
// their folders. It does not search inside a project for further ones.
func Subprojects(root string) []Subproject {
	var out []Subproject
	read := 0
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil { // an unreadable folder has no suggestions
			return
		}
		for _, e := range entries {
			if !e.IsDir() || !mayHoldProject(e.Name()) || read >= maxFoldersRead {
				continue
			}
			read++
			at := path.Join(dir, e.Name())
			if found := suggestAt(filepath.Join(root, filepath.FromSlash(at))); len(found) > 0 {
				out = append(out, Subproject{Dir: at, Command: shell.QuoteCommand([]string{"cd", at}) + " && " + found[0]})
			} else if depth < maxProjectDepth {
				look(at, depth+1)
			}
		}
	}
	look("", 1)
	return out
}

// mayHoldProject reports whether a folder with this name may contain a project of the user.
// Hidden folders, dependencies and build output do not.
func mayHoldProject(name string) bool {
	foreign := []string{"node_modules", "vendor", "third_party", "testdata", "venv", "dist", "build", "target"}
	return !strings.HasPrefix(name, ".") && !slices.Contains(foreign, name)
}
