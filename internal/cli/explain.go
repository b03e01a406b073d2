package cli

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
)

type explainCmd struct {
	loopArg
	Iteration *int `arg:"" optional:"" placeholder:"N" help:"only this iteration, from 1"`
	JSON      bool `name:"json" help:"print a JSON object (docs/reference/explain.schema.json)"`
}

// Run explains a loop, or one iteration of it.
func (c *explainCmd) Run(a *app, s *loopinfo.Loop) error {
	n := 0
	if c.Iteration != nil {
		if n = *c.Iteration; n < 1 || n > s.Memory.State.Iteration {
			return failure.New(failure.Usage, fmt.Sprintf("%s has had %s", s.ID, figure.Count(s.Memory.State.Iteration, "iteration")), "there is no iteration %d", n)
		}
	}
	e := s.Explain(n)
	if c.JSON {
		return a.printJSON(e)
	}
	a.printf("%s  %s\n", s.ID, s.Headline(s.Summary(), time.Now()))
	last := -1
	for _, step := range e.Steps {
		if step.Iteration != last && step.Iteration > 0 {
			a.printf("\niteration %d, %s\n", step.Iteration, narrate.TaskOf(s.Memory.State, step.Task))
		}
		last = step.Iteration
		a.printf("%s", step.Text())
	}
	return nil
}
