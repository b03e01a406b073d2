package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/agent/command"
	"github.com/pawl-dev/pawl/internal/agent/scripted"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/protected"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Driver is a loop that is about to run. It owns the loop until Close.
type Driver struct {
	*runner.Runner
	Spec    record.Spec
	Version string // of the agent's client; "": unknown
	Resumed bool

	SwitchedBack string   // message about switching back to the loop's branch; "": it was checked out
	UserFiles    []string // new files that the user created since the loop ended
	UserCommit   string   // commit with the user's uncommitted changes at the start; "": there were none
	Unclaimed    string   // message about issues that the loop could not claim; "": none

	reviewers map[string][]string // reviewers maps a review gate to the command prefix that starts its agent in a sandbox.

	created         *store.Loop             // the loop, if this driver created it
	inspected       bool                    // Begin has looked at the work tree
	wasSetUp        bool                    // the loop was set up before
	beforeFirstTurn bool                    // resumed before the agent's first turn
	reopened        bool                    // resumed after its end
	setUpFailed     bool                    // Close removes what was created for the loop
	mayOwn          func(epoch int64) error // returns why the loop must not be taken; may be nil
	closers         []func() error          // called by Close in reverse order
}

// Close releases everything, in reverse order. The loop stays, see abandon.
func (d *Driver) Close() error {
	var failed error
	for _, v := range slices.Backward(d.closers) {
		failed = errors.Join(failed, v())
	}
	d.closers = nil
	return failed
}

// StoppedError says that a loop was stopped before its first turn. It can be resumed.
type StoppedError struct {
	Loop  string // its id
	Cause error  // why the context ended
}

func (e *StoppedError) Error() string { return fmt.Sprintf("before the first turn: %v", e.Cause) }

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Cause }

// Begin creates the loop. If it fails before the first turn the repository is left as it
// was, and the loop can be resumed.
func (p *Prepared) Begin(ctx context.Context) (*Driver, error) {
	l, version, err := p.Create(ctx)
	if err != nil {
		return nil, err
	}
	return p.beginCreated(ctx, l, version)
}

// beginCreated begins a loop that this process created.
func (p *Prepared) beginCreated(ctx context.Context, l *store.Loop, version string) (*Driver, error) {
	d := &Driver{Spec: p.Spec, Version: version, inspected: true, created: l}
	err := d.acquire(ctx, store.Open(p.Home), l, p.Repo, p.env)
	if err == nil {
		err = d.claimIssues(ctx, loop.State{}, p.env)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = &StoppedError{l.ID, context.Cause(ctx)}
		} else if failure.Hint(err) == "" {
			err = failure.New(failure.CodeOf(err), "fix that, then  pawl resume "+l.ID, "%w", err)
		}
		return nil, errors.Join(d.abandon(err), d.Close())
	}
	return d, nil
}

// Create creates the loop unless something is in its way, for this process or for another one,
// which begins it by Resume. It also returns the version of the agent's client.
func (p *Prepared) Create(ctx context.Context) (l *store.Loop, version string, err error) {
	if err := p.Refuse(ctx); err != nil {
		return nil, "", err
	}
	if version, err = checkAgents(ctx, p.Spec); err != nil {
		return nil, "", err
	}
	st := store.Open(p.Home)
	if err := p.checkWorktreeLock(ctx, st); err != nil {
		return nil, "", err
	}
	if err := p.writeIssuePlan(); err != nil {
		return nil, "", err
	}
	if l, err = st.Create(p.Repo.Root(), p.Spec); err != nil {
		return nil, "", fmt.Errorf("create loop: %w", err)
	}
	if err := p.Earlier.post(l); err != nil {
		return nil, "", err
	}
	p.Spec, err = record.ReadSpec(l)
	return l, version, err
}

// checkAgents returns the version of the agent's client. It returns an error if the
// client or a reviewer is not installed.
func checkAgents(ctx context.Context, spec record.Spec) (string, error) {
	version, err := agentVersion(ctx, spec.Agent, "")
	if err != nil {
		return "", err
	}
	return version, checkReviewers(ctx, spec)
}

// newAgent returns the agent. It keeps its state between sessions in dir.
func newAgent(a record.Agent, dir string) (agent.Agent, error) {
	switch a.Name {
	case "claude":
		return claude.Agent{Command: a.Command}, nil
	case "command":
		if a.Command == "" {
			return nil, failure.New(failure.Usage, "name the program that reads the prompt on stdin", "--agent command needs --agent-command")
		}
		return command.Agent{Argv: []string{a.Command}}, nil
	case "scripted":
		if a.Command == "" {
			return nil, failure.New(failure.Usage, "name the script", "--agent scripted needs --agent-command")
		}
		data, err := atomicfile.Read(a.Command, planfile.MaxSize)
		if err != nil {
			return nil, failure.New(failure.Usage, "", "read the script of the scripted agent: %w", err)
		}
		script, err := scripted.Parse(data)
		if err != nil {
			return nil, failure.New(failure.Usage, "", "read the script %s: %w", a.Command, err)
		}
		return scripted.Agent{Script: script, Counter: filepath.Join(dir, "turns")}, nil
	}
	return nil, failure.New(failure.Usage, "choose claude, or command with --agent-command", "unknown agent %q", a.Name)
}

