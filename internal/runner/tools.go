package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
)

// tools remembers what tool calls may have changed since a look last sorted the
// changes out, so that one that none of them explains is known to be the
// user's. A turn that dies is not looked at: what it did is remembered until
// one is.
type tools struct {
	mu         sync.Mutex
	paths      []string // written by an editing tool, absolute: as the agent named them, and with links followed
	commands   bool     // a command ran: it can have changed anything
	texts      []string // of commands, where these are known: each explains what it names
	background bool     // what one started may still be at work
	sorted     bool     // a look has been at all of this
}

// begin forgets what has been sorted out. Of a blind turn no tool call will be
// seen: anything may be its doing.
func (t *tools) begin(blind bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sorted {
		t.paths, t.texts, t.commands = nil, nil, false
	}
	t.sorted = false
	t.commands = t.commands || t.background || blind
}

// replace makes these all the calls there were. In a user's session a command
// explains only what it names: the user works beside the agent, and most
// commands change nothing.
func (t *tools) replace(calls []record.ToolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paths, t.texts, t.commands, t.sorted = nil, nil, false, false
	t.take(calls)
}

// add adds calls that were written down.
func (t *tools) add(calls []record.ToolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.take(calls)
}

func (t *tools) take(calls []record.ToolCall) {
	for _, c := range calls {
		if c.Path != "" && !c.Kind.ReadOnly() {
			t.paths = append(t.paths, filepath.Clean(c.Path), record.ResolvePath(c.Path))
		}
		if c.Command != "" {
			t.texts = append(t.texts, c.Command)
		}
		t.commands = t.commands || c.AnyChange
	}
}

// unsure makes any change that is found explained.
func (t *tools) unsure() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.commands = true
}

// sort says that a look has been at all that was done.
func (t *tools) sort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sorted = true
}

// ran says whether a command can have made a commit.
func (t *tools) ran() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.commands || slices.ContainsFunc(t.texts, commits)
}

// commits tells whether a command may make commits. It is wide: what a commit is
// taken for decides only whether later diffs count from it.
func commits(command string) bool {
	if !strings.Contains(command, "git") {
		return false
	}
	return slices.ContainsFunc([]string{"commit", "merge", "rebase", "cherry-pick", "revert", "pull", " am"}, func(verb string) bool {
		return strings.Contains(command, verb)
	})
}

// leave says whether work in the background goes on after a turn.
func (t *tools) leave(background bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.background = background
}

func (t *tools) saw(c toolcall.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch path := record.AbsPath(c); {
	case c.Kind.ReadOnly():
	case path != "":
		t.paths = append(t.paths, filepath.Clean(path), record.ResolvePath(path))
	default:
		t.commands = true
	}
}

// wrote tells whether an editing tool wrote a file, or one in a folder, given by its absolute path.
func (t *tools) wrote(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.edited(path)
}

func (t *tools) edited(path string) bool {
	path, real := filepath.Clean(path), record.ResolvePath(path)
	// Some file systems know no small and capital letters.
	return slices.ContainsFunc(t.paths, func(p string) bool {
		below := func(dir string) bool {
			return len(p) > len(dir) && os.IsPathSeparator(p[len(dir)]) && strings.EqualFold(p[:len(dir)], dir)
		}
		return strings.EqualFold(p, path) || strings.EqualFold(p, real) || below(path) || below(real)
	})
}

// explain tells whether the tool calls may have changed a file, given by its
// absolute path. A command explains any change, for what it did cannot be told
// from its text; where a user works beside the agent, one that names the file.
func (t *tools) explain(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.commands || t.named(path)
}

// names tells whether a tool call names a file, given by its absolute path: as what it
// writes, or anywhere in a command.
func (t *tools) names(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.named(path)
}

func (t *tools) named(path string) bool {
	return t.edited(path) || slices.ContainsFunc(t.texts, func(text string) bool { return strings.Contains(text, filepath.Base(path)) })
}

// ours tells whether a call is of one of Pawl's own tools.
func (r *Runner) ours(c toolcall.Call) bool {
	return r.Tools != nil && guard.IsOwnTool(c, r.Tools.Name())
}

// ran writes a call down for an owner who comes after us: of a turn that is cut
// off, nobody else knows what it did.
func (r *Runner) ran(c toolcall.Call) error {
	if c.Kind.ReadOnly() {
		return nil
	}
	t := record.NewToolCall(c, r.redacted())
	t.At = time.Now()
	return t.AppendTo(record.RunnerCallsPath(r.Loop))
}
