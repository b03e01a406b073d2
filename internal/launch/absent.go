package launch

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
)

// absent stands in for an agent that cannot be made.
type absent struct {
	name string
	why  error
}

var _ agent.Agent = absent{}

// Name of the agent that there is not.
func (a absent) Name() string { return a.name }

// Version says why it cannot be told.
func (a absent) Version(context.Context) (string, error) { return "", a.why }

// Start says why there is no session.
func (a absent) Start(context.Context, agent.Options) (agent.Session, error) { return nil, a.why }
