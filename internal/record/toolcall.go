package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/store"
)

// ToolCallsFile is the file in a loop's folder with the tool calls of the user's session,
// one authorship.Call per line.
const ToolCallsFile = "tools.jsonl"

// StartedCallsFile is the file with the start of these calls, one authorship.Call per line with
// At and ID only. It includes calls that were refused.
const StartedCallsFile = "started-tools.jsonl"

// RunnerCallsFile is the file with the tool calls of Pawl's own sessions: the runner's,
// and isolated tries. None of them belongs to a turn of the user's.
const RunnerCallsFile = "runner-tools.jsonl"

// NewCall returns what to record about a tool call; redact removes secrets from its
// command, and may be nil.
func NewCall(call toolcall.Call, redact func(string) string) authorship.Call {
	recorded := authorship.Call{Tool: call.Tool, Kind: call.Kind, Path: absPath(call), Background: call.Background}
	if call.Command == "" {
		return recorded
	}
	if redact != nil {
		call.Command = redact(call.Command)
	}
	recorded.Command, recorded.Dir = call.Command[:min(len(call.Command), authorship.MaxCommandBytes)], call.Dir
	return recorded
}

// absPath returns the absolute path that a call names, or "".
func absPath(c toolcall.Call) string {
	if c.Path == "" || filepath.IsAbs(c.Path) {
		return c.Path
	}
	return filepath.Join(c.Dir, c.Path)
}

// AppendCall appends a call to a file of calls. One short write is atomic, even beside
// other writers.
func AppendCall(path string, c authorship.Call) error {
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

// RecordedCalls returns what is recorded of a loop's tool calls.
func RecordedCalls(l *store.Loop) (authorship.CallRecords, error) { return new(CallReader).Read(l) }

// CallReader reads the recorded tool calls of one loop, each time only what was appended since.
type CallReader struct {
	mu      sync.Mutex
	records authorship.CallRecords
	ends    [3]int64 // offsets behind the last complete line of each file that was read
}

// Read returns what is recorded of the loop's tool calls.
func (r *CallReader) Read(l *store.Loop) (authorship.CallRecords, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, f := range []struct {
		path  string
		calls *[]authorship.Call
	}{{RunnerCallsPath(l), &r.records.RunnerCalls}, {StartedCallsPath(l), &r.records.SessionStarts}, {ToolCallsPath(l), &r.records.SessionEnds}} {
		data, at, err := ReadCalls(f.path, r.ends[i], -1)
		if err != nil {
			return authorship.CallRecords{}, err
		}
		if at < r.ends[i] { // the file has lost its end
			*f.calls = nil
		}
		*f.calls = append(*f.calls, authorship.ParseCalls(data)...)
		r.ends[i] = at + int64(bytes.LastIndexByte(data, '\n')+1)
	}
	return r.records, nil
}

// ReadCalls returns what a file of calls holds between two offsets, and the offset at which that
// begins. until is -1 for the end of the file. A missing file holds nothing. One that is shorter
// than from has lost its end in a crash, and is read from its beginning.
func ReadCalls(path string, from, until int64) (data []byte, at int64, err error) {
	f, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read tool calls: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read tool calls: %w", err)
	}
	size := info.Size()
	if from > size {
		from = 0
	}
	if until < 0 || until > size {
		until = size
	}
	if data, err = io.ReadAll(io.NewSectionReader(f, from, min(max(0, until-from), atomicfile.Large))); err != nil {
		return nil, 0, fmt.Errorf("read tool calls: %w", err)
	}
	return data, from, nil
}

// AgentCalls returns the agent's calls in that part of a file of calls.
func AgentCalls(path string, from, until int64) (authorship.Chunk, error) {
	data, at, err := ReadCalls(path, from, until)
	return authorship.ParseChunk(data, at), err
}

// StartedByAgent returns a function that reports whether a process that began at a time
// may have been left running by the session's agent, see authorship.StartedByAgent.
func StartedByAgent(l *store.Loop, program string) func(began time.Time) bool {
	ended, _ := AgentCalls(ToolCallsPath(l), 0, -1) // without the files no process is known to be the agent's
	begun, _ := AgentCalls(StartedCallsPath(l), 0, -1)
	return authorship.MayHaveStarted(program, begun.Calls, ended.Calls)
}
