package cli

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
)

type statusCmd struct {
	loopArg
	JSON bool `name:"json" help:"print a JSON object (docs/reference/status.schema.json)"`
}

// Run prints the state of a loop.
func (c *statusCmd) Run(ctx context.Context, a *app, s *loopinfo.Loop) error {
	if c.JSON {
		sum := s.Summary()
		return a.printJSON(record.NewStatus(sum, s.Memory.State, s.Doing(sum, time.Now())))
	}
	a.printf("%s", s.Status(ctx, time.Now()))
	if c.Loop != "" && c.Loop != "." {
		return nil
	}
	here, err := a.loopsHere()
	if err != nil {
		return err
	}
	var others []string
	for _, sum := range here {
		if sum.ID != s.ID && sum.State != "ended" {
			others = append(others, sum.ID+" ("+loopinfo.StateOrOutcome(sum)+")")
		}
	}
	if len(others) > 0 {
		a.printf("  %-8s  %s: pawl list shows all\n", "others", plan.Few(others, 4))
	}
	return nil
}
