package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
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
	ended := m.State.Phase == loop.Ended
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
	wasSetUp := !m.State.StartedAt.IsZero()
	version, err := clientVersion(ctx, spec, m)
	if err != nil {
		return nil, err
	}
	d := &Driver{Spec: spec, Version: version, Resumed: wasSetUp, wasSetUp: wasSetUp, mayOwn: options.MayOwn, UserCommit: m.UserCommit}
	d.beforeFirstTurn = !spec.Policy.InSession && m.State.BeforeFirstTurn()
	d.reopened = ended && d.wasSetUp
	if spec.Policy.InSession {
		if d, err = acquireInSession(ctx, l, env, d.ownFunc(l)); err != nil {
			return nil, err
		}
	} else {
		repo, err := git.Open(ctx, spec.Root)
		if err == nil {
			err = d.acquire(ctx, store.Open(env.PawlHome), l, repo, env)
			d.setUpFailed = err != nil && !d.wasSetUp
		}
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	if err = d.checkPrograms(ctx, env); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if ended || !d.wasSetUp && !spec.Policy.InSession {
		d.NewLimits = options.MoreLimits
		err = d.prepareReopen(ctx, cmp.Or(m.Base.Commit, spec.StartCommit), m.State.CommitPending())
	}
	if err == nil {
		err = d.reconnect(ctx, l, m.State, env)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// reconnect claims the issues of a resumed loop, and continues to listen for answers and to send
// notices.
func (d *Driver) reconnect(ctx context.Context, l *store.Loop, st loop.State, env environment.Environment) error {
	err := d.claimIssues(ctx, st, env)
	if err != nil || !st.AsksUser() && len(notify.Posted(l.Dir)) == 0 {
		return err
	}
	return d.outbox(l, env).Listen()
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

// clientVersion returns the version of a resumed loop's client. If the loop was never set up,
// it asks the client, and checks the reviewers.
func clientVersion(ctx context.Context, spec record.Spec, m memory.Memory) (string, error) {
	if m.State.StartedAt.IsZero() && !spec.Policy.InSession {
		return checkAgents(ctx, spec)
	}
	return m.Session.Version, nil
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
		return firstError(ctx, []precondition{p.gitLocks})
	}
	return failure.New(failure.Usage, b.sessionHint(), "loop %s %s", b.InSession, b.sessionText())
}
