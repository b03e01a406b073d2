package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/store"
)

// TranscriptFile is the file in an iteration's folder with the tool calls of a runner's
// turns, one TranscriptLine per line.
const TranscriptFile = "transcript.jsonl"

// TranscriptLine is the start or the end of a tool call. Both have the same ID, which is
// empty if the client gives none.
type TranscriptLine struct {
	At     time.Time `json:"at,omitzero"`
	ID     string    `json:"id,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Detail string    `json:"detail,omitempty"` // what the call does, in one line
	Ended  bool      `json:"ended,omitempty"`
	Failed bool      `json:"failed,omitempty"`
	Output string    `json:"output,omitempty"` // the end of what the tool answered
	// TurnEnded makes the line the end of a turn: calls that have no end were interrupted.
	TurnEnded bool `json:"turn_ended,omitempty"`
	// Dropped is the number of calls of the turn that did not fit into the file.
	Dropped int `json:"dropped,omitempty"`
}

// CallStatus says how a tool call stands.
type CallStatus string

// The statuses of a tool call.
const (
	CallRunning     CallStatus = "running"
	CallSucceeded   CallStatus = "ok"
	CallFailed      CallStatus = "failed"
	CallInterrupted CallStatus = "interrupted" // its turn ended first
)

// Call is a tool call of the agent, for display.
type Call struct {
	At     time.Time // its start; in a session, its end
	Took   time.Duration
	Tool   string
	Detail string
	Status CallStatus
	Output string
}

// TranscriptPath returns the file with the tool calls of iteration n.
func TranscriptPath(l *store.Loop, n int) string {
	return filepath.Join(l.Dir, "iterations", fmt.Sprintf("%04d", n), TranscriptFile)
}

// Transcript returns the tool calls of the runner's turns of iteration n, in the order of
// their starts, and how many were dropped.
func Transcript(l *store.Loop, n int) (calls []Call, dropped int, err error) {
	data, err := atomicfile.Read(TranscriptPath(l, n), atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read transcript: %w", err)
	}
	running := map[string]int{} // indexes in calls
	for text := range bytes.Lines(data) {
		var line TranscriptLine
		if json.Unmarshal(text, &line) != nil {
			continue // an incomplete last line
		}
		switch at, known := running[line.ID]; {
		case line.TurnEnded:
			for _, i := range running {
				calls[i].Status = CallInterrupted
			}
			clear(running)
			dropped += line.Dropped
		case !line.Ended:
			running[line.ID] = len(calls)
			calls = append(calls, Call{At: line.At, Tool: line.Tool, Detail: line.Detail, Status: CallRunning})
		case known:
			calls[at].finish(line)
			delete(running, line.ID)
		}
	}
	return calls, dropped, nil
}

func (c *Call) finish(line TranscriptLine) {
	c.Took, c.Status, c.Output = line.At.Sub(c.At), CallSucceeded, line.Output
	if line.Failed {
		c.Status = CallFailed
	}
}

// SessionCalls returns the agent's tool calls in the user's session, in the order of
// their ends.
func SessionCalls(l *store.Loop) ([]Call, error) {
	recorded, err := AgentCalls(ToolCallsPath(l), 0, -1)
	if err != nil {
		return nil, err
	}
	var calls []Call
	for _, line := range recorded.Calls {
		if line.Tool == "" {
			continue // a span
		}
		c := Call{At: line.At, Tool: line.Tool, Status: CallSucceeded}
		switch {
		case line.Command != "":
			c.Detail = "$ " + line.Command
		case line.Path != "":
			c.Detail = line.Tool + " " + line.Path
		}
		if line.Failed {
			c.Status = CallFailed
		}
		calls = append(calls, c)
	}
	return calls, nil
}
