package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Attended is a loop that lives in a session now.
type Attended struct {
	Loop    *store.Loop
	Spec    record.Spec
	Memory  record.Memory // as the loop stands
	Prompt  string        // what the agent is told first, "" if that is not known yet
	Driving bool          // the gates still run on the tree as it is: Drive it in another process
}

// PromptPath is the file that holds the first prompt.
func (a *Attended) PromptPath() string { return record.PromptPath(a.Loop, a.Memory) }

// Opening is how a loop in a session begins.
type Opening struct {
	Inside   Inside
	Observer runner.Observer // may be nil
	Patience time.Duration   // how long the gates may take here, see Attended.Driving
	More     loop.Limits     // of a loop that has ended, see Again
	// Ready is called when the loop is about to live in the session, after all
	// that could fail; may be nil.
	Ready func(*Attended) error
}

// Attend makes the loop, runs the gates on the tree as it is, and gives the loop
// to the session. One that ends before its first turn (a gate that cannot run) is
// given to nobody.
func (p *Prepared) Attend(ctx context.Context, o Opening) (_ *Attended, err error) {
	if err := p.RefuseAttended(ctx, o.Inside); err != nil {
		return nil, err
	}
	st := store.Open(p.Home)
	if err := p.held(ctx, st); err != nil {
		return nil, err
	}
	l, err := st.Create(p.root, p.Spec)
	if err != nil {
		return nil, fmt.Errorf("make the loop: %w", err)
	}
	d := &Drive{Spec: p.Spec}
	defer func() { err = errors.Join(err, d.Close()) }()
	p.loop = l.ID
	a := &Attended{Loop: l, Spec: p.Spec}
	if err := p.open(ctx, d, l, o); err != nil {
		return nil, d.abandon(beforeTurn(ctx, err))
	}
	if err := a.firstTurn(ctx, d, o.Patience); err != nil {
		return nil, d.abandon(beforeTurn(ctx, err))
	}
	if end := a.Memory.State; end.Phase == loop.Ended {
		if end.Outcome == loop.Errored {
			return nil, failure.New(failure.Error, end.Hint, "loop %s ended before its first turn: %s", l.ID, end.Reason)
		}
		return a, nil
	}
	if o.Ready != nil {
		if err := o.Ready(a); err != nil {
			return nil, d.abandon(err)
		}
	}
	if err := a.bind(ctx, p, o.Inside, d.Owner.Epoch()); err != nil {
		return nil, d.abandon(err)
	}
	return a, nil
}

func beforeTurn(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("before the first turn: %w", context.Cause(ctx))
	}
	return err
}

// open puts together what begins the loop.
func (p *Prepared) open(ctx context.Context, d *Drive, l *store.Loop, o Opening) error {
	owner, err := l.Own(ctx)
	if err != nil {
		return err
	}
	d.close = append(d.close, owner.Close)
	d.Runner = &runner.Runner{Loop: l, Owner: owner, Spec: p.Spec, Observer: o.Observer}
	if err := d.bound(o.Inside); err != nil {
		return err
	}
	if err := d.inSession(ctx, p.env); err != nil {
		return err
	}
	// The work tree is ours only now: another may have begun at the same moment.
	if p.Before, err = before(ctx, store.Open(p.Home), p); err != nil {
		return err
	}
	if err := p.refuseBeside(o.Inside); err != nil {
		return err
	}
	if !p.Spec.NoCommit && len(p.Status.Dirty) > 0 {
		return d.keepChanges(ctx) // with the user's leave, see RefuseAttended
	}
	if !p.Spec.Shadow {
		return nil
	}
	head, err := d.Repo.Head(ctx)
	if err != nil {
		return err
	}
	return d.StartFrom(head)
}

// bound journals which session the loop lives in.
func (d *Drive) bound(in Inside) error {
	_, err := d.Owner.Append(journal.Entry{Type: record.TypeBound, Data: record.Bound{
		Session: in.Session, Agent: "claude", Client: in.Client,
	}})
	return err
}

