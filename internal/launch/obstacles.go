package launch

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/verify"
)

// check returns what speaks against beginning a loop; errors that are nil count for
// nothing.
type check func(context.Context) []error

// one makes a check of a function with one answer.
func one(f func() error) check {
	return func(context.Context) []error { return []error{f()} }
}

// checks are those that Begin makes before anything changes, the cheap ones first.
func (p *Prepared) checks() []check {
	return []check{
		one(p.refuseOver),
		one(p.refuseDirty),
		one(p.refuseUnconfined),
		one(p.refuseUntrusted),
		func(context.Context) []error { return absentGates(p.Spec, p.root, p.env) },
		func(ctx context.Context) []error { return []error{p.refuseBranch(ctx)} },
	}
}

// Refuse says why the loop must not begin, or nil.
func (p *Prepared) Refuse(ctx context.Context) error { return firstOf(ctx, p.checks()) }

// Obstacles are all the reasons for which the loop cannot begin: those of Refuse,
// and what only the agents' clients can tell. Nothing is changed.
func (p *Prepared) Obstacles(ctx context.Context) []error {
	agentReady := func(ctx context.Context) []error { return []error{p.ready(ctx, p.Spec.Agent)} }
	branchFree := func(ctx context.Context) []error { return p.Repo.NewBranchObstacles(ctx, p.newBranch()) }
	return allOf(ctx, append(p.checks(), one(p.refuseDriven), branchFree, agentReady, p.reviewersReady))
}

// ObstaclesAttended are those of RefuseAttended, and the reviewers that cannot be
// asked.
func (p *Prepared) ObstaclesAttended(ctx context.Context, in Inside) []error {
	return allOf(ctx, append(p.checksAttended(in), p.reviewersReady))
}

func firstOf(ctx context.Context, checks []check) error {
	for _, c := range checks {
		for _, err := range c(ctx) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func allOf(ctx context.Context, checks []check) []error {
	var all []error
	for _, c := range checks {
		for _, err := range c(ctx) {
			if err != nil {
				all = append(all, err)
			}
		}
	}
	return all
}

// refuseDriven names the loop that a process drives in this work tree now.
func (p *Prepared) refuseDriven() error {
	if p.Spec.OwnWorktree || p.Before.Driven == "" {
		return nil
	}
	return failure.New(failure.Usage, fmt.Sprintf("pawl status %s shows it; pawl stop %[1]s ends it; or --worktree to leave it alone", p.Before.Driven),
		"loop %s is at work here", p.Before.Driven)
}

// refuseBranch says why the loop's commits cannot go to the branch that was named.
func (p *Prepared) refuseBranch(ctx context.Context) error {
	here := p.Spec.Branch == p.Status.Branch && !p.Spec.OwnWorktree
	if p.Spec.Branch == "" || here {
		return nil // made by its id, or there
	}
	if p.Spec.OwnWorktree {
		return p.Repo.CheckWorktreeBranch(ctx, p.Spec.Branch)
	}
	return p.Repo.CheckBranch(ctx, p.Spec.Branch)
}

// newBranch is the branch that the loop would make and switch to, "" for none.
func (p *Prepared) newBranch() string {
	switch {
	case p.Spec.NoCommit || p.Spec.Branch != "" && p.Spec.Branch == p.Status.Branch:
		return ""
	case p.Spec.Branch == "":
		return runner.OwnBranch("<loop>")
	}
	return p.Spec.Branch
}

// ready says why an agent cannot be started, or cannot work once it is, or nil.
func (p *Prepared) ready(ctx context.Context, a record.Agent) error {
	who, err := agentFor(a, "")
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

// reviewersReady is the same of the reviewers that are not the loop's own agent.
func (p *Prepared) reviewersReady(ctx context.Context) []error {
	var all []error
	for _, a := range strangers(p.Spec) {
		if err := p.ready(ctx, a); err != nil {
			all = append(all, unasked(err))
		}
	}
	return all
}

// absentGates names each gate that begins with a program which is not there: such a
// gate can never tell, and the loop would end before its first turn, or after a
// night.
func absentGates(spec record.Spec, root string, env environment.Environment) []error {
	var all []error
	vars := verify.Environment(env.Vars, spec.GateEnv)
	for _, g := range gate.Commands(spec.Gates) {
		if program := verify.Absent(g, root, vars, len(spec.Setup) > 0); program != "" {
			all = append(all, failure.New(failure.Usage, "put the program where the gate finds it (PATH, or the path that it names), or mend the gate's command",
				"gate %q cannot be run: there is no program %s", g.Name, program))
		}
	}
	return all
}
