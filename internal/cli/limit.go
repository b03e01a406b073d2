package cli

import (
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
)

type limitCmd struct {
	unendedArg
	totalLimits
}

// Run changes a loop's limits.
func (c *limitCmd) Run(a *app, s *loopinfo.Loop) error {
	if err := requireUnended(s); err != nil {
		return err
	}
	typed := limitFlags(c.totalLimits)
	if err := typed.check(); err != nil {
		return err
	}
	given := typed.given()
	if given == (loop.Limits{}) {
		return failure.New(failure.Usage, "pawl limit "+s.ID+" --max-iterations 40", "no limit was given; the limits of loop %s: %s", s.ID, limits(s.Memory.State.Policy.Limits))
	}
	a.warnUnknownCost(s.Spec, given)
	if err := a.send(s, record.Message{Kind: record.MessageLimits, Limits: &given}); err != nil {
		return err
	}
	was, now := s.Memory.State, s.Memory.State
	now.Policy.Limits = was.Policy.Limits.With(given)
	a.printf("%s: %s\n", s.ID, narrate.LimitsChanged(was, now))
	if o := now.CurrentLimit(); o != "" {
		a.printf("that limit is already reached: the loop ends before its next turn (%s)\n", o)
	}
	a.printf("%s", deliveryNote(s))
	return nil
}