// inSession gives the runner all that it needs beside the loop and its owner.
func (d *Drive) inSession(ctx context.Context, env environment.Environment) error {
	kept, err := d.Loop.Spec()
	if err != nil {
		return err
	}
	d.Redact, d.StateDir, d.HomeDir = redact.New(env.Vars), env.PawlHome, env.Home
	if d.Repo, err = Repo(ctx, d.Loop); err != nil {
		return err
	}
	tree := d.Repo
	if d.Spec.Shadow {
		tree = nil
	}
	unlock, err := store.Open(env.PawlHome).LockWorktree(ctx, workTree(kept.Root, tree), d.Loop.ID)
	if err != nil {
		return err
	}
	d.close = append(d.close, unlock)
	if d.Agent, err = agentFor(d.Spec.Agent, d.Loop.Dir); err != nil {
		d.Agent = absent{d.Spec.Agent.Name, err} // the user's session does without
	}
	return d.judge(ctx, d.Loop, env)
}

// firstTurn takes the loop to its first turn, or as far as patience reaches.
func (a *Attended) firstTurn(ctx context.Context, d *Drive, patience time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := d.Attend(bounded)
	a.Driving = err != nil && ctx.Err() == nil && bounded.Err() != nil
	if err != nil && !a.Driving {
		return err
	}
	if a.Memory, _, err = record.Load(a.Loop); err != nil {
		return err
	}
	if a.Memory.State.Phase != loop.Turning {
		return nil
	}
	prompt, err := atomicfile.Read(a.PromptPath(), atomicfile.Large)
	a.Prompt, a.Driving = string(prompt), false
	return err
}

// bind gives the loop to the session's hooks.
func (a *Attended) bind(ctx context.Context, p *Prepared, in Inside, epoch int64) error {
	sessions, now := session.Open(p.Home), time.Now()
	b := session.Binding{
		Session: in.Session, Loop: a.Loop.ID, Epoch: epoch, Root: p.root, Client: in.Client, Unattended: in.Unattended,
		Prompt: in.Prompt, File: a.Spec.File, Since: now, Responder: in.Judge, GivenTurns: a.Memory.TurnsBegun,
	}
	if in.Session == "" {
		return sessions.Await(ctx, b, in.Above, now)
	}
	return sessions.Bind(ctx, b)
}

// Rejoin takes up a loop that lives in a session, as the session's hooks do: it
// goes on as the owner that it has. Another process that is at work on it is
// waited for, as long as patience reaches; then the error is a *store.HeldError.
func Rejoin(ctx context.Context, l *store.Loop, env environment.Environment, patience time.Duration) (*Drive, error) {
	return taken(ctx, l, env, func(ctx context.Context) (*store.Owner, error) {
		return waited(ctx, patience, func() (*store.Owner, error) {
			last, _, err := l.Holder()
			if err != nil {
				return nil, err
			}
			return l.Rejoin(ctx, last.Epoch)
		})
	})
}

// taken takes up a loop where it stands, by one of the ways to own it.
func taken(ctx context.Context, l *store.Loop, env environment.Environment, own func(context.Context) (*store.Owner, error)) (_ *Drive, err error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	if spec.Branch == "" && !spec.NoCommit {
		spec.Branch = "pawl/" + l.ID
	}
	d := &Drive{Spec: spec, Resumed: true, Runner: &runner.Runner{Loop: l, Spec: spec}}
	if d.Owner, err = own(ctx); err != nil {
		return nil, err
	}
	d.close = append(d.close, d.Owner.Close)
	if err := d.inSession(ctx, env); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// waited tries to own a loop for as long as another process holds it and patience
// reaches.
func waited(ctx context.Context, patience time.Duration, own func() (*store.Owner, error)) (*store.Owner, error) {
	for deadline := time.Now().Add(patience); ; {
		owner, err := own()
		if held := new(store.HeldError); err == nil || !errors.As(err, &held) || time.Now().After(deadline) {
			return owner, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(heldPause):
		}
	}
}

const heldPause = 100 * time.Millisecond
