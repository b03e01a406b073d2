package hook

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// verdict is the guard's, the same that the runner gives.
func (h *hook) verdict(b session.Binding) (guard.Verdict, error) {
	if h.taken(b) {
		return guard.Verdict{Decision: guard.Deny, Reason: "loop " + b.Loop + " goes on elsewhere, in the same files: do nothing more, and end your turn"}, nil
	}
	places := record.Places{State: h.Env.PawlHome, Home: h.Env.Home, Temp: os.TempDir()}
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	rules, err := record.GuardRules(l, places, b.ByPerson(h.p.PromptID))
	if err != nil {
		return guard.Verdict{Decision: guard.Allow}, err
	}
	if h.Untracked != nil {
		rules.Past.Untracked = func(dir string) ([]string, bool) { return h.Untracked(rules.Root, dir) }
	}
	rules.Past.Ours = func(program string) bool { return proc.OnlyBegan(program, record.Started(l, program)) }
	return guard.Judge(h.call(), rules), nil
}

// call is the tool call that the event is about.
func (h *hook) call() guard.Call {
	return guard.Call{Tool: h.p.Tool, Input: h.p.Input, Dir: h.p.Dir}
}

// taken tells whether another owner has taken the loop in the middle of a turn of
// the loop's: two agents at the same work undo each other's.
func (h *hook) taken(b session.Binding) bool {
	holder, _, err := store.Open(h.Env.PawlHome).Loop(b.Loop).Holder()
	return err == nil && holder.Epoch > b.Epoch && !b.ByPerson(h.p.PromptID)
}

// tool answers a tool call before it runs. What is allowed is left to the
// client's own rules: Pawl forbids, it grants nothing but its own tools, about which
// nobody need be asked in the middle of a loop. What the guard would ask about, it
// asks the person who sits there.
func (h *hook) tool(ctx context.Context, b session.Binding) (reply, error) {
	v, err := h.verdict(b)
	if err == nil && v.Decision == guard.Allow && guard.IsOwnTool(h.p.Tool, ownServer) {
		v.Reason = "a tool of Pawl's own"
		return reply{Call: &v}, h.callBegins(b)
	}
	if err != nil {
		return reply{}, err
	}
	if v.Decision == guard.Ask && b.Unattended {
		v.Decision = guard.Deny
	}
	if record.Notable(v) {
		err = h.quietly(ctx, b, func(s *seat) error {
			s.judged(record.JudgedOf(h.call(), v, s.redact))
			return nil
		})
	}
	if v.Decision != guard.Deny {
		err = errors.Join(err, h.callBegins(b))
	}
	if v.Decision == guard.Allow {
		return reply{}, err
	}
	return reply{Call: &v}, err
}

// callBegins notes when a tool call begins, before the client asks about it: what is made
// from there on may be the agent's.
func (h *hook) callBegins(b session.Binding) error {
	if record.ReadsOnly(h.p.Tool) {
		return nil
	}
	t := record.ToolCall{At: h.now, ID: h.p.Call}
	return t.AppendTo(record.BegunPath(store.Open(h.Env.PawlHome).Loop(b.Loop)))
}

// ownServer is what the client calls the server that Pawl's plugin mounts.
const ownServer = "plugin_pawl_pawl"

// permission answers a prompt that nobody would see. Somebody who sits there is
// asked as ever.
func (h *hook) permission(b session.Binding) (reply, error) {
	if !b.Unattended {
		return reply{}, nil
	}
	v, err := h.verdict(b)
	if err != nil {
		return reply{}, err
	}
	if v.Decision == guard.Ask {
		v.Decision = guard.Deny
	}
	return reply{Call: &v}, nil
}

// ran notes a tool call that ran, and what it may have changed.
func (h *hook) ran(b session.Binding) error {
	t := record.ToolCall{Tool: h.p.Tool, At: h.now, ID: h.p.Call}
	if command, ok := h.p.Input["command"].(string); ok {
		t.Command = h.redact()(command)
		t.Command = t.Command[:min(len(t.Command), record.CommandMax)]
		if h.p.Dir != b.Root {
			t.Dir = h.p.Dir
		}
		t.Background, _ = h.p.Input["run_in_background"].(bool)
		t.Background = t.Background || h.p.Response.Background != "" // the client, or the user, let it go on
	}
	for _, key := range record.PathKeys() {
		if path, ok := h.p.Input[key].(string); ok {
			if !filepath.IsAbs(path) {
				path = filepath.Join(h.p.Dir, path)
			}
			t.Path = path
		}
	}
	t.Test = h.tested()
	return t.AppendTo(record.ToolCallsPath(store.Open(h.Env.PawlHome).Loop(b.Loop)))
}
