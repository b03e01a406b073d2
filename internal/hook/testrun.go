package hook

import (
	"bytes"
	"cmp"
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

// turnCalls returns how many tool calls were recorded since an offset in tools.jsonl, and the last
// test run among them. It parses only lines with a test run: a turn may have hundreds of others.
func turnCalls(l *store.Loop, from int64) (n int, last *loop.TestRun) {
	data, _, _ := record.ReadCalls(record.ToolCallsPath(l), from, -1) // without the file none is known
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(`"test":{`)) {
			for _, c := range authorship.ParseCalls(line) {
				last = cmp.Or(c.Test, last)
			}
		}
	}
	return bytes.Count(data, []byte("\n")), last
}
