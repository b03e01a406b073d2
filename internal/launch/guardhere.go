package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/frozen"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
)

// Guarding is what the guard would hold a loop to that began here now.
type Guarding struct {
	Rules     guard.Rules
	Settings  config.Settings
	Untrusted []config.Command // what a file of the repository allows or asks about and nobody trusted: it is not among the rules
}

// GuardHere finds out what the guard would go by, for a user who asks. A broken
// configuration is an error; there need be neither git, a plan nor a gate.
func GuardHere(ctx context.Context, dir string, env environment.Environment) (Guarding, error) {
	root, repo, err := asked(ctx, dir)
	if err != nil {
		return Guarding{}, err
	}
	q := Request{Dir: dir, Env: env}
	p, err := decide(q, root)
	if err != nil { // there is no plan, or more than one
		q.Text = "whatever it is"
		if p, err = decide(q, root); err != nil {
			return Guarding{}, err
		}
	}
	g := Guarding{Settings: p.Settings}
	g.Untrusted = p.leaveOutUntrusted()
	if len(p.Settings.Gates) == 0 && len(p.Suggested) > 0 {
		p.Settings.Gates = []gate.Gate{{Name: p.Suggested[0], Command: p.Suggested[0]}}
	}
	if err := p.look(ctx, repo); err != nil {
		return Guarding{}, err
	}
	if err := p.order(ctx); err != nil {
		return Guarding{}, err
	}
	p.Spec.Branch = p.Status.Branch
	o := frozen.Options{Root: root, Gates: p.Spec.Gates, Protect: p.Spec.Protect}
	if repo != nil {
		o.Ignores = ignores(ctx, repo)
	}
	judges, err := frozen.Look(ctx, o)
	if err != nil {
		return Guarding{}, fmt.Errorf("find protected files: %w", err)
	}
	places := record.GuardDirs{Root: root, State: env.PawlHome, Home: env.Home, Temp: os.TempDir()}
	g.Rules = p.Spec.GuardRules(places, record.TurnScope{Protected: judges.Whole()})
	return g, nil
}

// asked is the work tree that a user stands in; any folder will do, in the middle
// of a merge too, for nothing is begun there.
func asked(ctx context.Context, dir string) (root string, repo *git.Repo, err error) {
	repo, err = git.Reopen(ctx, dir)
	if _, ok := errors.AsType[*git.NoRepoError](err); ok {
		return resolved(dir), nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	has, err := repo.HasCommit(ctx)
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("read HEAD: %w", err)
	case !has:
		return repo.Root(), nil, nil
	}
	if repo, err = repo.Inert(ctx); err != nil {
		return "", nil, err
	}
	return repo.Root(), repo, nil
}

// leaveOutUntrusted takes the entries that loosen the guard and that nobody trusted
// out of its settings, and returns them.
func (p *Prepared) leaveOutUntrusted() (untrusted []config.Command) {
	var allow, ask []string
	g := &p.Settings.Guard
	for i, c := range p.Settings.GuardCommands() {
		switch {
		case c.File != "" && slices.Contains(p.Untrusted, c):
			untrusted = append(untrusted, c)
		case i < len(g.Allow):
			allow = append(allow, g.Allow[i])
		default:
			ask = append(ask, g.Ask[i-len(g.Allow)])
		}
	}
	g.Allow, g.Ask = allow, ask
	return untrusted
}
