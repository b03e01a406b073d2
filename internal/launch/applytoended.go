package launch

import (
	"context"
	"errors"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
)

// ApplyToEnded applies a user's decision to a loop that has ended, and returns the new state.
// No driver runs.
func ApplyToEnded(ctx context.Context, l *store.Loop, env environment.Environment, e loop.Event) (_ loop.State, err error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return loop.State{}, err
	}
	owner, err := l.Own(ctx)
	if err != nil {
		return loop.State{}, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	r := runner.Runner{Loop: l, Owner: owner, Spec: spec, Redact: redact.New(env.Vars), Confinement: runner.Confinement{StateDir: env.PawlHome, HomeDir: env.Home}}
	return r.ApplyToEnded(ctx, e)
}
