package runner

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

const maxTurnMessages = 100 // sent into one turn; further ones are in the next prompt

// deliver sends messages into the running turn, each once. In a user's session the hook
// passes them to the agent after the current tool call.
func (r *Runner) deliver(messages []loop.Message) error {
	if r.inSession {
		if err := atomicfile.Write(record.DeliverPath(r.Loop), nil, 0o600); err != nil {
			return fmt.Errorf("leave messages to the session's hook: %w", err)
		}
		return nil
	}
	for _, m := range messages {
		if r.sentMessages[m.ID] {
			continue
		}
		select {
		case r.turnMessages <- agent.Message{ID: m.ID, Text: m.DeliveryText()}:
			r.sentMessages[m.ID] = true
		default:
			return nil // full, or no turn runs: the rest is in the next prompt
		}
	}
	return nil
}
