package cli

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/term"
)

// warnMissing names the dependencies that gates need and that are not installed.
func (a *app) warnMissing(p *launch.Prepared) {
	for _, m := range p.Missing() {
		term.Warnf(a.Err, "%s", m)
		hint := m.Command + " installs it"
		if p.Spec.OwnWorktree {
			hint = fmt.Sprintf("%s installs it here, and the loop's worktree gets a copy; %s installs it there", m.Command, m.Setup())
		}
		fmt.Fprintf(a.Err, "pawl: hint: %s\n", term.Clean(hint))
	}
}
