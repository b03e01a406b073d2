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
	"github.com/pawl-dev/pawl/internal/store"
)

// SessionSpans returns the spans in which tool calls of the loop's session were at work.
// A call that has no end, or may have left something running, goes on until now. One
// whose beginning is not there began with the loop. It is not ok where the end of a call
// is unknown. The calls of the user's own turns are among them: in doubt what was made
// there is the agent's.
func SessionSpans(l *store.Loop, started, now time.Time) (spans []ToolCall, ok bool, err error) {
	begun, err := linesOf(BegunPath(l))
	if err != nil {
		return nil, false, err
	}
	ended, err := linesOf(ToolCallsPath(l))
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
		if c.Theirs || ReadsOnly(c.Tool) {
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
		if c.leaves() {
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

// leaves reports whether a call may have left something running that its end does not
// end.
func (c ToolCall) leaves() bool {
	text := strings.NewReplacer("&&", "", ">&", "", "&>", "").Replace(c.Command)
	return c.Background || len(c.Command) >= CommandMax || c.Command != "" && c.Tool != "Bash" || strings.Contains(text, "&") ||
		strings.Contains(text, "setsid") || strings.Contains(text, "daemon")
}

// linesOf are all whole lines of a file of calls.
func linesOf(path string) (calls []ToolCall, err error) {
	data, err := atomicfile.Read(path, atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the tool calls: %w", err)
	}
	for line := range bytes.Lines(data) {
		var c ToolCall
		if json.Unmarshal(line, &c) == nil {
			calls = append(calls, c)
		}
	}
	return calls, nil
}

// ReadsOnly reports whether a tool of the client changes no file.
func ReadsOnly(tool string) bool {
	switch tool {
	case "Read", "Glob", "Grep", "LS", "WebFetch", "WebSearch", "TodoWrite", "ToolSearch":
		return true
	}
	return false
}
