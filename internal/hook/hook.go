// Package hook answers the hook events of a coding agent's client. It reads one event
// from stdin and prints what the client should do.
//
// It runs in the daemon of a session that has a loop (package daemon), or in a process of
// the tool (pawl hook). Events of other sessions are answered by package front and do not
// get here. The end of a turn goes to the state machine of package loop, as in the
// runner. Work that needs gates or git is done by `pawl session drive`, the driver, which
// outlives this process. If the driver finishes in time the answer is read from the
// journal; otherwise the waker delivers it later. The waker is a second hook of the same
// event that the client does not wait for and that may wake the session.
//
// Hooks fail open: an error is journalled where possible, never keeps a session from
// ending, and never ends a loop. Before a tool call they fail closed if they were
// installed so (--closed). What the client sends and accepts was measured; see
// docs/reference/hooks.md.
//
// Package codec reads and writes the client's formats; this package decides what to answer.
//
// Files: stop.go, failure.go, prompt.go, toolcall.go and begin.go answer the events;
// turn.go hands out a turn;
// lease.go reads and writes the loop; driver.go starts the driver; waker.go is the waker.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/front"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
)

// Call is one call of the hook by the client.
type Call struct {
	ID      string   // of this call by the client if it may be replayed, else ""
	Args    []string // after the program's name: the agent's name, flags
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Env     environment.Environment
	Tool    []string // how to run pawl: its path, and arguments before the command
	Parent  int      // process id of the caller: the client, where hooks run without a shell
	Version string
	Redact  func(string) string // removes secrets from text; nil: chosen by Env
	// Untracked lists the files below a folder of the work tree at root that git neither
	// tracks nor ignores, as absolute paths. It returns false if git cannot tell. nil:
	// unknown.
	Untracked  func(root, dir string) ([]string, bool)
	IsOrphaned func() bool // reports whether the caller has exited; nil where the context ends then

	start func(*exec.Cmd) (wait func() error, err error) // nil: as a process
}

// reply is what the client should do.
type reply = codec.Reply

// Exit codes, as the client understands them.
const (
	exitOK    = 0
	exitError = 1 // shown to the user, otherwise ignored
	exitWake  = 2 // of the waker: the client wakes the session with the text on stderr
)

const usage = "usage: pawl-hook claude [--wake|--closed] < event\n"

// Run answers one event and returns the exit code. It never panics, since the client
// treats a hook that crashes as one that did not answer.
func Run(ctx context.Context, c Call) (code int) {
	wake, closed := false, false
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(c.Err, "pawl-hook: error: panic: %v\n", p)
			if code = exitOK; closed {
				code = front.ExitCode(c.Args, exitError, c.Err)
			}
		}
	}()
	replayed := false
	if last := len(c.Args) - 1; last > 0 && strings.HasPrefix(c.Args[last], front.RetryFlag) {
		replayed, c.ID, c.Args = true, strings.TrimPrefix(c.Args[last], front.RetryFlag), c.Args[:last]
	}
	switch {
	case len(c.Args) == 1 && c.Args[0] == "--version":
		fmt.Fprintf(c.Out, "pawl-hook %s\n", c.Version)
		return exitOK
	case len(c.Args) == 2 && c.Args[0] == "claude" && c.Args[1] == "--wake":
		wake = true
	case len(c.Args) == 2 && c.Args[0] == "claude" && c.Args[1] == front.FailClosedFlag:
		closed = true
	case len(c.Args) == 1 && c.Args[0] == "claude":
	default:
		fmt.Fprint(c.Err, usage)
		return exitError
	}
	if c.Env.Loop != "" {
		return exitOK // pawl run drives this session
	}
	h := &handler{Call: c, bindings: session.Open(c.Env.PawlHome), now: time.Now(), replayed: replayed, failClosed: closed}
	var ok bool
	if h.event, ok = codec.ReadEvent(c.In); !ok {
		if closed && !h.event.IsOtherClient() {
			fmt.Fprintln(c.Err, "pawl-hook: error: the event cannot be read, or is too large")
			return front.ExitCode(c.Args, exitError, c.Err)
		}
		return exitOK
	}
	if wake {
		return h.runWaker(ctx)
	}
	return h.answer(ctx)
}

