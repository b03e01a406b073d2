package record

import (
	"fmt"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/store"
)

// PromptPath is the file that holds what the agent is told in the turn that the
// machine began last, where the loop lives in a person's session.
func PromptPath(l *store.Loop, m Memory) string {
	return filepath.Join(l.Dir, "iterations", fmt.Sprintf("%04d", m.State.Iteration), fmt.Sprintf("prompt-%d.md", m.Begun))
}

// ContinuePath is the file that holds what the agent is told when a turn ends
// without a claim: written ahead, so that the hook need not know how.
func ContinuePath(l *store.Loop) string { return filepath.Join(l.Dir, "continue.md") }

// ToolsPath is the file to which a session's hook appends the tool calls that
// ran, one JSON object a line: a Tool.
func ToolsPath(l *store.Loop) string { return filepath.Join(l.Dir, "tools.jsonl") }

// Tool is a tool call that ran in a session.
type Tool struct {
	Tool    string `json:"tool"`
	Path    string `json:"path,omitempty"`    // that it edited, absolute
	Command string `json:"command,omitempty"` // of a shell, without secrets, its first 2,000 bytes
}
