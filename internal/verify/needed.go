package verify

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// maxBisections bounds the runs that look for the smallest set of changes.
const maxBisections = 6

// needed narrows the changed gate inputs without which the gates do not pass, by
// bisection: of two halves, the one whose changes alone make them pass. Where neither
// does, all that is left is needed.
func (v *Verifier) needed(ctx context.Context, r Request, o *gate.Observation) ([]string, error) {
	if o.OnlyTestsRemoved() {
		return o.RemovedTests, nil
	}
	tree, err := v.originals(ctx, r)
	if err != nil {
		return nil, err
	}
	left := o.ChangedInputs
	for runs := 0; len(left) > 1 && runs < maxBisections; {
		half := len(left) / 2
		found := false
		for _, part := range [][]string{left[:half], left[half:]} {
			runs++
			with, err := v.Repo.Overlay(ctx, tree, r.Tree, part)
			if err != nil {
				return nil, err
			}
			results, err := v.elsewhere(ctx, r.Gates, runTarget{root: v.Root, logDir: r.LogDir, probe: gate.Originals, tree: with})
			if err != nil {
				return nil, err
			}
			if o.PassesLikeNow(results) {
				left, found = part, true
				break
			}
		}
		if !found {
			break
		}
	}
	return left, nil
}
