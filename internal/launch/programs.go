package launch

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/record"
)

// reviewersThere says which reviewer, of those that are not the loop's own agent,
// cannot be started, or nil.
func reviewersThere(ctx context.Context, spec record.Spec) error {
	for _, a := range strangers(spec) {
		who, err := agentFor(a, "")
		if err == nil {
			_, err = who.Version(ctx)
		}
		if err != nil {
			return unasked(err)
		}
	}
	return nil
}

func unasked(err error) error { return fmt.Errorf("a review cannot be asked for: %w", err) }

// programsThere is the same of a loop that is taken up again: what was there when it
// began may have gone.
func (d *Drive) programsThere(ctx context.Context, env environment.Environment) error {
	if absent := absentGates(d.Spec, d.Repo.Root(), env); len(absent) > 0 {
		return absent[0]
	}
	return reviewersThere(ctx, d.Spec)
}
