package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// ResumeOptions says how a loop is resumed.
type ResumeOptions struct {
	MoreLimits loop.Limits             // added to the used limits of a loop that has ended; below 0: unlimited; 0: unchanged
	MayOwn     func(epoch int64) error // returns why the loop must not be taken, see store.Loop.OwnIf; may be nil
}

// Resume continues a loop whose owner is gone, or that ended with work left. A loop in a
// user's session continues in fresh sessions.
func Resume(ctx context.Context, l *store.Loop, env environment.Environment, options ResumeOptions) (*Driver, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	m, err := LoadResumable(l)
	if err != nil {
		return nil, err
	}
	if err := useCommitMessage(&spec, env); err != nil && m.State.Outcome == loop.Errored {
		return nil, err // the user may have fixed what ended it; other loops keep their settings
	}
	wasSetUp, ended := !m.State.StartedAt.IsZero(), m.State.Phase == loop.Ended
	if ended {
		if err := checkResumable(l, m, options.MoreLimits); err != nil {
			return nil, err
		}
	}
	if m.InSession(spec.Policy) && !ended { // check before the loop leaves its session
		if _, err := agentVersion(ctx, spec.Agent, l.Dir); err != nil {
			return nil, err
		}
	}
	version := m.Session.Version
	if !wasSetUp && !spec.Policy.InSession {
		if version, err = checkAgents(ctx, spec); err != nil {
			return nil, err
		}
	}
	d := &Driver{Spec: spec, Version: version, Resumed: wasSetUp, wasSetUp: wasSetUp, mayOwn: options.MayOwn, UserCommit: m.UserCommit}
	d.beforeFirstTurn = !spec.Policy.InSession && m.State.BeforeFirstTurn()
	d.reopened = ended && d.wasSetUp
	if spec.Policy.InSession {
		if d, err = acquireInSession(ctx, l, env, d.ownFunc(l)); err != nil {
			return nil, err
		}
	} else {
		repo, err := openOwn(ctx, spec, ended)
		if err == nil {
			err = d.acquire(ctx, store.Open(env.PawlHome), l, repo, env)
			d.setUpFailed = err != nil && !d.wasSetUp
		}
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	err = d.checkPrograms(ctx, env)
	if err == nil && (ended || !d.wasSetUp && !spec.Policy.InSession) {
		d.NewLimits = options.MoreLimits
		err = d.prepareReopen(ctx, cmp.Or(m.Base.Commit, spec.StartCommit), m.State.CommitPending())
	}
	if err == nil {
		err = d.claimIssues(ctx, m.State, env)
	}
	if err == nil && (m.State.AsksUser() || len(notify.Posted(l.Dir)) > 0) {
		err = d.outbox(l, env).Listen() // for answers, and to send notices
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// checkResumable returns why a loop cannot continue after its end, or nil: it was
// resumed already, has no work left, or a limit leaves no turn.
func checkResumable(l *store.Loop, m memory.Memory, given loop.Limits) error {
	if m.State.Phase != loop.Ended {
		return failure.New(failure.Usage, "pawl status "+l.ID+" shows it", "loop %s was already resumed", l.ID)
	}
	if !m.State.HasWorkLeft() {
		return failure.New(failure.Usage, "pawl report "+l.ID+" shows the result", "loop %s has ended %s, and no task is left", l.ID, m.State.Outcome)
	}
	if limit := m.State.LimitAfterReopen(given); limit != "" && !m.State.CommitPending() { // a commit takes no turn
		return failure.New(failure.Usage, m.State.MoreFlags(given)+"  raises the limit",
			"loop %s has used up its limit (%s)", l.ID, limit)
	}
	return nil
}

// LoadResumable reads the memory of a loop to continue. The error of a damaged journal says what to
// do.
func LoadResumable(l *store.Loop) (memory.Memory, error) {
	m, _, err := record.Load(l)
	switch _, damaged := errors.AsType[*journal.CorruptError](err); {
	case !damaged:
		return m, err
	case !l.GivenUp().IsZero():
		return m, failure.New(failure.Error, "it was ended as damaged: pawl run starts a new one", "%w", err)
	}
	return m, failure.New(failure.Error,
		"pawl stop "+l.ID+" ends it and keeps its commits and checkpoints; then pawl run starts a new one", "%w", err)
}

// prepareReopen lets the runner continue a loop that ended. The end left none of the agent's
// commits on the branch, so later commits are the user's.
func (d *Driver) prepareReopen(ctx context.Context, base string, owesCommit bool) error {
	d.Reopen = true
	if owesCommit {
		return nil // the commit may be on the branch already
	}
	head, err := d.Repo.Head(ctx)
	if err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	if head == base {
		return nil
	}
	return d.SetStartCommit(head)
}

// RefuseResume returns an error if another loop runs in a session in the work tree of
// this one, or another git holds a lock there.
func RefuseResume(ctx context.Context, l *store.Loop, env environment.Environment) error {
	spec, err := record.ReadSpec(l)
	if err != nil || spec.UsesWorktree {
		return err
	}
	p := prepareExisting(spec, env)
	b, err := findConflicts(ctx, p)
	if err != nil {
		return err
	}
	if b.InSession == "" {
		p.Repo, _ = git.Open(ctx, spec.Root) // resuming the loop reports the error
		return cmp.Or(p.gitLocks(ctx)...)
	}
	return failure.New(failure.Usage, b.sessionHint(), "loop %s %s", b.InSession, b.sessionText())
}

// useCommitMessage reads the form of commit messages from the current configuration: a hook that
// refused the last one ended the loop, and the user was told to set another. A form that was given
// for the run stays. It returns an error if the configuration cannot be read.
func useCommitMessage(spec *record.Spec, env environment.Environment) error {
	if spec.MessageFromCLI {
		return nil
	}
	layers, err := config.ReadFiles(env, spec.Root)
	if err != nil {
		return err
	}
	s, err := config.Resolve(layers...)
	if err == nil {
		spec.CommitMessage = s.CommitMessage
	}
	return err
}

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
	return withoutTree(ctx, l, env, func(r *runner.Runner) (loop.State, error) { return r.ApplyToEnded(ctx, e) })
}

// withoutTree calls a function with a runner that has no work tree, as the loop's owner.
func withoutTree(ctx context.Context, l *store.Loop, env environment.Environment, do func(*runner.Runner) (loop.State, error)) (_ loop.State, err error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return loop.State{}, err
	}
	owner, err := l.Own(ctx)
	if err != nil {
		return loop.State{}, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	return do(&runner.Runner{Loop: l, Owner: owner, Spec: spec, Redact: redact.New(env.Vars), Confinement: runner.Confinement{StateDir: env.PawlHome, HomeDir: env.Home}})
}
