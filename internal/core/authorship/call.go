package authorship

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// MaxCommandBytes bounds how much of a command is recorded: enough to search it for the
// name of a file.
const MaxCommandBytes = 2000

// Call is a tool call that ran, with what is needed to attribute changes to the agent
// or the user. It is one line of a file of calls.
type Call struct {
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
	// Hooks means that the span is of the user's commit hooks, which Pawl ran.
	Hooks bool `json:"hooks,omitempty"`
	// UserTurn makes the line a marker: the calls from byte From of the file up to this
	// line ran in a turn of the user's, and are the user's.
	UserTurn bool  `json:"user_turn,omitempty"`
	From     int64 `json:"from,omitempty"`
}

// ToolCall returns the call as far as it is recorded.
func (c Call) ToolCall() toolcall.Call {
	return toolcall.Call{Tool: c.Tool, Kind: c.Kind, Path: c.Path, Command: c.Command, Background: c.Background, Dir: c.Dir, At: c.At}
}

// callLines returns the calls of a file with the offset of their lines. An incomplete last
// line is left for the next time; an unreadable line is skipped.
func callLines(data []byte) iter.Seq2[int64, Call] {
	return func(yield func(int64, Call) bool) {
		at := int64(0)
		for line := range bytes.Lines(data) {
			var c Call
			if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &c) == nil && !yield(at, c) {
				return
			}
			at += int64(len(line))
		}
	}
}

// ParseCalls returns the complete lines of a file of calls, of the agent and of the user.
func ParseCalls(data []byte) (calls []Call) {
	for _, c := range callLines(data) {
		calls = append(calls, c)
	}
	return calls
}

// Chunk is the content of a part of a file of calls.
type Chunk struct {
	Calls []Call // of the agent
	End   int64  // offset in the file behind its last complete line
	// UserCallsOffset is the offset in the file of the first call in a user's turn, or -1.
	// It may lie before the chunk.
	UserCallsOffset int64
}

// ParseChunk parses data, which begins at this offset of the file, and omits the calls in
// turns of the user.
func ParseChunk(data []byte, offset int64) Chunk {
	p := Chunk{End: offset + int64(bytes.LastIndexByte(data, '\n')+1), UserCallsOffset: -1}
	var starts []int64 // of the lines of calls
	for at, c := range callLines(data) {
		if !c.UserTurn {
			p.Calls, starts = append(p.Calls, c), append(starts, offset+at)
			continue
		}
		if p.UserCallsOffset < 0 || c.From < p.UserCallsOffset {
			p.UserCallsOffset = c.From
		}
		for len(starts) > 0 && starts[len(starts)-1] >= c.From {
			p.Calls, starts = p.Calls[:len(p.Calls)-1], starts[:len(starts)-1]
		}
	}
	return p
}

// mayLeaveProcess reports whether a process of the call may run on after its end.
func (c Call) mayLeaveProcess() bool {
	text := strings.NewReplacer("&&", "", ">&", "", "&>", "").Replace(c.Command)
	return c.Background || len(c.Command) >= MaxCommandBytes || c.Command != "" && c.Kind != toolcall.Run || strings.Contains(text, "&") ||
		strings.Contains(text, "setsid") || strings.Contains(text, "daemon")
}
