package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// OutOfScope returns the changes for which a claim of these tasks would be refused now.
func OutOfScope(ctx context.Context, l *store.Loop, env environment.Environment, m memory.Memory, tasks []string) (runner.OutOfScopeFiles, error) {
	r, err := readOnlyRunner(ctx, l)
	if err != nil {
		return runner.OutOfScopeFiles{}, err
	}
	r.StateDir, r.HomeDir = env.PawlHome, env.Home
	return r.OutOfScope(ctx, tasks, m.ActionContext())
}

// readOnlyRunner returns a Runner that only reads, for a loop that another process drives.
func readOnlyRunner(ctx context.Context, l *store.Loop) (*runner.Runner, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return nil, err
	}
	repo, err := Repo(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("open the work tree: %w", err)
	}
	return &runner.Runner{Loop: l, Spec: spec, Repo: repo}, nil
}

// AdviceVerifier returns a Verifier for a loop that another process drives, on the agent's work
// tree. It reads the owner's results and keeps its own ones apart: they are advice only.
func AdviceVerifier(ctx context.Context, l *store.Loop, env environment.Environment) (*verify.Verifier, *git.Repo, error) {
	return sideVerifier(ctx, l, env, verify.Options{Dir: filepath.Join(l.Dir, "advice"), Known: verifyDir(l)})
}

// verifyDir returns the folder of the Verifier of the loop's owner.
func verifyDir(l *store.Loop) string { return filepath.Join(l.Dir, "verify") }

// sideVerifier returns a Verifier with a separate folder, for a loop that another process drives.
func sideVerifier(ctx context.Context, l *store.Loop, env environment.Environment, o verify.Options) (*verify.Verifier, *git.Repo, error) {
	r, err := readOnlyRunner(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	spec, repo := r.Spec, r.Repo
	sandbox, err := sandboxBuilder{l, spec, repo, env}.build(ctx, spec.Agent, o.Dir)
	if err != nil {
		return nil, nil, err
	}
	o.Root, o.Repo, o.Env, o.UserEnv, o.Setup, o.Tests = repo.Root(), repo, env.Vars, spec.GateEnv, spec.Setup, spec.Tests
	o.Marker, o.Prefix, o.Release = l.ID, sandbox.Gates, sandbox.Close
	o.Marks = r.OwnFiles
	v, err := verify.New(o)
	if err != nil {
		return nil, nil, errors.Join(err, sandbox.Close())
	}
	return v, repo, nil
}

// ReaderRequest says where read-only sessions run.
type ReaderRequest struct {
	Env      environment.Environment
	Root     string // of the repository
	Dir      string // the user's current folder
	StateDir string // folder for the agent's state between turns
}

// ReaderAgent returns the configured agent for sessions that only read, with their options. It fails
// if the agent is not installed or known to be logged out.
func ReaderAgent(ctx context.Context, s config.Settings, q ReaderRequest) (agent.Agent, agent.Options, error) {
	p := &Prepared{root: q.Root, Settings: s, programDir: q.Dir}
	a := record.Agent{Name: s.Agent, Command: s.AgentCommand, Model: s.Model, Args: s.AgentArgs, Env: s.AgentEnv}
	a.Command = p.agentProgram(a)
	who, err := newAgent(a, q.StateDir)
	if err != nil {
		return nil, agent.Options{}, err
	}
	if _, blind := who.(agent.Blind); blind {
		return nil, agent.Options{}, failure.New(failure.Usage, "--agent claude plans; pawl run PLAN works with any agent",
			"Pawl must be able to deny the agent's tool calls; it cannot for %s", s.Agent)
	}
	o := agent.Options{Dir: q.Root, Model: a.Model, Args: a.Args, Env: a.Env, Redact: redact.New(q.Env.Vars)}
	return who, o, p.checkAgent(ctx, a)
}
