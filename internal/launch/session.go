package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// SessionLoop is a loop that runs in a session.
type SessionLoop struct {
	Loop         *store.Loop
	Spec         record.Spec
	Memory       memory.Memory // the loop's current memory
	Prompt       string        // first prompt for the agent; "": unknown yet
	GatesRunning bool          // gates still run on the initial tree: start a driver for them
}

// PromptPath returns the file with the first prompt.
func (a *SessionLoop) PromptPath() string { return record.PromptPath(a.Loop, a.Memory) }

// SessionOptions says how a loop starts in a session.
type SessionOptions struct {
	Session     UserSession
	Observer    runner.Observer // may be nil
	GateTimeout time.Duration   // how long to wait for the gates, see InSession.Driving
	NewLimits   loop.Limits     // for a loop that has ended, see ResumeOptions
	// OnReady is called after everything that can fail, before the session gets the loop;
	// may be nil.
	OnReady func(*SessionLoop) error
}

// BeginInSession creates the loop, runs the gates on the current tree, and binds the loop to the
// session. A loop that ends before its first turn (a gate cannot run) is not bound.
func (p *Prepared) BeginInSession(ctx context.Context, o SessionOptions) (_ *SessionLoop, err error) {
	if err := p.RefuseInSession(ctx, o.Session); err != nil {
		return nil, err
	}
	st := store.Open(p.Home)
	if err := p.checkWorktreeLock(ctx, st); err != nil {
		return nil, err
	}
	l, err := st.Create(p.root, p.Spec)
	if err != nil {
		return nil, fmt.Errorf("create loop: %w", err)
	}
	if err := p.Earlier.post(l); err != nil {
		return nil, err
	}
	if p.Spec, err = record.ReadSpec(l); err != nil {
		return nil, err
	}
	d := &Driver{Spec: p.Spec, created: l}
	defer func() { err = errors.Join(err, d.Close()) }()
	p.loop = l.ID
	a := &SessionLoop{Loop: l, Spec: p.Spec}
	if err := p.setUpInSession(ctx, d, l, o); err != nil {
		return nil, d.abandon(explainCancel(ctx, err))
	}
	if err := a.runToFirstTurn(ctx, d, o.GateTimeout); err != nil {
		return nil, d.abandon(explainCancel(ctx, err))
	}
	if end := a.Memory.State; end.Phase == loop.Ended {
		if end.Outcome == loop.Errored {
			return nil, failure.New(failure.Error, end.Hint, "loop %s ended before its first turn: %s", l.ID, end.Reason)
		}
		return a, nil
	}
	if o.OnReady != nil {
		if err := o.OnReady(a); err != nil {
			return nil, d.abandon(err)
		}
	}
	if err := a.bind(ctx, p, o.Session, d.Owner.Epoch()); err != nil {
		return nil, d.abandon(err)
	}
	return a, nil
}

// explainCancel adds the cause to an error of a cancelled context.
func explainCancel(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("before the first turn: %w", context.Cause(ctx))
	}
	return err
}

// setUpInSession takes the loop and the work tree for a loop in a session.
func (p *Prepared) setUpInSession(ctx context.Context, d *Driver, l *store.Loop, o SessionOptions) error {
	owner, err := l.Own(ctx)
	if err != nil {
		return err
	}
	d.closers = append(d.closers, owner.Close)
	d.Runner = &runner.Runner{Loop: l, Owner: owner, Spec: p.Spec, Callbacks: runner.Callbacks{Observer: o.Observer}}
	if err := d.recordSession(o.Session); err != nil {
		return err
	}
	if err := d.setUpRunner(ctx, p.env); err != nil {
		return err
	}
	// The work tree is locked only now: another loop may have begun at the same moment.
	if err := p.refuseConflicts(ctx, o.Session); err != nil {
		return err
	}
	if !p.Spec.NoCommit && len(p.Status.Dirty) > 0 {
		return d.commitUserChanges(ctx) // the user allowed it, see RefuseInSession
	}
	if !p.Spec.Shadow {
		return nil
	}
	head, err := d.Repo.Head(ctx)
	if err != nil {
		return err
	}
	return d.SetStartCommit(head)
}

// recordSession journals the loop's session.
func (d *Driver) recordSession(in UserSession) error {
	_, err := d.Owner.Append(journal.Entry{Type: memory.TypeBound, Data: memory.BoundSession{
		Session: in.Session, Agent: "claude", Client: in.Client,
	}})
	return err
}

