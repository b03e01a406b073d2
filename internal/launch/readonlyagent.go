package launch

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
)

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
