package runner

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/guard"
)

// tools remembers what tool calls may have changed since a look last sorted the
// changes out, so that one that none of them explains is known to be the
// person's. A turn that dies is not looked at: what it did is remembered until
// one is.
type tools struct {
	mu         sync.Mutex
	paths      []string // written by an editing tool, absolute: as the agent named them, and with links followed
	commands   bool     // a command ran: it can have changed anything
	background bool     // what one started may still be at work
	sorted     bool     // a look has been at all of this
}

// begin forgets what has been sorted out. Of a blind turn no tool call will be
// seen: anything may be its doing.
func (t *tools) begin(blind bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sorted {
		t.paths, t.commands = nil, false
	}
	t.sorted = false
	t.commands = t.commands || t.background || blind
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

// ran says whether a command can have done anything.
func (t *tools) ran() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.commands
}

// leave says whether work in the background goes on after a turn.
func (t *tools) leave(background bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.background = background
}

func (t *tools) saw(c agent.ToolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch path := inputPath(c.Input); {
	case readsOnly(c.Tool):
	case path != "":
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		t.paths = append(t.paths, filepath.Clean(path), resolved(path))
	default:
		t.commands = true
	}
}

// explain tells whether the tool calls may have changed a file, given by its
// absolute path. A command explains any change: what it did cannot be told from
// its text.
func (t *tools) explain(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	path, real := filepath.Clean(path), resolved(path)
	// Some file systems know no small and capital letters.
	return t.commands || slices.ContainsFunc(t.paths, func(p string) bool {
		return strings.EqualFold(p, path) || strings.EqualFold(p, real)
	})
}

func readsOnly(tool string) bool {
	switch tool {
	case "Read", "Glob", "Grep", "LS", "WebFetch", "WebSearch", "TodoWrite", "ToolSearch":
		return true
	}
	return false
}

func pathKeys() []string { return []string{"file_path", "notebook_path", "path"} }

func inputPath(in map[string]any) string {
	for _, key := range pathKeys() {
		if p, ok := in[key].(string); ok {
			return p
		}
	}
	return ""
}

// judgeCall answers a tool call before it runs. What the guard would ask a
// person about is denied: nobody is there.
func (r *Runner) judgeCall(c agent.ToolCall) agent.Verdict {
	v := guard.Judge(guard.Call{Tool: c.Tool, Input: followed(c.Input), Dir: c.Dir}, r.rules)
	if v.Decision == guard.Allow {
		r.tools.saw(c)
		return agent.Verdict{Allow: true}
	}
	return agent.Verdict{Rule: v.Rule, Reason: v.Reason}
}

// followed is the input with the symbolic links in its path resolved: the guard
// looks at words only, and a link in the work tree may lead out of it.
func followed(in map[string]any) map[string]any {
	for _, key := range pathKeys() {
		p, ok := in[key].(string)
		if !ok || !filepath.IsAbs(p) {
			continue
		}
		out := maps.Clone(in)
		out[key] = resolved(p)
		return out
	}
	return in
}

// resolved follows the links of a path whose end need not exist yet.
func resolved(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
