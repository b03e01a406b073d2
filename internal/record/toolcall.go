package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// ToolCallsFile is the file in a loop's folder with the tool calls of the user's session,
// one ToolCall per line.
const ToolCallsFile = "tools.jsonl"

// StartedCallsFile is the file with the start of these calls, one ToolCall per line with
// At and ID only. It includes calls that were refused.
const StartedCallsFile = "started-tools.jsonl"

// RunnerCallsFile is the file with the tool calls of Pawl's own sessions: the runner's,
// and isolated tries. None of them belongs to a turn of the user's.
const RunnerCallsFile = "runner-tools.jsonl"

// DeliverFile is the file in a loop's folder that says that messages wait for the turn
// under way in a user's session.
const DeliverFile = "deliver"

// ContinueFile is the file in a loop's folder with the prompt for a turn that ended
// without a claim. It is written in advance.
const ContinueFile = "continue.md"

// MaxCommandBytes bounds how much of a command is stored: enough to find a file's name
// in.
const MaxCommandBytes = 2000

// ToolCall is a tool call that ran, with what is needed to attribute changes to the agent
// or the user.
type ToolCall struct {
	Tool    string        `json:"tool,omitempty"` // the client's name of the tool
	Kind    toolcall.Kind `json:"kind,omitempty"`
	Path    string        `json:"path,omitempty"`    // file that it wrote, absolute
	Command string        `json:"command,omitempty"` // start of the command that it ran
	Dir     string        `json:"dir,omitempty"`     // where the command ran, absolute; "": the root
	// Background means that the client left the command running.
	Background bool `json:"background,omitempty"`
	// Test is the result of the tests that the command ran, if any. A runner records a
	// call before it runs, and its test in a line of its own.
	Test *loop.TestRun `json:"test,omitempty"`
	// Failed means that the tool answered with an error, in a session.
	Failed bool `json:"failed,omitempty"`
	// AnyChange means that the effects are unknown: any change may come from this call.
	AnyChange bool `json:"any_change,omitempty"`
	// At is when the runner allowed the call, before it ran; in a session, when the call
	// ended.
	At time.Time `json:"at,omitzero"`
	// ID is the client's id of the call, in a session. The start of the call has the same
	// id.
	ID string `json:"id,omitempty"`
	// Until makes the line a span: calls, or processes they started, ran from At until
	// then.
	Until time.Time `json:"until,omitzero"`
	// Gates means that the span is of Pawl's gates, not of calls.
	Gates bool `json:"gates,omitempty"`
	// UserTurn makes the line a marker: the calls from byte From of the file up to this
	// line ran in a turn of the user's, and are the user's.
	UserTurn bool  `json:"user_turn,omitempty"`
	From     int64 `json:"from,omitempty"`
}

// NewToolCall returns what to record about a call; redact removes secrets from its
// command, and may be nil.
func NewToolCall(c toolcall.Call, redact func(string) string) ToolCall {
	t := ToolCall{Tool: c.Tool, Kind: c.Kind, Path: AbsPath(c), Background: c.Background}
	if c.Command == "" {
		return t
	}
	if redact != nil {
		c.Command = redact(c.Command)
	}
	t.Command, t.Dir = c.Command[:min(len(c.Command), MaxCommandBytes)], c.Dir
	return t
}

// AbsPath returns the absolute path that a call names, or "".
func AbsPath(c toolcall.Call) string {
	if c.Path == "" || filepath.IsAbs(c.Path) {
		return c.Path
	}
	return filepath.Join(c.Dir, c.Path)
}

// Call returns the call as far as it is recorded.
func (c ToolCall) Call() toolcall.Call {
	return toolcall.Call{Tool: c.Tool, Kind: c.Kind, Path: c.Path, Command: c.Command, Background: c.Background, Dir: c.Dir, At: c.At}
}

// AppendTo appends the call to a file of calls. One short write is atomic, even beside
// other writers.
func (c ToolCall) AppendTo(path string) error {
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("record tool call: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("record tool call: %w", err)
	}
	if _, err = f.Write(append(line, '\n')); err == nil {
		return f.Close()
	}
	_ = f.Close() // the write's error says more
	return fmt.Errorf("record tool call: %w", err)
}

// AgentCalls returns the agent's calls in data, which begins at byte from of the file,
// and how many bytes of data were read. An incomplete last line is left for the next
// time; an unreadable line is skipped.
func AgentCalls(data []byte, from int64) (calls []ToolCall, n int64) {
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
		if !c.UserTurn {
			calls, starts = append(calls, c), append(starts, at)
			continue
		}
		for len(starts) > 0 && starts[len(starts)-1] >= c.From {
			calls, starts = calls[:len(calls)-1], starts[:len(starts)-1]
		}
	}
}
