package launch

import (
	"cmp"
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
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/frozen"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Drive is a loop that is about to run: ours alone until Close.
type Drive struct {
	*runner.Runner
	Spec    record.Spec
	Version string // of the agent's client, "" if it cannot be told
	Resumed bool

	reviewers map[string][]string // argv before each review gate's agent: the walls that they stand behind

	begun    bool                    // it was set up to its end before
	unturned bool                    // resumed before any turn of the agent
	reopened bool                    // resumed after its end
	failed   bool                    // it could not be set up: Close takes back what was made for it
	may      func(epoch int64) error // what speaks against taking it up; may be nil
	close    []func() error          // in the order made
}

// Close lets go of everything, in reverse order. The loop stays.
func (d *Drive) Close() error {
	var failed error
	for _, v := range slices.Backward(d.close) {
		failed = errors.Join(failed, v())
	}
	d.close = nil
	return failed
}

// Begin makes the loop: from here on things change. What fails before the first
// turn leaves the repository as it was; the loop can be resumed.
func (p *Prepared) Begin(ctx context.Context) (*Drive, error) {
	if err := p.Refuse(ctx); err != nil {
		return nil, err
	}
	version, err := p.agentVersion(ctx)
	if err != nil {
		return nil, err
	}
	st := store.Open(p.Home)
	if err := p.held(ctx, st); err != nil {
		return nil, err
	}
	l, err := st.Create(p.Repo.Root(), p.Spec)
	if err != nil {
		return nil, fmt.Errorf("make the loop: %w", err)
	}
	d := &Drive{Spec: p.Spec, Version: version}
	if err := d.own(ctx, st, l, p.Repo, p.env); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("before the first turn: %w", context.Cause(ctx))
		}
		if failure.Hint(err) == "" {
			err = failure.New(failure.CodeOf(err), "put that right, then  pawl resume "+l.ID, "%w", err)
		}
		return nil, errors.Join(d.abandon(err), d.Close())
	}
	return d, nil
}

// agentVersion also finds out, before anything is made, that there is no client, or
// none of a reviewer's.
func (p *Prepared) agentVersion(ctx context.Context) (string, error) {
	a, err := agentFor(p.Spec.Agent, "")
	if err != nil {
		return "", err
	}
	version, err := a.Version(ctx)
	if err != nil {
		return "", err
	}
	return version, reviewersThere(ctx, p.Spec)
}

// agentFor makes the agent; what it must remember between sessions goes to dir.
func agentFor(a record.Agent, dir string) (agent.Agent, error) {
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
		return scriptedAgent(a.Command, dir)
	}
	return nil, failure.New(failure.Usage, "choose claude, or command with --agent-command", "unknown agent %q", a.Name)
}

func scriptedAgent(path, dir string) (agent.Agent, error) {
	data, err := atomicfile.Read(path, planfile.MaxSize)
	if err != nil {
		return nil, failure.New(failure.Usage, "", "read the script of the scripted agent: %w", err)
	}
	script, err := scripted.Parse(data)
	if err != nil {
		return nil, failure.New(failure.Usage, "", "read the script %s: %w", path, err)
	}
	return scripted.Agent{Script: script, Counter: filepath.Join(dir, "turns")}, nil
}

