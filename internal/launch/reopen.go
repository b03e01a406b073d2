package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// Reopen lets a loop that lived in a session, and ended with something left to
// do, go on in this one: what was skipped is open again.
func Reopen(ctx context.Context, l *store.Loop, env environment.Environment, o Opening) (_ *Attended, err error) {
	kept, err := l.Spec()
	if err != nil {
		return nil, err
	}
	a := &Attended{Loop: l}
	if a.Spec, err = record.DecodeSpec(kept); err != nil {
		return nil, err
	}
	p := &Prepared{Home: env.PawlHome, Spec: a.Spec, loop: l.ID, root: kept.Root, env: env}
	m, err := p.reopenable(ctx, l, o)
	if err != nil {
		return nil, err
	}
	d, err := Rejoin(ctx, l, env, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if m, err = p.reopenable(ctx, l, o); err != nil { // another may have been sooner
		return nil, err
	}
	d.Observer, d.More = o.Observer, o.More
	if err := d.leaveSession(ctx, m.Bound.Session, o.Inside); err != nil {
		return nil, err
	}
	if err := d.reopen(ctx, cmp.Or(m.Base.Commit, a.Spec.StartCommit), m.State.OwesCommit()); err != nil {
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
func (p *Prepared) reopenable(ctx context.Context, l *store.Loop, o Opening) (record.Memory, error) {
	m, _, err := record.Load(l)
	if err != nil {
		return m, fmt.Errorf("read loop %s: %w", l.ID, err)
	}
	if err := over(l, m, o.More); err != nil {
		return m, err
	}
	if err := onBranch(ctx, l, p.Spec); err != nil {
		return m, err
	}
	if p.Before, err = before(ctx, store.Open(p.Home), p); err != nil {
		return m, err
	}
	return m, p.refuseBeside(o.Inside)
}

// Again says how a loop is taken up.
type Again struct {
	More loop.Limits             // of one that has ended: each counts from where it stands (below 0 it is none); what is 0 remains as it was
	May  func(epoch int64) error // what speaks against it, see store.Loop.OwnIf; may be nil
}

// over says why a loop does not go on after its end, or nil: it has been taken up
// again, it has nothing left to do, or a limit leaves it no turn.
func over(l *store.Loop, m record.Memory, given loop.Limits) error {
	if m.State.Phase != loop.Ended {
		return failure.New(failure.Usage, "pawl status "+l.ID+" shows it", "loop %s has been taken up again already", l.ID)
	}
	if !m.State.Left() {
		return failure.New(failure.Usage, "pawl report "+l.ID+" shows what came of it", "loop %s has ended %s, with nothing left to do", l.ID, m.State.Outcome)
	}
	if limit := m.State.Spent(given); limit != "" && !m.State.OwesCommit() { // a commit takes no turn
		return failure.New(failure.Usage, fmt.Sprintf("pawl resume %s %s  gives it more", l.ID, MoreFlag(m.State)),
			"loop %s has used up its limit (%s)", l.ID, limit)
	}
	return nil
}

// MoreFlag is what to type, behind pawl resume, so that a loop that has used up a
// limit can go on; "" for one that has not.
func MoreFlag(s loop.State) string {
	switch l := s.Policy.Limits; s.Spent(loop.Limits{}) {
	case loop.Iterations:
		return "--max-iterations 10"
	case loop.Duration:
		return "--max-duration 2h"
	case loop.Budget:
		if l.CostUSD > 0 && s.Usage.CostUSD >= l.CostUSD {
			return "--max-cost 5"
		}
		return "--max-tokens 1000000"
	}
	return ""
}

// RefuseResume says which other loop lives in a session in the work tree of this
// one, or nil: they would work over one another.
func RefuseResume(ctx context.Context, l *store.Loop, env environment.Environment) error {
	kept, err := l.Spec()
	if err != nil {
		return err
	}
	p := &Prepared{Home: env.PawlHome, root: kept.Root, loop: l.ID}
	if p.Spec, err = record.DecodeSpec(kept); err != nil || p.Spec.OwnWorktree {
		return err
	}
	b, err := before(ctx, store.Open(p.Home), p)
	if err != nil || b.Attended == "" {
		return err
	}
	return failure.New(failure.Usage, b.sessionHint(), "loop %s %s", b.Attended, b.sessionWords())
}
