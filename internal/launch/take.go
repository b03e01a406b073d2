package launch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// TakeIntoSession moves a loop into a session: from a runner that has released it (after a
// record.MessageToSession), from a runner that is gone, or from a closed session. A loop that has
// ended is reopened. The preconditions are checked again while no other process can acquire the loop.
func TakeIntoSession(ctx context.Context, l *store.Loop, env environment.Environment, o SessionOptions) (_ *SessionLoop, err error) {
	var m memory.Memory
	var p *Prepared
	check := func() (err error) {
		if m, err = LoadResumable(l); err != nil {
			return err
		}
		p, err = checkTake(ctx, l, m, env, o.Session)
		return err
	}
	if err := check(); err != nil {
		return nil, err
	}
	if m.State.Phase == loop.Ended {
		return ReopenInSession(ctx, l, env, o)
	}
	d, err := acquireInSession(ctx, l, env, func(ctx context.Context) (*store.Owner, error) {
		return acquireWithin(ctx, takeLockTimeout, func() (*store.Owner, error) {
			return l.OwnIf(ctx, func(int64) error {
				if err := check(); err != nil || m.State.Phase != loop.Ended {
					return err
				}
				return failure.New(failure.Usage, "pawl report "+l.ID, "loop %s has ended meanwhile: %s", l.ID, m.State.Outcome)
			})
		})
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.changeSession(ctx, m.Bound.Session, o.Session); err != nil {
		return nil, err
	}
	if m.State.Phase == loop.Paused || m.State.Pause { // taking a loop also resumes it
		if err := l.Post("taken-"+strconv.FormatInt(d.Owner.Epoch(), 10), record.Message{Kind: record.MessageResume}); err != nil {
			return nil, err
		}
	}
	d.Observer = o.Observer
	d.FirstEvent = loop.Event{Payload: loop.HandedOver{To: loop.OwnerSession, Why: "a user moves it into their session"}}
	a := &SessionLoop{Loop: l, Spec: p.Spec}
	if err := a.runToFirstTurn(ctx, d, o.GateTimeout); err != nil {
		return nil, errors.Join(explainCancel(ctx, err), a.bindUnready(ctx, p, o.Session, d))
	}
	return a, a.bind(ctx, p, o.Session, d.Owner.Epoch())
}

// takeLockTimeout bounds the wait for a lock whose owner has released the loop. A process
// that it was starting when it was killed may hold the lock briefly.
const takeLockTimeout = 2 * time.Second

// bindUnready binds a loop that did not reach its first turn. The session's hooks
// continue it.
func (a *SessionLoop) bindUnready(ctx context.Context, p *Prepared, in UserSession, d *Driver) (err error) {
	ctx = context.WithoutCancel(ctx)
	if a.Memory, _, err = record.Load(a.Loop); err != nil || !a.Memory.State.InSession {
		return err
	}
	return a.bind(ctx, p, in, d.Owner.Epoch())
}

// RefuseTake returns why a loop cannot be taken into this session, or nil, before its
// runner is asked to release it.
func RefuseTake(ctx context.Context, l *store.Loop, env environment.Environment, in UserSession) error {
	m, _, err := record.Load(l)
	if err == nil {
		_, err = checkTake(ctx, l, m, env, in)
	}
	return err
}

// checkTake returns why a loop cannot be taken into this session, or what is known about
// it.
func checkTake(ctx context.Context, l *store.Loop, m memory.Memory, env environment.Environment, in UserSession) (*Prepared, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	p := prepareExisting(spec, env)
	here := m.InSession(p.Spec.Policy) && in.Session != "" && m.Bound.Session == in.Session
	switch phase := m.State.Phase; {
	case p.Spec.UsesWorktree:
		return nil, failure.New(failure.Usage, fmt.Sprintf("pawl resume %s continues it; pawl tell %[1]s sends it a message", l.ID),
			"loop %s works in a separate worktree, not in this one", l.ID)
	case phase == "" || phase == loop.New:
		return nil, failure.New(failure.Usage, "pawl resume "+l.ID+" begins it", "loop %s has not started", l.ID)
	case phase == loop.Ended:
		return p, nil
	case here && isBoundTo(p.Home, l, in.Session):
		return nil, failure.New(failure.Usage, fmt.Sprintf("it continues at the end of your next turn;  ! pawl stop %s  ends it", l.ID), "loop %s is already in this session", l.ID)
	case m.InSession(p.Spec.Policy) && !here && !m.Bound.Closed && (m.Bound.Client == 0 || proc.Alive(m.Bound.Client)):
		return nil, failure.New(failure.Usage, fmt.Sprintf("close that session first; or run  pawl handover %s --now  to continue in fresh sessions, then take it", l.ID),
			"loop %s runs %s", l.ID, sessionLabel(m.Bound.Session))
	}
	if err := checkBranch(ctx, l, p.Spec.Repository); err != nil {
		return nil, err
	}
	return p, p.refuseConflicts(ctx, in)
}

// isBoundTo reports whether the session's binding names this loop. The process that moved the loop
// there may have been killed before it stored that.
func isBoundTo(home string, l *store.Loop, id string) bool {
	b, err := session.Open(home).Find(id)
	last, _, holderErr := l.Holder()
	return err == nil && holderErr == nil && !b.LoopMoved && b.Loop == l.ID && b.Epoch == last.Epoch
}

// checkBranch returns an error if the work tree is on another branch than the loop's.
func checkBranch(ctx context.Context, l *store.Loop, spec record.Repository) error {
	if spec.NoCommit {
		return nil
	}
	repo, err := Repo(ctx, l)
	if err != nil {
		return err
	}
	branch, err := repo.Branch(ctx)
	if err != nil {
		return fmt.Errorf("read the current branch: %w", err)
	}
	if branch == spec.Branch {
		return nil
	}
	return failure.New(failure.Usage, fmt.Sprintf("git switch %s, then  pawl start --take %s", spec.Branch, l.ID),
		"the work tree is not on the branch of the loop, %s", spec.Branch)
}

// changeSession journals the loop's new session and removes the binding of the old one.
func (d *Driver) changeSession(ctx context.Context, was string, in UserSession) error {
	if was != "" && was != in.Session {
		if _, err := session.Open(d.StateDir).Release(ctx, was, d.Loop.ID); err != nil {
			return err
		}
	}
	return d.recordSession(in)
}

// KeepInSession cancels a handover: the loop stays in its session; why says what failed.
// If the new owner died, the session's binding is updated. If another process has
// continued the loop, nothing changes.
func KeepInSession(ctx context.Context, l *store.Loop, env environment.Environment, why string) error {
	d, err := Rejoin(ctx, l, env, takeLockTimeout)
	if err != nil {
		return err
	}
	m, _, err := record.Load(l)
	if err != nil || !m.InSession(d.Spec.Policy) {
		return errors.Join(err, d.Close())
	}
	err = d.rebind(ctx, m)
	if m.State.Phase == loop.HandingOver {
		d.FirstEvent = loop.Event{Payload: loop.HandedOver{To: loop.OwnerSession, Failed: true, Why: why}}
		_, stepErr := d.RunInSession(ctx)
		err = errors.Join(err, stepErr, d.rebind(ctx, m)) // a hook may have removed the binding meanwhile
	}
	return errors.Join(err, d.Close())
}

// rebind stores the current epoch in the binding of the loop's session. Its hooks may
// have removed the binding when they found another owner. m is the memory before the turn
// that is due.
func (d *Driver) rebind(ctx context.Context, m memory.Memory) error {
	if m.Bound.Session == "" {
		return nil
	}
	sessions, epoch := session.Open(d.StateDir), d.Owner.Epoch()
	_, err := sessions.Change(ctx, m.Bound.Session, func(b *session.Binding) bool {
		stale := b.Loop == d.Loop.ID && (b.Epoch != epoch || b.LoopMoved)
		if stale {
			b.Epoch, b.LoopMoved = epoch, false
		}
		return stale
	})
	if !errors.Is(err, session.ErrNone) {
		return err
	}
	return sessions.Bind(ctx, session.Binding{
		Session: m.Bound.Session, Loop: d.Loop.ID, Epoch: epoch, Root: d.Spec.Root, Client: m.Bound.Client,
		Unattended: d.Spec.Unattended, CompatFile: d.Spec.CompatFile, Since: time.Now(), GivenTurns: m.TurnsBegun, WaitingForTurn: true,
	})
}

// TakeTimeout is how long a runner that released its loop waits for a session to take it.
const TakeTimeout = 2 * time.Minute

// ReleaseForSession releases a loop for a session that asked for it, and resumes it if no session
// takes it within the timeout. It returns nil if another owner has the loop.
func (d *Driver) ReleaseForSession(ctx context.Context, env environment.Environment, timeout time.Duration) (*Driver, error) {
	epoch := d.Owner.Epoch()
	if err := d.Close(); err != nil {
		return nil, err
	}
	taken, err := Poll(ctx, timeout, func() (bool, error) {
		last, _, err := d.Loop.Holder()
		return last.Epoch != epoch, err
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || taken:
		return nil, err
	}
	return Successor{After: epoch, Now: true}.Resume(ctx, d.Loop, env)
}