// handler answers one event.
type handler struct {
	Call
	event          codec.Event
	bindings       session.Store
	now            time.Time
	clock          record.Clock // the loop's
	userTurn       bool         // the turn that ended was a turn of the user's, not of the loop
	failClosed     bool         // an error denies the tool call
	replayed       bool         // a daemon died while it answered this event: part of the work may be done
	userSeesErrors bool         // errors at this event are shown to the user
	startMessage   string       // text for the user about the loop that began at this event
	moveContext    string       // text for the agent about the loop that a runner took over
}

// answer finds the loop of the session and answers the event for it.
func (h *handler) answer(ctx context.Context) int {
	b, err := h.bindings.Find(h.event.Session)
	switch {
	case err == nil && b.Loop == "":
		b, err = h.beginPromptLoop(ctx, b)
	case err == nil && b.LoopMoved:
		var r reply
		if r, err = h.replyAfterMove(ctx, b); err == nil {
			h.startMessage, h.moveContext, err = r.Message, r.Context, session.ErrNone
		}
	}
	if errors.Is(err, session.ErrNone) {
		b, err = h.sessionWithoutLoop(ctx)
		if errors.Is(err, session.ErrNone) {
			return h.respond(reply{})
		}
	}
	var r reply
	if err == nil {
		r, err = h.answerForLoop(ctx, b)
	}
	if errors.Is(err, session.ErrNone) {
		return exitOK // the loop has ended meanwhile
	}
	if err != nil {
		h.noteAnomaly(ctx, b, err)
		fmt.Fprintf(h.Err, "pawl-hook: error: %v\n", err)
	}
	if err != nil && r.Call == nil && h.failClosed && h.event.Event == codec.PreToolUse {
		return front.ExitCode(h.Args, exitError, h.Err)
	}
	if err != nil && r.Empty() && h.showsErrorsToUser() {
		r = reply{Message: "pawl: " + withHint(err)}
	}
	return h.respond(r)
}

// respond prints a reply. It adds startMessage and moveContext.
func (h *handler) respond(r reply) int {
	r.Message, h.startMessage = strings.TrimSpace(h.startMessage+"\n"+r.Message), ""
	r.Context, h.moveContext = h.moveContext+r.Context, ""
	if err := r.Print(h.Out, h.event.Event); err != nil {
		fmt.Fprintf(h.Err, "pawl-hook: error: %v\n", err)
	}
	if r.ExitMessage != "" { // the client shows the stderr of a SessionEnd hook only if the hook fails
		fmt.Fprintln(h.Err, "pawl: "+r.ExitMessage)
		return exitError
	}
	return exitOK
}

// sessionWithoutLoop starts or adopts a loop if this event asks for one: a command of the
// user's, a session whose id changed, or another tool's state file. It returns
// session.ErrNone otherwise.
func (h *handler) sessionWithoutLoop(ctx context.Context) (session.Binding, error) {
	none := session.Binding{}
	if h.event.Agent != "" {
		return none, session.ErrNone // a subagent
	}
	if !h.Env.Session.Inside && h.Env.Session.Client == 0 { // another agent, some run these hooks too; or a user
		fmt.Fprintln(h.Err, "pawl-hook: no loop was started: neither CLAUDECODE nor CLAUDE_PID is set, so this is not a hook of a Claude Code session")
		return none, session.ErrNone
	}
	switch h.event.Event {
	case codec.UserPromptExpansion:
		r, ok := h.answerCommand(ctx, none)
		if ok {
			h.respond(r)
			return none, session.ErrNone
		}
	case codec.UserPromptSubmit:
		r, ok := h.requestPromptLoop(ctx)
		if ok {
			h.respond(r)
			return none, session.ErrNone
		}
	case codec.Stop, codec.SessionStart:
		if h.event.Event == codec.SessionStart && h.event.Source != "clear" {
			return none, session.ErrNone
		}
		b, err := h.bindings.Adopt(ctx, h.event.Session, h.client(), h.now)
		if !errors.Is(err, session.ErrNone) {
			return b, err
		}
		if h.event.Event == codec.Stop {
			return h.adoptCompatFile(ctx)
		}
	}
	return none, session.ErrNone
}

