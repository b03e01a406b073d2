package launch

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/verify"
)

// refuseAbsent says which gate begins with a program that is not there, or nil: such
// a gate can never tell, and the loop would end before its first turn, or after a
// night.
func refuseAbsent(spec record.Spec, root string, env environment.Environment) error {
	vars := verify.Environment(env.Vars, spec.GateEnv)
	for _, g := range gate.Commands(spec.Gates) {
		if program := verify.Absent(g, root, vars, len(spec.Setup) > 0); program != "" {
			return failure.New(failure.Usage, "put the program where the gate finds it (PATH, or the path that it names), or mend the gate's command",
				"gate %q cannot be run: there is no program %s", g.Name, program)
		}
	}
	return nil
}

// ReviewersThere says which reviewer cannot be started, or nil.
func (p *Prepared) ReviewersThere(ctx context.Context) error { return reviewersThere(ctx, p.Spec) }

// reviewersThere says which reviewer, of those that are not the loop's own agent,
// cannot be started, or nil.
func reviewersThere(ctx context.Context, spec record.Spec) error {
	for _, a := range strangers(spec) {
		who, err := agentFor(a, "")
		if err == nil {
			_, err = who.Version(ctx)
		}
		if err != nil {
			return fmt.Errorf("a review cannot be asked for: %w", err)
		}
	}
	return nil
}

// programsThere is the same of a loop that is taken up again: what was there when it
// began may have gone.
func (d *Drive) programsThere(ctx context.Context, env environment.Environment) error {
	if err := refuseAbsent(d.Spec, d.Repo.Root(), env); err != nil {
		return err
	}
	return reviewersThere(ctx, d.Spec)
}
