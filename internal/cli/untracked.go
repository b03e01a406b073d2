package cli

import (
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/term"
)

// warnUntracked names untracked files that look like work. The loop's commits will not contain them.
func (a *app) warnUntracked(p *launch.Prepared) {
	files := p.UntrackedWork()
	if len(files) == 0 {
		return
	}
	const most = 5
	add := files
	if len(files) > most {
		add = []string{"FILE…"}
	}
	term.Warnf(a.Err, "git does not track %s: the loop does not commit %s, and its commits may fail the gates without %[2]s",
		term.Clean(plan.Few(files, most)), figure.Verb(len(files), "it", "them"))
	term.Hintf(a.Err, "to include them: git add %s && git commit; to exclude them, list them in .gitignore", term.Clean(shell.QuoteCommand(add)))
}
