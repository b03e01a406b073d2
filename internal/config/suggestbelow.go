package config

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Below is a project in a folder of a repository, as in a monorepo.
type Below struct {
	Dir     string // from the root, slashes
	Command string // runs its tests, from the root
}

// Bounds of the search for projects below the root.
const (
	belowDepth = 2   // packages/app
	belowMost  = 300 // folders that are read
)

// SuggestBelow lists the projects below root, with the likeliest command of each, in the
// order of their folders. A project in another one is a part of that.
func SuggestBelow(root string) []Below {
	var out []Below
	read := 0
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil { // what cannot be read implies nothing
			return
		}
		for _, e := range entries {
			if !e.IsDir() || !mayHoldProject(e.Name()) || read >= belowMost {
				continue
			}
			read++
			at := path.Join(dir, e.Name())
			if found := suggestAt(filepath.Join(root, filepath.FromSlash(at))); len(found) > 0 {
				out = append(out, Below{Dir: at, Command: shell.QuoteCommand([]string{"cd", at}) + " && " + found[0]})
			} else if depth < belowDepth {
				look(at, depth+1)
			}
		}
	}
	look("", 1)
	return out
}

// mayHoldProject reports whether a folder of that name may hold a project of the user's.
func mayHoldProject(name string) bool {
	foreign := []string{"node_modules", "vendor", "third_party", "testdata", "venv", "dist", "build", "target"}
	return !strings.HasPrefix(name, ".") && !slices.Contains(foreign, name)
}
