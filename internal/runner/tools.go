package runner

import (
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/guard"
)

// tools remembers what a turn's tool calls may have changed, so that a change
// that none of them explains is known to be the person's.
type tools struct {
	mu       sync.Mutex
	paths    []string // written by an editing tool, as the agent named them
	commands bool     // a command ran: it can have changed anything
}

func (t *tools) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paths, t.commands = nil, false
}

func (t *tools) saw(c agent.ToolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch path := inputPath(c.Input); {
	case readsOnly(c.Tool):
	case path != "":
		t.paths = append(t.paths, path)
	default:
		t.commands = true
	}
}

// explain tells whether the turn's tool calls may have changed the path, given
// relative to the root with slashes. A command explains any change: what it did
// cannot be told from its text.
func (t *tools) explain(rel string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.commands {
		return true
	}
	for _, p := range t.paths {
		if p = filepath.ToSlash(p); p == rel || strings.HasSuffix(p, "/"+rel) {
			return true
		}
	}
	return false
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
