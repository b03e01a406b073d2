package cli

import (
	"time"

	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

type reportCmd struct {
	loopArg
}

func (reportCmd) Help() string {
	return `  pawl report
  pawl report brisk-otter`
}

// Run prints the page.
func (c *reportCmd) Run(a *app) error {
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	return report.Text(a.Out, report.Loop{
		ID: s.ID, Goal: s.spec.Goal(), Word: s.summary().State, Branch: s.spec.Branch, From: startOf(s),
		State: s.memory.State, Gates: s.memory.Results, Waits: report.Waits(events(s.Records(journal.Mark{}))), Now: time.Now(),
		Said: report.Words(events(s.Records(journal.Mark{}))), Denied: s.memory.Guarded.Denied,
	})
}

// startOf is what the loop's branch is compared with: the default branch, or the
// commit it started from where the commits went to the default branch itself.
func startOf(s *subject) string {
	if s.spec.Home != "" && s.spec.Home != s.spec.Branch {
		return s.spec.Home
	}
	return s.spec.From[:min(len(s.spec.From), 9)]
}
