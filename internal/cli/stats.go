package cli

import (
	"cmp"
	"time"

	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/term"
)

type statsCmd struct {
	Since string `placeholder:"WHEN" help:"loops that started since: yesterday, today, 12h, 3d or 2026-01-31; default: all"`
	JSON  bool   `name:"json" help:"print a JSON object (docs/reference/stats.schema.json)"`
}

// Run prints statistics of all loops, read from their journals.
func (c *statsCmd) Run(a *app) error {
	var since time.Time
	if c.Since != "" {
		var err error
		if since, err = parseSince(c.Since, time.Now()); err != nil {
			return err
		}
	}
	listed, err := a.listed()
	if err != nil {
		return err
	}
	var loops []report.StatLoop
	for _, l := range listed {
		if l.Summary.StartedAt.IsZero() || l.Summary.StartedAt.Before(since) {
			continue
		}
		spec, m, err := record.Read(l.Loop)
		if err != nil {
			term.Warnf(a.Err, "%s", err)
			continue
		}
		if spec.Agent.Name == scriptedAgent { // its costs are made up
			continue
		}
		loops = append(loops, report.StatLoop{Agent: spec.Agent.Name, Model: cmp.Or(m.Session.Model, spec.Agent.Model), Root: l.Summary.Root, State: m.State})
	}
	stats := report.Count(since, loops)
	if c.JSON {
		return a.printJSON(stats)
	}
	a.print(stats.Text())
	return nil
}
