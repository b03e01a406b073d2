package statefile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
	"github.com/pawl-dev/pawl/internal/record"
)

// agentWrites says which of th-loop's files the agent's tool calls may have written.
type agentWrites struct {
	state, channel bool
	at             int64 // how far the session's calls were read, 0 if there are also calls of our own sessions
	wasUser        bool  // the user made the write at HeldAtOffset, not the agent
}

// newWrites returns the writes of tool calls since the last time. In the user's session, calls are
// recorded after they ran, and those in a turn of the user are the user's. In our own sessions they
// are recorded before they run, so all calls of this turn count until the next one.
func (t thFiles) newWrites(m *thState) agentWrites {
	ran, _ := t.possibleWritesSince(record.RunnerCallsFile, m.RunnerCallsOffset, thState{})
	did, end := t.possibleWritesSince(record.ToolCallsFile, m.ToolCallsOffset, *m)
	m.ToolCallsOffset = end
	if did.at = m.ToolCallsOffset; ran.state || ran.channel {
		did.at = 0
	}
	did.state, did.channel = did.state || ran.state, did.channel || ran.channel
	return did
}

// runnerCallsOffset returns how many bytes our own sessions have recorded.
func (t thFiles) runnerCallsOffset() int64 {
	info, err := os.Stat(filepath.Join(t.LoopDir, record.RunnerCallsFile))
	if err != nil {
		return 0
	}
	return info.Size()
}

// possibleWritesSince returns the possible writes of the calls recorded after an offset, and the
// offset behind them.
func (t thFiles) possibleWritesSince(name string, from int64, m thState) (did agentWrites, end int64) {
	part, err := record.AgentCalls(filepath.Join(t.LoopDir, name), from, -1)
	if err != nil {
		return did, from
	}
	did.wasUser = part.UserCallsOffset >= 0 && m.HeldAtOffset > part.UserCallsOffset
	for _, c := range part.Calls {
		w := t.possibleWrites(c)
		did.state, did.channel = did.state || w.state, did.channel || w.channel
	}
	return did, part.End
}

// maxCompleteCommand is the length up to which a command is known to be recorded completely.
const maxCompleteCommand = authorship.MaxCommandBytes - 100

// possibleWrites returns what a tool call may have written. For the channel, only a stop counts; if
// a command writes one, its text contains the word.
func (t thFiles) possibleWrites(c authorship.Call) agentWrites {
	if c.AnyChange {
		return agentWrites{state: true, channel: true}
	}
	if !c.ToolCall().MayWrite() {
		return agentWrites{}
	}
	text := filepath.ToSlash(c.Path)
	if c.Path == "" {
		text = c.Command
	}
	return agentWrites{
		state: strings.Contains(text, strings.TrimSuffix(filepath.Base(t.Path), ".local.md")),
		channel: strings.Contains(text, filepath.Base(thloop.ChannelDir)) &&
			(c.Path != "" || len(text) > maxCompleteCommand || strings.Contains(strings.ToLower(text), "stop")),
	}
}
