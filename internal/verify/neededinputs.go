package verify

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// maxBisections bounds the runs for the smallest set of changes.
const maxBisections = 6

// findNeededInputs bisects the changed gate inputs: it keeps the half whose changes suffice. If
// neither half does, all that is left is needed.
func (v *Verifier) findNeededInputs(ctx context.Context, r Request, o *gate.Observation) ([]string, error) {
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
			results, err := v.runInCheckout(ctx, r.Gates, runTarget{root: v.Root, logDir: r.LogDir, probe: gate.Originals, tree: with})
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
