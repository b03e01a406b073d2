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

// checkName matches the names of scripts that check something.
var checkName = regex.New(`(?i)(?:^|[/._-])(?:checks?|checker|verify|validate|lint|ci|gates?|smoke|e2e|acceptance|selftest)(?:[._-][^/]*)?\.\w+$`)

// interpreters run scripts. Shells are omitted: their scripts are as often what is tested.
const interpreters = "python python3 node bun tsx ts-node ruby perl php lua Rscript"

// checkScripts returns the files with a check's name that gates run by an interpreter without
// arguments.
func checkScripts(gates []gate.Gate, root string) []string {
	steps, _ := testreport.Reach(gates, testreport.FilesIn(root))
	var found []string
	for _, s := range steps {
		if len(s.Words) != 2 || !slices.Contains(strings.Fields(interpreters), path.Base(s.Words[0])) || !checkName.MatchString(s.Words[1]) {
			continue
		}
		file := path.Join(s.Dir, s.Words[1])
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file))); err == nil && info.Mode().IsRegular() && filepath.IsLocal(file) {
			found = append(found, file)
		}
	}
	return found
}
