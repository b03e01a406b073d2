package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/prompt"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/verify"
)

// refusals returns what Begin checks before anything changes. Some of the errors may be nil.
func (p *Prepared) refusals(ctx context.Context) []error {
	all := []error{p.refuseLongGoal(), p.refuseActive(), p.refuseDirty(), p.refuseUnconfined(), p.refuseUntrusted()}
	all = append(all, missingGatePrograms(p.Spec, p.root, p.env)...)
	return slices.Concat(all, []error{p.refuseBranch(ctx)}, p.gitLocks(ctx))
}

// gitLocks returns lock files of git that prevent commits, so that no turn is paid for in vain.
// The loop's own worktree has its own locks.
func (p *Prepared) gitLocks(ctx context.Context) []error {
	if p.Repo == nil || p.Spec.NoCommit || p.Spec.UsesWorktree {
		return nil
	}
	return p.Repo.HeldLocks(ctx)
}

// Refuse returns why the loop cannot begin, or nil.
func (p *Prepared) Refuse(ctx context.Context) error { return cmp.Or(p.refusals(ctx)...) }

// AllRefusals returns all reasons why the loop cannot begin: those of Refuse, and what only
// the agents' clients can tell. It changes nothing.
func (p *Prepared) AllRefusals(ctx context.Context) []error {
	all := append(p.refusals(ctx), p.refuseRunning())
	all = append(all, p.Repo.NewBranchObstacles(ctx, p.newBranch())...)
	all = append(all, p.checkAgent(ctx, p.Spec.Agent))
	return withoutNil(append(all, p.reviewerErrors(ctx)...))
}

// AllRefusalsInSession returns the reasons of RefuseInSession, and reviewers that cannot be
// asked.
func (p *Prepared) AllRefusalsInSession(ctx context.Context, in UserSession) []error {
	return withoutNil(append(p.refusalsInSession(ctx, in), p.reviewerErrors(ctx)...))
}

func withoutNil(all []error) []error {
	return slices.DeleteFunc(all, func(err error) bool { return err == nil })
}

// refuseMissingFilter refuses a repository with files that git cannot read here, since a
// program that they are filtered by is missing.
func refuseMissingFilter(ctx context.Context, repo *git.Repo) error {
	m, missing, err := repo.MissingFilter(ctx)
	if err != nil || !missing {
		return err
	}
	hint := "install " + m.Program
	if m.Filter == "lfs" {
		hint = "install git-lfs (https://git-lfs.com), then  git lfs pull"
	}
	return failure.New(failure.Usage, hint, "git cannot read %s: its filter %q needs %s, which is not installed", m.File, m.Filter, m.Program)
}

// refuseLongGoal refuses a goal that the prompts would have to cut: the agent would not miss the rest.
func (p *Prepared) refuseLongGoal() error {
	if len(p.Spec.Prompt) <= prompt.MaxGoal {
		return nil
	}
	return failure.New(failure.Usage, "put the details into a file of this repository, and name it in the goal; or write a plan with several tasks",
		"the goal has %d bytes, and each prompt repeats at most %d of it", len(p.Spec.Prompt), prompt.MaxGoal)
}

// refuseRunning refuses to begin if a process drives a loop in this work tree.
func (p *Prepared) refuseRunning() error {
	if p.Spec.UsesWorktree || p.Conflicts.Running == "" {
		return nil
	}
	return failure.New(failure.Usage, fmt.Sprintf("pawl status %s shows it; pawl stop %[1]s ends it; or --worktree to run beside it", p.Conflicts.Running),
		"loop %s runs here", p.Conflicts.Running)
}

// refuseBranch returns why commits cannot go to the named branch, or nil.
func (p *Prepared) refuseBranch(ctx context.Context) error {
	here := p.Spec.Branch == p.Status.Branch && !p.Spec.UsesWorktree
	if p.Spec.Branch == "" || here {
		return nil // made by its id, or there
	}
	if p.Spec.UsesWorktree {
		return p.Repo.CheckWorktreeBranch(ctx, p.Spec.Branch)
	}
	return p.Repo.CheckBranch(ctx, p.Spec.Branch)
}

// newBranch returns the branch that the loop would create and switch to, or "".
func (p *Prepared) newBranch() string {
	switch {
	case p.Spec.NoCommit || p.Spec.Branch != "" && p.Spec.Branch == p.Status.Branch:
		return ""
	case p.Spec.Branch == "":
		return record.DefaultLoopBranch("<loop>")
	}
	return p.Spec.Branch
}

// checkAgent returns why an agent cannot be started or is not logged in, or nil.
func (p *Prepared) checkAgent(ctx context.Context, a record.Agent) error {
	who, err := newAgent(a, "")
	if err != nil {
		return err
	}
	if _, err := who.Version(ctx); err != nil {
		return err
	}
	if c, ok := who.(agent.LoginChecker); ok {
		if err := c.CheckLogin(ctx, agent.Options{Dir: p.root, Env: a.Env, Args: a.Args}); !errors.Is(err, agent.ErrLoginUnknown) {
			return err
		}
	}
	return nil
}

// reviewerErrors is checkAgent for reviewers that are not the loop's agent.
func (p *Prepared) reviewerErrors(ctx context.Context) []error {
	var all []error
	for _, a := range otherReviewers(p.Spec) {
		if err := p.checkAgent(ctx, a); err != nil {
			all = append(all, reviewError(err))
		}
	}
	return all
}

// missingGatePrograms returns an error for each gate whose program is missing, or whose
// script is, outside the work tree. Such a
// gate can give no result.
func missingGatePrograms(spec record.Spec, root string, env environment.Environment) []error {
	var all []error
	vars := environment.ForGates(env.Vars, spec.GateEnv)
	for _, g := range gate.Commands(spec.Gates) {
		if program := verify.MissingProgram(g, root, vars, len(spec.Setup) > 0); program != "" {
			all = append(all, failure.New(failure.Usage, "put the program where the gate finds it (PATH, or the path that it names), or fix the gate's command",
				"gate %q cannot be run: there is no program %s", g.Name, program))
		}
		if script, outside := verify.MissingScript(g, root, len(spec.Setup) > 0); outside {
			all = append(all, failure.New(failure.Usage, "fix the path in the gate's command; it is relative to the repository's root, or the gate's folder",
				"gate %q cannot be run: there is no file %s", g.Name, script))
		}
	}
	return all
}
