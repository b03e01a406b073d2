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
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/protected"
	"github.com/pawl-dev/pawl/internal/record"
)

// guardConfig freezes the guard's configuration.
func guardConfig(s config.Guard, plan string) (record.GuardConfig, error) {
	g := record.GuardConfig{ProtectedBranches: s.ProtectedBranches, TickOnly: plan}
	for _, list := range []struct {
		texts []string
		to    *[]guard.Pattern
	}{{s.Allow, &g.Allow}, {s.Deny, &g.Deny}, {s.Ask, &g.Ask}} {
		for _, text := range list.texts {
			p, err := guard.ParsePattern(text)
			if err != nil {
				return g, fmt.Errorf("read the guard's settings: %w", err)
			}
			*list.to = append(*list.to, p)
		}
	}
	return g, nil
}

// GuardInfo is what the guard of a loop that began now would use.
type GuardInfo struct {
	Rules     guard.Rules
	Settings  config.Settings
	Untrusted []config.Command // what files of the repository allow or ask about without the user's trust; not part of Rules
}

// InspectGuard returns the guard's rules in a folder. A broken configuration is an error;
// git, a plan and gates are not needed.
func InspectGuard(ctx context.Context, dir string, env environment.Environment) (GuardInfo, error) {
	root, repo, err := openFolder(ctx, dir)
	if err != nil {
		return GuardInfo{}, err
	}
	q := Request{Dir: dir, Env: env}
	p, err := resolveRequest(ctx, q, root)
	if err != nil { // there is no plan, or more than one
		q.Text = "whatever it is"
		if p, err = resolveRequest(ctx, q, root); err != nil {
			return GuardInfo{}, err
		}
	}
	g := GuardInfo{Settings: p.Settings}
	g.Untrusted = p.dropUntrusted()
	if len(p.Settings.Gates) == 0 && len(p.Suggested) > 0 {
		p.Settings.Gates = []gate.Gate{{Name: p.Suggested[0], Command: p.Suggested[0]}}
	}
	if err := p.inspect(ctx, repo); err != nil {
		return GuardInfo{}, err
	}
	if err := p.buildSpec(ctx); err != nil {
		return GuardInfo{}, err
	}
	p.Spec.Branch = p.Status.Branch
	protected, err := protected.Scan(ctx, protected.Options{Root: root, Protect: p.Spec.Protect})
	if err != nil {
		return GuardInfo{}, fmt.Errorf("find protected files: %w", err)
	}
	dirs := record.GuardDirs{Root: root, StateDir: env.PawlHome, HomeDir: env.Home, TempDir: os.TempDir()}
	g.Rules = p.Spec.GuardRules(dirs, record.TurnScope{Protected: protected.WorkTreeFiles()})
	return g, nil
}

// openFolder returns the work tree of a folder, in any state of git, since nothing begins
// there.
func openFolder(ctx context.Context, dir string) (root string, repo *git.Repo, err error) {
	repo, err = git.Reopen(ctx, dir)
	if _, ok := errors.AsType[*git.NoRepoError](err); ok {
		return record.ResolvePath(dir), nil, nil
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

// dropUntrusted removes untrusted entries that loosen the guard from the settings, and
// returns them.
func (p *Prepared) dropUntrusted() (untrusted []config.Command) {
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