// setUpRunner sets the fields of the runner beside the loop and its owner, and locks the
// work tree.
func (d *Driver) setUpRunner(ctx context.Context, env environment.Environment) error {
	box := d.outbox(d.Loop, env)
	d.Notify = box.Post
	d.sendTelemetryOnClose(box)
	d.Redact, d.StateDir, d.HomeDir = redact.New(env.Vars), env.PawlHome, env.Home
	var err error
	if d.Repo, err = Repo(ctx, d.Loop); err != nil {
		return err
	}
	tree := d.Repo
	if d.Spec.Shadow {
		tree = nil
	}
	unlock, err := store.Open(env.PawlHome).LockWorktree(ctx, lockTarget(d.Spec.Root, tree), d.Loop.ID)
	if err != nil {
		return err
	}
	d.closers = append(d.closers, unlock)
	if d.Agent, err = newAgent(d.Spec.Agent, d.Loop.Dir); err != nil {
		d.Agent = missingAgent{d.Spec.Agent.Name, err} // the user's session needs no agent
	}
	return d.prepareGates(ctx, d.Loop, env)
}

// sendTelemetryOnClose lets Close send traces and metrics if the loop has ended by then.
func (d *Driver) sendTelemetryOnClose(box *notify.Outbox) {
	if !d.Spec.SendsTelemetry(box.Vars) {
		return
	}
	ended := func() bool {
		m, _, err := record.Load(d.Loop)
		return err == nil && m.State.Phase == loop.Ended
	}
	before := ended()
	d.closers = slices.Insert(d.closers, 0, func() error {
		if (!before || d.Reopen) && ended() {
			box.PostTelemetry()
		}
		return nil
	})
}

// runToFirstTurn runs the loop up to its first turn, or until the timeout.
func (a *SessionLoop) runToFirstTurn(ctx context.Context, d *Driver, timeout time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := d.RunInSession(bounded)
	a.GatesRunning = err != nil && ctx.Err() == nil && bounded.Err() != nil
	if err != nil && !a.GatesRunning {
		return err
	}
	if a.Memory, _, err = record.Load(a.Loop); err != nil {
		return err
	}
	if a.Memory.State.Phase != loop.Turning {
		return nil
	}
	prompt, err := atomicfile.Read(a.PromptPath(), atomicfile.Large)
	a.Prompt, a.GatesRunning = string(prompt), false
	return err
}

// bind stores that the session's hooks drive the loop, unless it has ended.
func (a *SessionLoop) bind(ctx context.Context, p *Prepared, in UserSession, epoch int64) error {
	if a.Memory.State.Phase == loop.Ended {
		return nil
	}
	sessions, now := session.Open(p.Home), time.Now()
	b := session.Binding{
		Session: in.Session, Loop: a.Loop.ID, Epoch: epoch, Root: p.root, Client: in.Client, Unattended: in.Unattended,
		LoopPrompt: in.Prompt, CompatFile: a.Spec.CompatFile, Since: now, Responder: in.Responder, GivenTurns: a.Memory.TurnsBegun,
	}
	if in.Session == "" {
		return sessions.WaitForSession(ctx, b, in.AncestorPIDs, now)
	}
	return sessions.Bind(ctx, b)
}

// Rejoin continues a loop in a session as its current owner, as the session's hooks do.
// It waits up to timeout while another process holds the loop, and then returns a
// *store.HeldError.
func Rejoin(ctx context.Context, l *store.Loop, env environment.Environment, timeout time.Duration) (*Driver, error) {
	return acquireInSession(ctx, l, env, func(ctx context.Context) (*store.Owner, error) {
		return rejoinWithin(ctx, l, timeout)
	})
}

// rejoinWithin acquires a loop as its current owner, see acquireWithin.
func rejoinWithin(ctx context.Context, l *store.Loop, timeout time.Duration) (*store.Owner, error) {
	return acquireWithin(ctx, timeout, func() (*store.Owner, error) {
		last, _, err := l.Holder()
		if err != nil {
			return nil, err
		}
		return l.Rejoin(ctx, last.Epoch)
	})
}

// acquireInSession takes a loop in a session with own, and builds the runner.
func acquireInSession(ctx context.Context, l *store.Loop, env environment.Environment, own func(context.Context) (*store.Owner, error)) (_ *Driver, err error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	d := &Driver{Spec: spec, Resumed: true, Runner: &runner.Runner{Loop: l, Spec: spec}}
	if d.Owner, err = own(ctx); err != nil {
		return nil, err
	}
	d.closers = append(d.closers, d.Owner.Close)
	if err := d.setUpRunner(ctx, env); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// acquireWithin calls own until it succeeds, while another process holds the loop, up to
// a timeout.
func acquireWithin(ctx context.Context, timeout time.Duration, own func() (*store.Owner, error)) (owner *store.Owner, err error) {
	_, ended := Poll(ctx, timeout, func() (bool, error) {
		owner, err = own()
		return !store.IsHeld(err), nil
	})
	return owner, cmp.Or(ended, err)
}

// missingAgent is used if the agent is not installed. Its methods return the error.
type missingAgent struct {
	name string
	err  error
}

var _ agent.Agent = missingAgent{}

// Name returns the agent's name.
func (a missingAgent) Name() string { return a.name }

// Version returns the error.
func (a missingAgent) Version(context.Context) (string, error) { return "", a.err }

// Start returns the error.
func (a missingAgent) Start(context.Context, agent.Options) (agent.Session, error) { return nil, a.err }
