package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	p := &Prepared{Home: env.PawlHome, Spec: a.Spec, loop: l.ID, root: kept.Root, env: env}
	m, err := p.reopenable(ctx, l, o.Inside)
	if err != nil {
		return nil, err
	}
	d, err := Rejoin(ctx, l, env, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if m, err = p.reopenable(ctx, l, o.Inside); err != nil { // another may have been sooner
		return nil, err
	}
	d.Observer = o.Observer
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

// reopenable says why a loop cannot go on in this session after its end, or gives
// what it remembers.
func (p *Prepared) reopenable(ctx context.Context, l *store.Loop, in Inside) (record.Memory, error) {
	m, _, err := record.Remember(l)
	if err != nil {
		return m, fmt.Errorf("read loop %s: %w", l.ID, err)
	}
	if !reopens(m) {
		return m, over(l, m)
	}
	if err := onBranch(ctx, l, p.Spec); err != nil {
		return m, err
	}
	if p.Before, err = before(ctx, store.Open(p.Home), p); err != nil {
		return m, err
	}
	return m, p.refuseBeside(in)
}

// over says that a loop has nothing left to do, or has been taken up again.
func over(l *store.Loop, m record.Memory) error {
	if m.State.Phase != loop.Ended {
		return failure.New(failure.Usage, "pawl status "+l.ID+" shows it", "loop %s has been taken up again already", l.ID)
	}
	return failure.New(failure.Usage, "pawl report "+l.ID+" shows what came of it", "loop %s has ended %s, with nothing left to do", l.ID, m.State.Outcome)
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
