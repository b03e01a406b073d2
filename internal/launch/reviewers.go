package launch

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/record"
)

// checkReviewers returns an error if a reviewer other than the loop's agent cannot be
// started.
func checkReviewers(ctx context.Context, spec record.Spec) error {
	for _, a := range otherReviewers(spec) {
		if _, err := installed(ctx, a, ""); err != nil {
			return reviewError(err)
		}
	}
	return nil
}

// reviewError adds what failed.
func reviewError(err error) error { return fmt.Errorf("review cannot be requested: %w", err) }

// checkPrograms repeats these checks for a loop that is resumed.
func (d *Driver) checkPrograms(ctx context.Context, env environment.Environment) error {
	if absent := missingGatePrograms(d.Spec, d.Repo.Root(), env); len(absent) > 0 {
		return absent[0]
	}
	return checkReviewers(ctx, d.Spec)
}
