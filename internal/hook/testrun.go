package hook

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// testRun returns the test run that this tool call made, or nil.
func (h *handler) testRun() *loop.TestRun {
	c := h.toolCall()
	if c.Kind != toolcall.Run || c.Command == "" || c.Background || h.event.Response.Background != "" || h.event.Interrupted {
		return nil
	}
	run := testreport.Run{Command: c.Command, Output: []byte(h.event.Response.Stdout + h.event.Response.Stderr), Files: testreport.FilesIn(h.event.Dir)}
	if h.event.Event == codec.PostToolUseFailure {
		code, rest, ok := testreport.CutExitCode(h.event.Error)
		run.ExitCode, run.Output = code, []byte(rest)
		if !ok && strings.HasPrefix(rest, "Command timed out") { // by the client: the tests may have been green so far
			run.ExitCode = testreport.UnknownExit
		}
	}
	return testreport.AgentTestRun(run, h.redact())
}

// lastTestRun returns the last test run since an offset in tools.jsonl.
func lastTestRun(l *store.Loop, from int64) *loop.TestRun {
	f, err := os.Open(record.ToolCallsPath(l))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, from, 16<<20))
	if err != nil {
		return nil
	}
	var last *loop.TestRun
	for line := range bytes.Lines(data) {
		var c authorship.Call
		if bytes.Contains(line, []byte(`"test":{`)) && json.Unmarshal(line, &c) == nil && c.Test != nil {
			last = c.Test
		}
	}
	return last
}
