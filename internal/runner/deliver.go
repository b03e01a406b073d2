package runner

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

const maxTurnMessages = 100 // that are sent into one turn; more have the next prompt

// deliver sends messages into the turn under way, each once. In a user's session its
// hook gives them to the agent after the tool that runs.
func (r *Runner) deliver(messages []loop.Message) error {
	if r.attended() {
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
			return nil // full, or no turn of ours: the next prompt has the rest
		}
	}
	return nil
}
