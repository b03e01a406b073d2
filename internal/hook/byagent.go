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
// call that may have made what one of the names stands for, paths that end in spare
// aside. It is yes where no transcript tells.
func (h *hook) byAgent(spare string, names []string) bool {
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
		return len(data) == 0 || len(data) > byAgentMax || mayHaveMade(data, spare, names)
	})
}

// mayHaveMade searches the lines of a transcript.
func mayHaveMade(transcript []byte, spare string, names []string) bool {
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
			if c.Type == "tool_use" && namesOne(string(c.Input), spare, names) && statefile.MayMake(c.Name, in.Command) {
				return true
			}
		}
	}
	return false
}

// namesOne looks for the names in the words of a tool's input.
func namesOne(input, spare string, names []string) bool {
	for word := range strings.FieldsFuncSeq(input, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`\\;|&()<>=", r) }) {
		if !strings.HasSuffix(word, spare) && slices.ContainsFunc(names, func(n string) bool { return strings.Contains(word, n) }) {
			return true
		}
	}
	return false
}
