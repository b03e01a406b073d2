package record

import (
	"fmt"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/store"
)

// PromptPath is the file that holds what the agent is told in the turn that the
// machine began last, where the loop lives in a user's session.
func PromptPath(l *store.Loop, m Memory) string {
	return filepath.Join(l.Dir, "iterations", fmt.Sprintf("%04d", m.State.Iteration), fmt.Sprintf("prompt-%d.md", m.Begun))
}

// WholePath is the file that holds what the agent was told when it was last told
// everything: for a context that has lost it.
func WholePath(l *store.Loop) string { return filepath.Join(l.Dir, "whole.md") }

// ContinuePath is the file that holds what the agent is told when a turn ends
// without a claim: written ahead, so that the hook need not know how.
func ContinuePath(l *store.Loop) string { return filepath.Join(l.Dir, ContinueFile) }

// ToolCallsPath is the file to which a session's hooks append the tool calls that
// ran.
func ToolCallsPath(l *store.Loop) string { return filepath.Join(l.Dir, ToolCallsFile) }

// BegunPath is the file to which a session's hooks append when a tool call began.
func BegunPath(l *store.Loop) string { return filepath.Join(l.Dir, BegunFile) }

// RanPath is the file to which the runner appends the tool calls of its own agent.
func RanPath(l *store.Loop) string { return filepath.Join(l.Dir, RanFile) }
