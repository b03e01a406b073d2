package verify

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// maxBisections bounds the runs for the smallest set of changes.
const maxBisections = 6

// findNeededInputs bisects the changed gate inputs: it keeps the half whose changes suffice. If
// neither half does, all that is left is needed.
func (c *claim) findNeededInputs(ctx context.Context) ([]string, error) {
	if c.o.OnlyTestsRemoved() {
		return c.o.RemovedTests, nil
	}
	tree, err := c.originals(ctx)
	if err != nil {
		return nil, err
	}
	left := c.o.ChangedInputs
	for runs := 0; len(left) > 1 && runs < maxBisections; {
		half := len(left) / 2
		found := false
		for _, part := range [][]string{left[:half], left[half:]} {
			runs++
			with, err := c.Repo.Overlay(ctx, tree, c.Tree, part)
			if err != nil {
				return nil, err
			}
			results, err := c.runInCheckout(ctx, c.Gates, runTarget{root: c.Root, logDir: c.LogDir, probe: gate.Originals, tree: with})
			if err != nil {
				return nil, err
			}
			if c.o.PassesLikeNow(results) {
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
