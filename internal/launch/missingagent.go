package launch

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
)

// missingAgent is used if the agent is not installed. Its methods return the error.
type missingAgent struct {
	name string
	err  error
}

var _ agent.Agent = missingAgent{}

// Name returns the agent's name.
func (a missingAgent) Name() string { return a.name }

// Version returns the error.
func (a missingAgent) Version(context.Context) (string, error) { return "", a.err }

// Start returns the error.
func (a missingAgent) Start(context.Context, agent.Options) (agent.Session, error) { return nil, a.err }
