package verify

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// checks is the name of a script that checks.
var checks = regex.New(`(?i)(?:^|[/._-])(?:checks?|checker|verify|validate|lint|ci|gates?|smoke|e2e|acceptance|selftest)(?:[._-][^/]*)?\.\w+$`)

// interpreters run scripts of other languages than a shell's, which are as often what is
// checked.
const interpreters = "python python3 node bun tsx ts-node ruby perl php lua Rscript"

// checksOf are the files that gates have an interpreter run with nothing to work on, and
// whose names say that they check.
func checksOf(gates []gate.Gate, root string) []string {
	steps, _ := testreport.Reach(gates, testreport.FilesIn(root))
	var found []string
	for _, s := range steps {
		if len(s.Words) != 2 || !slices.Contains(strings.Fields(interpreters), path.Base(s.Words[0])) || !checks.MatchString(s.Words[1]) {
			continue
		}
		file := path.Join(s.Dir, s.Words[1])
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file))); err == nil && info.Mode().IsRegular() && filepath.IsLocal(file) {
			found = append(found, file)
		}
	}
	return found
}
