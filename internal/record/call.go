package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// ToolCallsFile is the name of the file in a loop's folder that holds what ran
// in the session that the loop lives in, one ToolCall a line.
const ToolCallsFile = "tools.jsonl"

// BegunFile is the name of the one beside it that holds when these calls began, one
// ToolCall a line, of which only At and ID are set. A call that was refused is there too.
const BegunFile = "begun.jsonl"

// RanFile is the name of the one that holds what ran in sessions of Pawl's own:
// the runner's, and isolated tries. No turn of the user's is among them, and
// nothing in it says how far their session has come.
const RanFile = "ran.jsonl"

// ContinueFile is the name of the file in a loop's folder that holds the prompt
// for a turn that ended without a claim, written ahead.
const ContinueFile = "continue.md"

// CommandMax is how much of a command is kept: enough to find a file's name in.
const CommandMax = 2000

// ToolCall is a tool call that ran, as much of it as is needed to tell the agent's
// changes from the user's.
type ToolCall struct {
	Tool    string `json:"tool,omitempty"`    // the client's name for it
	Path    string `json:"path,omitempty"`    // that it wrote to, absolute
	Command string `json:"command,omitempty"` // that it ran, its beginning
	Dir     string `json:"dir,omitempty"`     // where the command ran, absolute; "" = the root
	// Background says that the client left the command running.
	Background bool `json:"background,omitempty"`
	// Test is what the command's tests came to, where it ran any. A runner notes a
	// call before it runs: there it is a line of its own.
	Test *loop.TestRun `json:"test,omitempty"`
	// Any says that what ran cannot be told: any change may come of it.
	Any bool `json:"any,omitempty"`
	// At is when the runner allowed the call, before it ran; in a session, when the call
	// had run.
	At time.Time `json:"at,omitzero"`
	// ID is the client's for the call, in a session: its beginning has the same one.
	ID string `json:"id,omitempty"`
	// Until makes the line a span: calls, or what they started, were at work from At
	// until then.
	Until time.Time `json:"until,omitzero"`
	// Gates says that the span is one of Pawl's own gates, not of calls.
	Gates bool `json:"gates,omitempty"`
	// Theirs makes the line a mark: the calls from byte From of the file up to
	// here ran in a turn that the user's own prompt began. They are theirs.
	Theirs bool  `json:"theirs,omitempty"`
	From   int64 `json:"from,omitempty"`
}

// AppendTo adds the call to a file of calls. One short write at the end of a file
// is whole, also beside others.
func (c ToolCall) AppendTo(path string) error {
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("note a tool call: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("note a tool call: %w", err)
	}
	if _, err = f.Write(append(line, '\n')); err == nil {
		return f.Close()
	}
	_ = f.Close() // the write's error says more
	return fmt.Errorf("note a tool call: %w", err)
}

// AgentsCalls are the agent's of the calls in data, which begins at byte from of
// the file, and how much of data they are. A line that is being written is left
// for the next time, one that cannot be read says nothing.
func AgentsCalls(data []byte, from int64) (calls []ToolCall, n int64) {
	var starts []int64 // of the lines of calls
	for {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return calls, n
		}
		at := from + n
		n += int64(len(line)) + 1
		data = rest
		var c ToolCall
		if json.Unmarshal(line, &c) != nil {
			continue
		}
		if !c.Theirs {
			calls, starts = append(calls, c), append(starts, at)
			continue
		}
		for len(starts) > 0 && starts[len(starts)-1] >= c.From {
			calls, starts = calls[:len(calls)-1], starts[:len(starts)-1]
		}
	}
}
