package statefile

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
	"github.com/pawl-dev/pawl/internal/record"
)

// agentWrites tells which files of th-loop tool calls of the agent may have written to.
type agentWrites struct {
	state, channel bool
	at             int64 // how far the session's calls were read, 0 if others are among these
	theirs         bool  // what it did when m.At was set was the user's after all
}

// maxCallBytes bounds how much of the recorded tool calls is read.
const maxCallBytes = 16 << 20

// newWrites looks at the tool calls that may have come to something since the last
// time. Those of the user's session are written down when they have run, and in
// a turn that was the user's they are theirs. Those of our own sessions are
// written down before they run: all of this turn's count until the next.
func (t thFiles) newWrites(m *thState) agentWrites {
	ran, _ := t.writesSince(record.RunnerCallsFile, m.Ran, thState{})
	did, n := t.writesSince(record.ToolCallsFile, m.Calls, *m)
	m.Calls += n
	if did.at = m.Calls; ran.state || ran.channel {
		did.at = 0
	}
	did.state, did.channel = did.state || ran.state, did.channel || ran.channel
	return did
}

// runnerCallsOffset is how much our own sessions have written down.
func (t thFiles) runnerCallsOffset() int64 {
	info, err := os.Stat(filepath.Join(t.LoopDir, record.RunnerCallsFile))
	if err != nil {
		return 0
	}
	return info.Size()
}

// writesSince looks at the calls in a file from an offset on, and tells how many bytes
// of whole lines there were.
func (t thFiles) writesSince(name string, from int64, m thState) (did agentWrites, n int64) {
	f, err := atomicfile.Open(filepath.Join(t.LoopDir, name))
	if err != nil {
		return did, 0
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, from, maxCallBytes))
	if err != nil {
		return did, 0
	}
	part := authorship.ParseChunk(data, from)
	did.theirs = part.UserCallsOffset >= 0 && m.At > part.UserCallsOffset
	for _, c := range part.Calls {
		w := t.writesOf(c)
		did.state, did.channel = did.state || w.state, did.channel || w.channel
	}
	return did, part.CompleteBytes
}

// maxCompleteCommand is the length up to which a command was certainly recorded in full.
const maxCompleteCommand = authorship.MaxCommandBytes - 100

// writesOf tells what a tool call may have written to: of the channel, where a stop
// may be what it wrote. What is written by a command stands in it.
func (t thFiles) writesOf(c authorship.Call) agentWrites {
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