// agentVersion returns the version of an agent's client, or why it cannot be started.
func agentVersion(ctx context.Context, spec record.Agent, dir string) (version string, err error) {
	a, err := newAgent(spec, dir)
	if err != nil {
		return "", err
	}
	return a.Version(ctx)
}

// acquire takes the loop and its work tree, and builds the runner.
func (d *Driver) acquire(ctx context.Context, st *store.Store, l *store.Loop, repo *git.Repo, env environment.Environment) error {
	owner, err := d.ownFunc(l)(ctx)
	if err != nil {
		return err
	}
	d.closers = append(d.closers, owner.Close)
	if err := d.handleLaterChanges(ctx, owner, repo, l, env); err != nil {
		return err
	}
	tree, err := d.workTree(ctx, st, l, repo)
	box := d.outbox(l, env)
	// The process that sends the last notices may not survive this one, for example in a
	// container, so wait for it briefly.
	d.closers = slices.Insert(d.closers, 0, func() error { box.Wait(lastNoticeTimeout); return nil })
	d.Runner = &runner.Runner{
		Callbacks:   runner.Callbacks{Notify: box.Post},
		Loop:        l,
		Owner:       owner,
		Spec:        d.Spec,
		Repo:        tree,
		Redact:      redact.New(env.Vars),
		Confinement: runner.Confinement{StateDir: env.PawlHome, HomeDir: env.Home},
	}
	if err != nil {
		return err
	}
	if d.SwitchedBack != "" {
		if err := record.AppendNote(owner, memory.Note{Level: loop.Warning, Text: d.SwitchedBack}, d.Redact.String); err != nil {
			return err
		}
	}
	if d.Agent, err = newAgent(d.Spec.Agent, l.Dir); err != nil {
		return err
	}
	if err := d.prepareGates(ctx, l, env); err != nil || d.wasSetUp {
		return err
	}
	return d.commitUserChanges(ctx)
}

// ownFunc returns a function that takes the loop.
func (d *Driver) ownFunc(l *store.Loop) func(context.Context) (*store.Owner, error) {
	return func(ctx context.Context) (*store.Owner, error) {
		if d.mayOwn == nil {
			return l.Own(ctx)
		}
		return l.OwnIf(ctx, d.mayOwn)
	}
}

// workTree returns where the agent works: the repository's own work tree with HEAD on the
// loop's branch, or a worktree of the loop's.
func (d *Driver) workTree(ctx context.Context, st *store.Store, l *store.Loop, repo *git.Repo) (*git.Repo, error) {
	if d.Spec.UsesWorktree {
		own, undo, err := repo.LoopWorktree(ctx, d.Spec.WorkTree(l), d.Spec.Branch, d.startPoint(ctx, repo))
		if err != nil {
			return nil, err
		}
		d.undoIfFailed(ctx, undo)
		d.removeUnusedOnClose(ctx, l, repo)
		repo = own
	}
	unlock, err := st.LockWorktree(ctx, repo, l.ID)
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, unlock)
	if d.Spec.UsesWorktree {
		return repo, d.populateWorktree(ctx, repo)
	}
	if err := d.switchToBranch(ctx, repo, l.ID); err != nil {
		return repo, err
	}
	return repo, nil
}

// prepareGates builds the verifier, and freezes the protected files.
func (d *Driver) prepareGates(ctx context.Context, l *store.Loop, env environment.Environment) error {
	root := d.Repo.Root()
	unlock, err := l.ClaimCheckout(ctx, checkoutTimeout)
	if err != nil {
		return err
	}
	d.closers = append(d.closers, unlock)
	sandbox, err := d.buildSandboxes(ctx, l, env)
	if err != nil {
		return err
	}
	v, err := verify.New(verify.Options{
		Root: root, Repo: d.Repo, Dir: verifyDir(l), Env: env.Vars, UserEnv: d.Spec.GateEnv,
		Setup: d.Spec.Setup, Tests: d.Spec.Tests, Prefix: sandbox.Gates, Marker: l.ID, Marks: d.OwnFiles,
		Watch: func(p verify.Progress) { d.GateProgress(p) },
	})
	if err != nil {
		return err
	}
	d.closers = append(d.closers, func() error { return v.Close(context.WithoutCancel(ctx)) })
	d.Verify, d.Reviewer = v, d.reviewer(l)
	if d.Spec.UsesWorktree {
		if err := d.setUpWorktree(ctx, l, v); err != nil {
			return err
		}
	}
	if d.beforeFirstTurn { // programs that were installed meanwhile are the user's
		if err := v.ForgetStart(); err != nil {
			return err
		}
	}
	if err := v.RecordStart(ctx); err != nil {
		return err
	}
	protected, err := protected.Freeze(ctx, protected.Options{
		Root: root, Store: filepath.Join(l.Dir, "protected"), Protect: d.Spec.Protect,
		GitDir: d.Repo.GitDir(), CommonDir: d.Repo.CommonDir(),
	})
	if err != nil {
		return err
	}
	d.Protected = protected
	return record.SaveProtectedOnce(l, protected.WorkTreeFiles())
}
