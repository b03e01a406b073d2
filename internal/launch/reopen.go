package launch

import (
	"cmp"
	"context"
	"errors"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
)

// ReopenInSession continues a loop that ended in a session with work left. Skipped tasks are open
// again.
func ReopenInSession(ctx context.Context, l *store.Loop, env environment.Environment, o SessionOptions) (_ *SessionLoop, err error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	a, p := &SessionLoop{Loop: l, Spec: spec}, prepareExisting(spec, env)
	m, err := p.checkReopen(ctx, l, o)
	if err != nil {
		return nil, err
	}
	d, err := Rejoin(ctx, l, env, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if m, err = p.checkReopen(ctx, l, o); err != nil { // another process may have changed the loop
		return nil, err
	}
	d.Observer, d.NewLimits = o.Observer, o.NewLimits
	if err := d.changeSession(ctx, m.Bound.Session, o.Session); err != nil {
		return nil, err
	}
	if err := d.prepareReopen(ctx, cmp.Or(m.Base.Commit, a.Spec.StartCommit), m.State.CommitPending()); err != nil {
		return nil, err
	}
	if err := a.runToFirstTurn(ctx, d, o.GateTimeout); err != nil {
		return nil, d.abandon(explainCancel(ctx, err))
	}
	return a, a.bind(ctx, p, o.Session, d.Owner.Epoch())
}

// prepareExisting returns an existing loop as Prepared, to check what prevents it from continuing.
func prepareExisting(spec record.Spec, env environment.Environment) *Prepared {
	return &Prepared{Home: env.PawlHome, Spec: spec, loop: spec.ID, root: spec.Root, env: env}
}

// checkReopen returns the loop's memory, or why it cannot continue in this session.
func (p *Prepared) checkReopen(ctx context.Context, l *store.Loop, o SessionOptions) (memory.Memory, error) {
	m, err := LoadResumable(l)
	if err != nil {
		return m, err
	}
	if err := checkResumable(l, m, o.NewLimits); err != nil {
		return m, err
	}
	if err := checkBranch(ctx, l, p.Spec.Repository); err != nil {
		return m, err
	}
	return m, p.refuseConflicts(ctx, o.Session)
}

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
