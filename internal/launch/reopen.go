package launch

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// Reopen lets a loop that lived in a session, and ended with something left to
// do, go on in this one: what was set aside is open again, and each limit begins
// anew.
func Reopen(ctx context.Context, l *store.Loop, env environment.Environment, o Opening) (_ *Attended, err error) {
	kept, err := l.Spec()
	if err != nil {
		return nil, err
	}
	a := &Attended{Loop: l}
	if a.Spec, err = record.Asked(kept); err != nil {
		return nil, err
	}
	m, _, err := record.Remember(l)
	if err != nil {
		return nil, err
	}
	if !reopens(m) {
		return nil, failure.New(failure.Usage, "begin another with  pawl start", "loop %s has ended: %s", l.ID, m.State.Outcome)
	}
	p := &Prepared{Home: env.PawlHome, Spec: a.Spec, root: kept.Root, env: env}
	if p.Before, err = before(ctx, store.Open(p.Home), p); err != nil {
		return nil, err
	}
	if err := p.refuseBeside(o.Inside); err != nil {
		return nil, err
	}
	d, err := Rejoin(ctx, l, env, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	d.Observer = o.Observer
	if err := d.onBranch(ctx); err != nil {
		return nil, err
	}
	if err := d.leaveSession(ctx, m.Bound.Session, o.Inside); err != nil {
		return nil, err
	}
	if err := d.reopen(ctx, cmp.Or(m.Base.Commit, a.Spec.From)); err != nil {
		return nil, err
	}
	if err := a.firstTurn(ctx, d, o.Patience); err != nil {
		return nil, d.abandon(beforeTurn(ctx, err))
	}
	if a.Memory.State.Phase == loop.Ended {
		return a, nil
	}
	return a, a.bind(ctx, p, o.Inside, d.Owner.Epoch())
}

// reopens tells whether a loop has ended with something left to do.
func reopens(m record.Memory) bool {
	left := slices.ContainsFunc(m.State.Tasks, func(t loop.Task) bool { return t.Status != loop.Done })
	return m.State.Phase == loop.Ended && left
}

// RefuseResume says which other loop lives in a session in the work tree of this
// one, or nil: they would work over one another.
func RefuseResume(ctx context.Context, l *store.Loop, env environment.Environment) error {
	kept, err := l.Spec()
	if err != nil {
		return err
	}
	p := &Prepared{Home: env.PawlHome, root: kept.Root, loop: l.ID}
	if p.Spec, err = record.Asked(kept); err != nil || p.Spec.OwnTree {
		return err
	}
	b, err := before(ctx, store.Open(p.Home), p)
	if err != nil || b.Attended == "" {
		return err
	}
	return failure.New(failure.Usage, b.sessionHint(), "loop %s %s", b.Attended, b.sessionWords())
}
