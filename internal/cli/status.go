package cli

import (
	"context"
	"time"

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
	return nil
}
