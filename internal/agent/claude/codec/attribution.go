package codec

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/authorship"
)

// maxAttributionBytes bounds how much of each transcript is searched. The start of a
// longer one is unknown.
const maxAttributionBytes = 16 << 20

// MayHaveWritten reports whether the session's agent or a subagent made a tool call that
// may have written one of the named files, except paths that end in spare. It returns
// true if no transcript can be read.
func (p Event) MayHaveWritten(spare string, names []string) bool {
	if p.Transcript == "" {
		return true
	}
	paths := []string{p.Transcript}
	below := filepath.Join(strings.TrimSuffix(p.Transcript, ".jsonl"), "subagents")
	entries, err := os.ReadDir(below)
	if err != nil && !os.IsNotExist(err) {
		return true
	}
	for _, e := range entries {
		paths = append(paths, filepath.Join(below, e.Name()))
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		data := fileTail(path, maxAttributionBytes+1)
		return len(data) == 0 || len(data) > maxAttributionBytes || mayHaveWritten(data, spare, names)
	})
}

// mayHaveWritten searches the lines of a transcript for such a tool call.
func mayHaveWritten(transcript []byte, spare string, names []string) bool {
	for line := range bytes.Lines(transcript) {
		if !bytes.Contains(line, []byte(`"tool_use"`)) || !slices.ContainsFunc(names, func(n string) bool { return bytes.Contains(line, []byte(n)) }) {
			continue
		}
		var l struct {
			Message struct {
				Content []struct {
					Type  string          `json:"type"`
					Name  string          `json:"name"`
					Input json.RawMessage `json:"input"`
				} `json:"content"`
			} `json:"message"`
		}
		if json.Unmarshal(line, &l) != nil {
			continue // what a user, or a tool, said
		}
		for _, c := range l.Message.Content {
			if c.Type != "tool_use" || !authorship.Mentions(string(c.Input), names, spare) {
				continue
			}
			var input map[string]any
			if json.Unmarshal(c.Input, &input) == nil && ToolCall(c.Name, input, "").MayCreate() {
				return true
			}
		}
	}
	return false
}
