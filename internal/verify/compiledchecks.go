package verify

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// compiledChecks returns the patterns with a check's name by which the Makefiles of gates find the sources of
// their checks: $(wildcard check_*.c).
func compiledChecks(gates []gate.Gate, steps []testrun.Step, root string) (globs []string) {
	dirs := []string{""}
	for _, g := range gates {
		dirs = append(dirs, filepath.ToSlash(g.Dir))
	}
	for _, s := range steps {
		dirs = append(dirs, s.Dir)
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
			text, err := testreport.FilesIn(root)(path.Join(dir, name))
			if err != nil {
				continue
			}
			for _, m := range wildcard.FindAllSubmatch(text, -1) {
				if glob := path.Join(dir, string(m[1])); checkName.MatchString(glob) && filepath.IsLocal(filepath.FromSlash(glob)) && !slices.Contains(globs, glob) {
					globs = append(globs, glob)
				}
			}
			break
		}
	}
	return globs
}

// wildcard matches a pattern of sources in a Makefile.
var wildcard = regex.New(`\$\(wildcard\s+([\w./-]*\*[\w.-]*\.(?:c|cc|cpp|cxx))\s*\)`)
