package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/statefile"
)

// byAgentMax bounds how much of each transcript is searched: of one that is longer
// nobody knows what its beginning says.
const byAgentMax = 16 << 20

// byAgent tells whether the session's agent, or one of its subagents, made a tool
// call that may have written what one of the names stands for. It is yes where no
// transcript tells.
func (h *hook) byAgent(names []string) bool {
	if h.p.Transcript == "" {
		return true
	}
	paths := []string{h.p.Transcript}
	below := filepath.Join(strings.TrimSuffix(h.p.Transcript, ".jsonl"), "subagents")
	entries, err := os.ReadDir(below)
	if err != nil && !os.IsNotExist(err) {
		return true
	}
	for _, e := range entries {
		paths = append(paths, filepath.Join(below, e.Name()))
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		data := fileTail(path, byAgentMax+1)
		return len(data) == 0 || len(data) > byAgentMax || mayHaveWritten(data, names)
	})
}

// mayHaveWritten searches the lines of a transcript.
func mayHaveWritten(transcript []byte, names []string) bool {
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
			continue // what a person, or a tool, said
		}
		for _, c := range l.Message.Content {
			var in struct {
				Command string `json:"command"`
			}
			_ = json.Unmarshal(c.Input, &in) // another tool's has none
			named := slices.ContainsFunc(names, func(n string) bool { return bytes.Contains(c.Input, []byte(n)) })
			if c.Type == "tool_use" && named && statefile.MayWrite(c.Name, in.Command) {
				return true
			}
		}
	}
	return false
}
