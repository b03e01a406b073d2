package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/term"
)

// warnFolder says where something runs, if that is not the current folder, and how a gate
// that was typed runs there.
func (a *app) warnFolder(what, root string, typed []string) {
	dir, err := filepath.EvalSymlinks(a.dir)
	if err != nil {
		return
	}
	here, err := filepath.Rel(root, dir)
	if err != nil || here == "." || !filepath.IsLocal(here) {
		return
	}
	term.Warnf(a.Err, "%s run in %s, the root of the repository, not in %s", what, term.Clean(root), term.Clean(here))
	if len(typed) > 0 {
		there := shell.Quoted([]string{fmt.Sprintf("cd %s && %s", shell.Quoted([]string{filepath.ToSlash(here)}), typed[0])})
		fmt.Fprintf(a.Err, "pawl: hint: --gate %s runs it there\n", term.Clean(there))
	}
}

// warnFromEnv names the variables of another tool that the loop follows.
func (a *app) warnFromEnv(p *launch.Prepared) {
	if len(p.FromEnv) > 0 {
		term.Warnf(a.Err, "from the environment, as ralph-cli has it: %s", term.Clean(strings.Join(p.FromEnv, ", ")))
	}
}
