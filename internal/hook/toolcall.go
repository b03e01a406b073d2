package hook

import (
	"context"
	"errors"
	"os"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// guardVerdict asks the guard, with the same rules as in the runner.
func (h *handler) guardVerdict(b session.Binding) (guard.Verdict, error) {
	if h.isTakenOver(b) {
		return guard.Verdict{Decision: guard.Deny, Reason: "loop " + b.Loop + " continues in another process, on the same files: stop working and end your turn"}, nil
	}
	places := record.GuardDirs{StateDir: h.Env.PawlHome, HomeDir: h.Env.Home, TempDir: os.TempDir()}
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	rules, err := record.SessionGuardRules(l, places, b.IsUserTurn(h.event.PromptID))
	if err != nil {
		return guard.Verdict{Decision: guard.Allow}, err
	}
	if h.Untracked != nil {
		rules.History.UntrackedFiles = func(dir string) ([]string, bool) { return h.Untracked(rules.Root, dir) }
	}
	rules.History.OwnsEveryProcess = func(program string) bool { return proc.AllStartedWhen(program, record.StartedByAgent(l, program)) }
	return guard.Check(h.toolCall(), rules), nil
}

// toolCall returns the tool call of the event.
func (h *handler) toolCall() toolcall.Call {
	return codec.ToolCall(h.event.Tool, h.event.Input, h.event.Dir)
}

// isTakenOver reports whether another owner took the loop during one of its turns.
// Two agents at the same work would undo each other's.
func (h *handler) isTakenOver(b session.Binding) bool {
	holder, _, err := store.Open(h.Env.PawlHome).Loop(b.Loop).Holder()
	return err == nil && holder.Epoch > b.Epoch && !b.IsUserTurn(h.event.PromptID)
}

// answerToolCall answers before a tool call runs. Allowed calls are left to the client's
// permission rules; only Pawl's own tools are approved, since nobody should be asked
// about them during a loop. If the guard wants to ask, the user at the terminal is asked.
func (h *handler) answerToolCall(ctx context.Context, b session.Binding) (reply, error) {
	v, err := h.guardVerdict(b)
	if err == nil && v.Decision == guard.Allow && guard.IsOwnTool(h.toolCall(), ownServer) {
		v.Reason = "a tool of Pawl's own"
		return reply{Call: &v}, h.recordCallBegun(b)
	}
	if err != nil {
		return reply{}, err
	}
	if v.Decision == guard.Ask && b.Unattended {
		v.Decision = guard.Deny
	}
	if memory.IsNotable(v) {
		err = h.withLease(ctx, b, func(s *lease) error {
			s.recordVerdict(memory.NewGuardVerdict(h.toolCall(), v, s.redact))
			return nil
		})
	}
	if v.Decision != guard.Deny {
		err = errors.Join(err, h.recordCallBegun(b))
	}
	if v.Decision == guard.Allow {
		return reply{}, err
	}
	return reply{Call: &v}, err
}

// recordCallBegun notes when a tool call begins, before the client asks for permission.
// Files that change from then on may be the agent's.
func (h *handler) recordCallBegun(b session.Binding) error {
	if h.toolCall().Kind.ReadOnly() {
		return nil
	}
	return record.AppendCall(record.StartedCallsPath(store.Open(h.Env.PawlHome).Loop(b.Loop)), authorship.Call{At: h.now, ID: h.event.Call})
}

// ownServer is the client's name for the MCP server of Pawl's plugin.
const ownServer = "plugin_pawl_pawl"

// answerPermission answers a permission prompt in an unattended session. Elsewhere the
// user is asked.
func (h *handler) answerPermission(b session.Binding) (reply, error) {
	if !b.Unattended {
		return reply{}, nil
	}
	v, err := h.guardVerdict(b)
	if err != nil {
		return reply{}, err
	}
	if v.Decision == guard.Ask {
		v.Decision = guard.Deny
	}
	return reply{Call: &v}, nil
}

// recordCall notes a tool call that ran and what it may have changed.
func (h *handler) recordCall(b session.Binding) error {
	call := record.NewCall(h.toolCall(), h.redact())
	call.At, call.ID, call.Failed = h.now, h.event.Call, h.event.Event == codec.PostToolUseFailure
	if call.Dir == b.Root {
		call.Dir = ""
	}
	call.Background = call.Background || call.Command != "" && h.event.Response.Background != "" // the client, or the user, let it continue
	call.Test = h.testRun()
	return record.AppendCall(record.ToolCallsPath(store.Open(h.Env.PawlHome).Loop(b.Loop)), call)
}
