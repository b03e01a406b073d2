package launch

import (
	"cmp"
	"context"
	"errors"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
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
	if m, err = p.checkReopen(ctx, l, o); err != nil { // another may have been sooner
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
	if a.Memory.State.Phase == loop.Ended {
		return a, nil
	}
	return a, a.bind(ctx, p, o.Session, d.Owner.Epoch())
}

// prepareExisting is a loop that was created before, to look for what is in its way.
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

// ResumeOptions says how a loop is resumed.
type ResumeOptions struct {
	MoreLimits loop.Limits             // added to the used limits of a loop that has ended; below 0: unlimited; 0: unchanged
	MayOwn     func(epoch int64) error // returns why the loop must not be taken, see store.Loop.OwnIf; may be nil
}

// checkResumable returns why a loop cannot continue after its end, or nil: it was
// resumed already, has no work left, or a limit leaves no turn.
func checkResumable(l *store.Loop, m memory.Memory, given loop.Limits) error {
	if m.State.Phase != loop.Ended {
		return failure.New(failure.Usage, "pawl status "+l.ID+" shows it", "loop %s has been taken up again already", l.ID)
	}
	if !m.State.HasWorkLeft() {
		return failure.New(failure.Usage, "pawl report "+l.ID+" shows what came of it", "loop %s has ended %s, with nothing left to do", l.ID, m.State.Outcome)
	}
	if limit := m.State.LimitAfterReopen(given); limit != "" && !m.State.CommitPending() { // a commit takes no turn
		return failure.New(failure.Usage, m.State.ResumeCommand(l.ID)+"  gives it more",
			"loop %s has used up its limit (%s)", l.ID, limit)
	}
	return nil
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
		p.Repo, _ = git.Open(ctx, spec.Root) // who continues the loop says why there is none
		return firstError(ctx, []precondition{p.gitLocks})
	}
	return failure.New(failure.Usage, b.sessionHint(), "loop %s %s", b.InSession, b.sessionText())
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

// LoadResumable reads the memory of a loop that is to continue. A damaged journal is an error that
// says what can be done.
func LoadResumable(l *store.Loop) (memory.Memory, error) {
	m, _, err := record.Load(l)
	switch _, damaged := errors.AsType[*journal.CorruptError](err); {
	case !damaged:
		return m, err
	case !l.GivenUp().IsZero():
		return m, failure.New(failure.Error, "it was given up: pawl run begins anew", "%w", err)
	}
	return m, failure.New(failure.Error,
		"pawl stop "+l.ID+" gives it up as it is, with its commits and checkpoints; then pawl run begins anew", "%w", err)
}
