package verify

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Rerun runs a gate in the work tree, also if its result is cached, and caches nothing.
func (v *Verifier) Rerun(ctx context.Context, tree string, g gate.Gate, logDir string) (gate.Result, error) {
	return v.run(ctx, g, runTarget{root: v.Root, tree: tree, logDir: logDir, uncached: true}.forGate(g))
}
