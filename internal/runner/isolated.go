package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// firstBaseline records ignored files and checks isolated checkouts after the gates have run
// before the first turn.
func (r *Runner) firstBaseline(ctx context.Context, m memory.ActionContext, dir string) error {
	if !m.BeforeFirstTurn || m.Verify {
		return nil
	}
	if err := r.Verify.RecordIgnored(ctx); err != nil {
		return err
	}
	return r.warnIrreproducible(ctx, m, dir)
}

// warnIrreproducible warns of gates whose result differs in an isolated checkout: they cannot
// prove work.
func (r *Runner) warnIrreproducible(ctx context.Context, m memory.ActionContext, dir string) error {
	gates, err := r.Verify.CheckIsolation(ctx, m.Start.Tree, gate.Due(r.Spec.Gates, gate.Fast), dir)
	if ctx.Err() != nil {
		return fmt.Errorf("check whether the isolated checkout works: %w", ctx.Err())
	}
	if err != nil {
		r.enqueueNote(ctx, loop.Warning, "unknown whether an isolated checkout works: "+err.Error())
		return nil //nolint:nilerr // it is told, and the loop continues
	}
	if len(gates) == 0 {
		return nil
	}
	var lines []string
	for _, u := range gates {
		lines = append(lines, u.Gate+": "+u.Why)
	}
	r.enqueueNote(ctx, loop.Warning, "these gates give another result in an isolated checkout than here, so they prove nothing there, and tasks may end as unknown: "+strings.Join(lines, "; ")+". "+gates[0].Remedy)
	return nil
}