// Resume takes up a loop whose owner is gone, or one that ended with something
// left to do. One that a user's session has goes on in fresh ones from now on.
func Resume(ctx context.Context, l *store.Loop, env environment.Environment, again Again) (*Drive, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	kept, err := l.Spec()
	if err != nil {
		return nil, err
	}
	m, _, err := record.Load(l)
	if err != nil {
		return nil, fmt.Errorf("read loop %s: %w", l.ID, err)
	}
	ended := m.State.Phase == loop.Ended
	if ended {
		if err := over(l, m, again.More); err != nil {
			return nil, err
		}
	}
	if m.Attended(spec) && !ended { // a session has it, and would be left for nothing
		a, err := agentFor(spec.Agent, l.Dir)
		if err == nil {
			_, err = a.Version(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	d := &Drive{Spec: spec, Resumed: true, begun: !m.State.StartedAt.IsZero(), may: again.May}
	d.unturned = !spec.Policy.Attended && m.State.Iteration <= m.State.Policy.Counted
	d.reopened = ended && d.begun
	if spec.Policy.Attended {
		if d, err = taken(ctx, l, env, d.owner(l)); err != nil {
			return nil, err
		}
	} else {
		repo, err := git.Open(ctx, kept.Root)
		if err == nil {
			err = d.own(ctx, store.Open(env.PawlHome), l, repo, env)
			d.failed = err != nil && !d.begun
		}
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	if err = d.programsThere(ctx, env); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if d.Version = m.Session.Version; ended || !d.begun && !spec.Policy.Attended {
		d.More = again.More
		err = d.reopen(ctx, cmp.Or(m.Base.Commit, spec.StartCommit), m.State.OwesCommit())
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// reopen lets the runner go on with a loop that ended. Its end left none of the
// agent's commits on the branch, so what is new there is the user's.
func (d *Drive) reopen(ctx context.Context, base string, owesCommit bool) error {
	d.Reopen = true
	if owesCommit {
		return nil // what is on the branch may be that commit
	}
	head, err := d.Repo.Head(ctx)
	if err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	if head == base {
		return nil
	}
	return d.StartFrom(head)
}

// own makes the loop and its work tree ours and puts the runner together.
func (d *Drive) own(ctx context.Context, st *store.Store, l *store.Loop, repo *git.Repo, env environment.Environment) error {
	if d.Spec.Branch == "" {
		d.Spec.Branch = runner.OwnBranch(l.ID)
	}
	owner, err := d.owner(l)(ctx)
	if err != nil {
		return err
	}
	d.close = append(d.close, owner.Close)
	tree, err := d.workTree(ctx, st, l, repo)
	d.Runner = &runner.Runner{
		Loop: l, Owner: owner, Spec: d.Spec, Repo: tree, Redact: redact.New(env.Vars), StateDir: env.PawlHome, HomeDir: env.Home,
	}
	if err != nil {
		return err
	}
	if d.Agent, err = agentFor(d.Spec.Agent, l.Dir); err != nil {
		return err
	}
	if err := d.judge(ctx, l, env); err != nil || d.begun {
		return err
	}
	return d.keepChanges(ctx)
}

// owner makes the loop ours.
func (d *Drive) owner(l *store.Loop) func(context.Context) (*store.Owner, error) {
	return func(ctx context.Context) (*store.Owner, error) {
		if d.may == nil {
			return l.Own(ctx)
		}
		return l.OwnIf(ctx, d.may)
	}
}

// workTree is where the agent works: the repository's own, with HEAD on the
// loop's branch, or a worktree of the loop's.
func (d *Drive) workTree(ctx context.Context, st *store.Store, l *store.Loop, repo *git.Repo) (*git.Repo, error) {
	if d.Spec.OwnWorktree {
		own, undo, err := repo.LoopWorktree(ctx, d.Spec.WorkTree(l, ""), d.Spec.Branch, "HEAD")
		if err != nil {
			return nil, err
		}
		d.undoIfFailed(ctx, undo)
		d.tidyOnClose(ctx, l, repo)
		repo = own
	}
	unlock, err := st.LockWorktree(ctx, repo, l.ID)
	if err != nil {
		return nil, err
	}
	d.close = append(d.close, unlock)
	if d.Spec.OwnWorktree {
		return repo, d.furnish(ctx, l, repo)
	}
	if err := d.switchTo(ctx, repo, l.ID); err != nil {
		return repo, err
	}
	return repo, nil
}

// judge puts together what judges: the verifier and the frozen copies.
func (d *Drive) judge(ctx context.Context, l *store.Loop, env environment.Environment) error {
	root := d.Repo.Root()
	wall, err := d.confined(ctx, l, env)
	if err != nil {
		return err
	}
	v, err := verify.New(verify.Options{
		Root: root, Repo: d.Repo, Dir: filepath.Join(l.Dir, "verify"), Env: env.Vars, Set: d.Spec.GateEnv,
		Setup: d.Spec.Setup, Tests: d.Spec.Tests, Prefix: wall.Gates, Marker: l.ID, Marks: d.Marks,
		Watch: func(p verify.Progress) { d.GateProgress(p) },
	})
	if err != nil {
		return err
	}
	d.close = append(d.close, func() error { return v.Close(context.WithoutCancel(ctx)) })
	d.Verify, d.Reviewer = v, d.reviewer(l)
	if d.Spec.OwnWorktree {
		if err := d.setUp(ctx, l, v); err != nil {
			return err
		}
	}
	if d.unturned { // what was installed since the loop could not begin is the user's
		if err := v.ForgetBeside(); err != nil {
			return err
		}
	}
	if err := v.LookBeside(ctx); err != nil {
		return err
	}
	judges, err := frozen.Take(ctx, frozen.Options{
		Root: root, Store: filepath.Join(l.Dir, "frozen"), Gates: d.Spec.Gates, Protect: d.Spec.Protect, Path: v.Path(),
		Ignores:    ignores(ctx, d.Repo),
		Personal:   v.PersonalSettings(),
		Converters: func() (map[string]string, error) { return d.Repo.Converters(ctx) },
		GitDir:     d.Repo.GitDir(), CommonDir: d.Repo.CommonDir(),
	})
	if err != nil {
		return err
	}
	d.JudgedBy = judges
	return record.SaveProtectedOnce(l, judges.Whole())
}

// ignores asks the repository what git ignores.
func ignores(ctx context.Context, repo *git.Repo) func(path string) (bool, error) {
	return func(path string) (bool, error) { return repo.Ignores(ctx, path) }
}
