package record

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/store"
)

// PromptPath returns the file with the prompt of the turn that the state machine began
// last, in a user's session.
func PromptPath(l *store.Loop, m memory.Memory) string {
	return filepath.Join(l.Dir, "iterations", fmt.Sprintf("%04d", m.State.Iteration), fmt.Sprintf("prompt-%d.md", m.TurnsBegun))
}

// FullPromptPath returns the file with the last complete prompt, for a context that has
// lost it.
func FullPromptPath(l *store.Loop) string { return filepath.Join(l.Dir, "full-prompt.md") }

// ContinuePromptPath returns the file with the prompt for a turn that ended without a
// claim. It is written in advance, so that the hook need not know how.
func ContinuePromptPath(l *store.Loop) string { return filepath.Join(l.Dir, "continue.md") }

// DeliverPath returns the file that tells a session's hooks that messages wait for the
// turn under way.
func DeliverPath(l *store.Loop) string { return filepath.Join(l.Dir, "deliver") }

// ToolCallsPath returns the file to which a session's hooks append tool calls that ran.
func ToolCallsPath(l *store.Loop) string { return filepath.Join(l.Dir, ToolCallsFile) }

// StartedCallsPath returns the file to which a session's hooks append the start of tool
// calls.
func StartedCallsPath(l *store.Loop) string { return filepath.Join(l.Dir, StartedCallsFile) }

// RunnerCallsPath returns the file to which the runner appends the tool calls of its
// agent.
func RunnerCallsPath(l *store.Loop) string { return filepath.Join(l.Dir, RunnerCallsFile) }

// ResolvePath follows the symbolic links of a path whose last parts need not exist.
func ResolvePath(path string) string {
	rest := ""
	for existing := filepath.Clean(path); ; existing = filepath.Dir(existing) {
		if resolved, err := filepath.EvalSymlinks(existing); err == nil {
			return filepath.Join(resolved, rest)
		}
		if existing == filepath.Dir(existing) {
			return path
		}
		rest = filepath.Join(filepath.Base(existing), rest)
	}
}

// PathNames returns the names of a file for authorship: as given, and with links followed.
func PathNames(path string) []string {
	return []string{filepath.ToSlash(filepath.Clean(path)), filepath.ToSlash(ResolvePath(path))}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
