package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/store"
)

// SessionSpans returns the spans in which tool calls of the loop's session ran. A call
// that has not ended, or may have left a process running, extends to now. A call without
// a start extends from the loop's start. ok is false if the end of a call is unknown.
// Calls of the user's turns are included: in doubt a file that appeared then is the
// agent's.
func SessionSpans(l *store.Loop, started, now time.Time) (spans []ToolCall, ok bool, err error) {
	begun, err := readCalls(StartedCallsPath(l))
	if err != nil {
		return nil, false, err
	}
	ended, err := readCalls(ToolCallsPath(l))
	if err != nil {
		return nil, false, err
	}
	open := map[string]time.Time{}
	for _, c := range begun {
		if at, known := open[c.ID]; !known || c.At.Before(at) {
			open[c.ID] = c.At
		}
	}
	over := map[string]bool{}
	for _, c := range ended {
		if c.UserTurn || c.Kind.ReadOnly() {
			continue
		}
		if c.At.IsZero() || c.ID == "" {
			return nil, false, nil
		}
		at, known := open[c.ID]
		if !known {
			at = started
		}
		until := c.At
		if c.mayLeaveProcess() {
			until = now
		}
		over[c.ID] = true
		spans = append(spans, ToolCall{At: at, Until: until})
	}
	for id, at := range open {
		if !over[id] || id == "" {
			spans = append(spans, ToolCall{At: at, Until: now})
		}
	}
	return spans, true, nil
}

// mayLeaveProcess reports whether a process of the call may run on after its end.
func (c ToolCall) mayLeaveProcess() bool {
	text := strings.NewReplacer("&&", "", ">&", "", "&>", "").Replace(c.Command)
	return c.Background || len(c.Command) >= MaxCommandBytes || c.Command != "" && c.Kind != toolcall.Run || strings.Contains(text, "&") ||
		strings.Contains(text, "setsid") || strings.Contains(text, "daemon")
}

// readCalls returns the complete lines of a file of calls.
func readCalls(path string) (calls []ToolCall, err error) {
	data, err := atomicfile.Read(path, atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tool calls: %w", err)
	}
	for line := range bytes.Lines(data) {
		var c ToolCall
		if json.Unmarshal(line, &c) == nil {
			calls = append(calls, c)
		}
	}
	return calls, nil
}