// noteAnomaly journals an error, if the loop's journal can be opened.
func (h *handler) noteAnomaly(ctx context.Context, b session.Binding, err error) {
	if b.Loop == "" {
		return
	}
	_ = h.withLease(ctx, b, func(s *lease) error { // where that fails too, the user is told at the stop
		s.note(loop.Anomaly, h.event.Event+": "+err.Error())
		return nil
	})
}

// showsErrorsToUser reports whether the user sees errors at this event: at the events that
// matter to them, not at each tool call.
func (h *handler) showsErrorsToUser() bool {
	return h.userSeesErrors || h.event.Event == codec.Stop || h.event.Event == codec.SessionStart || h.event.Event == codec.UserPromptExpansion
}

// client returns the process id of the session's client.
func (h *handler) client() int {
	if h.Env.Session.Client != 0 {
		return h.Env.Session.Client
	}
	return h.Parent
}

// answerForLoop answers an event of a session that has a loop.
func (h *handler) answerForLoop(ctx context.Context, b session.Binding) (reply, error) {
	b, isOurs, err := h.claimResponder(ctx, b)
	if err != nil || !isOurs {
		return reply{}, err
	}
	b.Unattended = b.Unattended || h.Env.Session.Unattended
	switch h.event.Event {
	case codec.PreToolUse:
		return h.answerToolCall(ctx, b)
	case codec.PermissionRequest:
		return h.answerPermission(b)
	case codec.PostToolUse, codec.PostToolUseFailure:
		return h.answerCallEnd(ctx, b)
	}
	if h.event.Agent != "" {
		return reply{}, nil // subagents come and go inside of a turn
	}
	switch h.event.Event {
	case codec.Stop:
		return h.answerStop(ctx, b)
	case codec.StopFailure:
		return h.answerStopFailure(ctx, b)
	case codec.UserPromptSubmit:
		return h.answerPrompt(ctx, b)
	case codec.UserPromptExpansion:
		r, _ := h.answerCommand(ctx, b)
		return r, nil
	case codec.SessionStart:
		return h.answerSessionStart(ctx, b)
	case codec.SessionEnd:
		return h.answerSessionEnd(ctx, b)
	case codec.PreCompact:
		return reply{}, h.noteIfFree(ctx, b, "the context is being compacted")
	}
	return reply{}, nil
}

// installation names the installation that this hook belongs to.
func (h *handler) installation() string {
	if h.Env.Session.Plugin != "" {
		return "plugin"
	}
	return "settings"
}

// claimResponder reports whether this installation answers for the session: the first one
// that was called does. If that one stops answering (a plugin that was disabled), the
// last stop that we ignored stays unanswered, and we take over.
func (h *handler) claimResponder(ctx context.Context, b session.Binding) (session.Binding, bool, error) {
	installation := h.installation()
	if b.Responder == installation {
		return b, true, nil
	}
	isOurs := false
	b, err := h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool {
		switch {
		case b.Responder == installation:
			isOurs = true
			return false
		case b.Responder == "", h.event.Event == codec.Stop && !b.PassedAt.IsZero() && b.LastStopAt.Before(b.PassedAt.Add(-sameStopWindow)):
			b.Responder, b.PassedAt, isOurs = installation, time.Time{}, true
		case h.event.Event != codec.Stop:
			return false
		default:
			b.PassedAt = h.now
		}
		return true
	})
	return b, isOurs, err
}
