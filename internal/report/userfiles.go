package report

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// userCommit prints the commit of the user's changes from before the loop.
func (p *page) userCommit() {
	if c := p.UserCommit; c != "" {
		p.line("yours", "commit %s has your earlier uncommitted changes; git cherry-pick -n %[1]s takes it to another branch", c[:min(len(c), 7)])
	}
}

// uncommittedFiles lists files that are in no commit: the agent's, and new ones of others.
func (p *page) uncommittedFiles() {
	p.list("uncommitted", "%s: the branch lacks it", 300, p.Uncommitted...)
	if n := len(p.LeftInCheckout); n > 0 && p.State.Phase == loop.Ended {
		p.line("uncommitted", "%s: no commit has it; look for it in your checkout", plan.Few(p.LeftInCheckout, 5))
	}
	if p.Unsigned != "" {
		p.line("unsigned", "%s", p.Unsigned)
	}
	if len(p.UserFiles) > 0 {
		p.line("left alone", "%s (not the agent's, not in the loop's commits)", plan.OneLine(strings.Join(p.UserFiles, ", "), 300))
	}
}
