package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// OutOfScope returns the changes for which a claim of these tasks would be refused now.
func OutOfScope(ctx context.Context, l *store.Loop, env environment.Environment, m record.Memory, tasks []string) (runner.Strays, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return runner.Strays{}, err
	}
	repo, err := Repo(ctx, l)
	if err != nil {
		return runner.Strays{}, fmt.Errorf("open the work tree: %w", err)
	}
	return (&runner.Runner{Loop: l, Spec: spec, Repo: repo, StateDir: env.PawlHome, HomeDir: env.Home}).OutOfScope(ctx, tasks, m)
}

// Adviser returns a Verifier for a loop that another process drives, on the agent's work
// tree. It reads the owner's results and keeps its own ones apart: they are advice only.
func Adviser(ctx context.Context, l *store.Loop, env environment.Environment) (*verify.Verifier, *git.Repo, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, nil, err
	}
	repo, err := Repo(ctx, l)
	if err != nil {
		return nil, nil, fmt.Errorf("open the work tree: %w", err)
	}
	known, dir := filepath.Join(l.Dir, "verify"), filepath.Join(l.Dir, "advice")
	wall, err := sandboxBuilder{l, spec, repo, env}.build(ctx, spec.Agent, dir)
	if err != nil {
		return nil, nil, err
	}
	v, err := verify.New(verify.Options{
		Root: repo.Root(), Repo: repo, Dir: dir, Known: known, Env: env.Vars, Set: spec.GateEnv,
		Setup: spec.Setup, Tests: spec.Tests, Marker: l.ID, Prefix: wall.Gates, Release: wall.Close,
		Marks: (&runner.Runner{Loop: l, Spec: spec, Repo: repo}).Marks,
	})
	if err != nil {
		return nil, nil, errors.Join(err, wall.Close())
	}
	return v, repo, nil
}
