// Package hook answers the hooks of a coding agent's client: it reads one event
// from stdin, and prints what the client is to do.
//
// It runs in the keeper of a session in which a loop lives, or in a process of
// the tool (pawl hook); events of other sessions do not come here, see package
// front. The end of a turn goes to the machine of package loop, as it does in the
// runner. What needs more than that (gates, git) is done by `pawl session drive`,
// which outlives this process; the answer is read from the journal's fold when it
// is there, or given later by the waker, a second hook that the client does not
// wait for and that may wake the session.
//
// Hooks fail open: whatever goes wrong here is journalled where that is possible
// and never keeps a session from ending, and never ends a loop; before a tool call
// they fail closed where they were installed so (--closed). What the client
// sends and takes is measured, see docs/reference/hooks.md.
//
// Files: payload.go and reply.go are the client's shapes; stop.go, failed.go,
// prompt.go, tool.go and begin.go answer the events; give.go hands out a turn;
// drive.go starts what outlives us; wake.go is the waker.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/front"
	"github.com/pawl-dev/pawl/internal/session"
)

// Call is one call of the hook by the client.
type Call struct {
	ID      string   // of this call by the client, should it be answered once more; "" if it will not be
	Args    []string // behind the program's name: the agent's name, flags
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Env     environment.Environment
	Tool    []string // how the tool itself is run: its path, and arguments before the command
	Parent  int      // process id of whoever started the hook: the client, where hooks run without a shell
	Version string
	Redact  func(string) string // takes secrets out of text; nil: by Env
	// Untracked lists the files below a folder of the work tree at root that git neither
	// tracks nor ignores, absolute; false if they cannot be told. nil: nobody knows.
	Untracked func(root, dir string) ([]string, bool)
	Orphan    func() bool // whether whoever started the hook is gone; nil where that ends the context

	start func(*exec.Cmd) (wait func() error, err error) // nil: as a process
}

// Exit codes, as the client understands them.
const (
	exitFine = 0
	exitOdd  = 1 // shown to the person, does nothing
	exitWake = 2 // of the waker: the session is woken with what stands on stderr
)

const usage = "usage: pawl-hook claude [--wake|--closed] < event\n"

// Run answers one event and returns the exit code. It never panics: a client
// takes a hook that dies for no answer, and so do we.
func Run(ctx context.Context, c Call) (code int) {
	wake, closed := false, false
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(c.Err, "pawl-hook: error: panic: %v\n", p)
			if code = exitFine; closed {
				code = front.Failing(c.Args, exitOdd, c.Err)
			}
		}
	}()
	again := false
	if last := len(c.Args) - 1; last > 0 && strings.HasPrefix(c.Args[last], front.Again) {
		again, c.ID, c.Args = true, strings.TrimPrefix(c.Args[last], front.Again), c.Args[:last]
	}
	switch {
	case len(c.Args) == 1 && c.Args[0] == "--version":
		fmt.Fprintf(c.Out, "pawl-hook %s\n", c.Version)
		return exitFine
	case len(c.Args) == 2 && c.Args[0] == "claude" && c.Args[1] == "--wake":
		wake = true
	case len(c.Args) == 2 && c.Args[0] == "claude" && c.Args[1] == front.Closed:
		closed = true
	case len(c.Args) == 1 && c.Args[0] == "claude":
	default:
		fmt.Fprint(c.Err, usage)
		return exitOdd
	}
	if c.Env.Loop != "" {
		return exitFine // pawl run drives this session and judges it: never two judges
	}
	h := &hook{Call: c, sessions: session.Open(c.Env.PawlHome), now: time.Now(), again: again, closed: closed}
	var ok bool
	if h.p, ok = read(c.In); !ok {
		if closed && !h.p.foreign() {
			fmt.Fprintln(c.Err, "pawl-hook: error: the event cannot be read, or is too large")
			return front.Failing(c.Args, exitOdd, c.Err)
		}
		return exitFine
	}
	if wake {
		return h.wake(ctx)
	}
	return h.answer(ctx)
}

// hook is one event being answered.
type hook struct {
	Call
	p        payload
	sessions session.Store
	now      time.Time
	person   bool   // the turn that ended was the person's own
	closed   bool   // what goes wrong denies the tool call
	again    bool   // a keeper died over this event: what it did of it is done
	told     bool   // the person is told what goes wrong at this event
	opening  string // what they are told of the loop that was begun at it
}

// answer finds the loop of the session and lets it answer.
func (h *hook) answer(ctx context.Context) int {
	b, err := h.sessions.Find(h.p.Session)
	switch {
	case err == nil && b.Loop == "":
		b, err = h.asked(ctx, b)
	case err == nil && b.Gone:
		var r reply
		if r, err = h.afterwards(ctx, b); err == nil {
			h.opening, err = r.Message, session.ErrNone
		}
	}
	if errors.Is(err, session.ErrNone) {
		b, err = h.stranger(ctx)
		if errors.Is(err, session.ErrNone) {
			return h.say(reply{})
		}
	}
	var r reply
	if err == nil {
		r, err = h.forLoop(ctx, b)
	}
	if errors.Is(err, session.ErrNone) {
		return exitFine // the loop has ended meanwhile
	}
	if err != nil {
		h.anomaly(ctx, b, err)
		fmt.Fprintf(h.Err, "pawl-hook: error: %v\n", err)
	}
	if err != nil && r.Call == nil && h.closed && h.p.Event == preToolUse {
		return front.Failing(h.Args, exitOdd, h.Err)
	}
	if err != nil && r.empty() && h.said() {
		r = reply{Message: "pawl: " + withHint(err)}
	}
	return h.say(r)
}

// say prints a reply, and before it what the person is to be told besides.
func (h *hook) say(r reply) int {
	r.Message, h.opening = strings.TrimSpace(h.opening+"\n"+r.Message), ""
	if err := r.print(h.Out, h.p.Event); err != nil {
		fmt.Fprintf(h.Err, "pawl-hook: error: %v\n", err)
	}
	if r.Last != "" { // the client passes on the last words of a hook only if it fails
		fmt.Fprintln(h.Err, "pawl: "+r.Last)
		return exitOdd
	}
	return exitFine
}

// stranger looks whether a session without a loop is to get one: by a command of
// the person, from the client's process that it had another id in, or out of
// another tool's file. It returns session.ErrNone otherwise.
func (h *hook) stranger(ctx context.Context) (session.Binding, error) {
	none := session.Binding{}
	if h.p.Agent != "" {
		return none, session.ErrNone // a subagent
	}
	if !h.Env.Session.Inside && h.Env.Session.Client == 0 { // another agent, some run these hooks too; or a person
		fmt.Fprintln(h.Err, "pawl-hook: no loop begins: neither CLAUDECODE nor CLAUDE_PID is set, so this is no hook of a Claude Code session")
		return none, session.ErrNone
	}
	switch h.p.Event {
	case userPromptExpansion:
		r, ok := h.command(ctx, none)
		if ok {
			h.say(r)
			return none, session.ErrNone
		}
	case userPromptSubmit:
		r, ok := h.typed(ctx)
		if ok {
			h.say(r)
			return none, session.ErrNone
		}
	case stop, sessionStart:
		if h.p.Event == sessionStart && h.p.Source != "clear" {
			return none, session.ErrNone
		}
		b, err := h.sessions.Adopt(ctx, h.p.Session, h.client(), h.now)
		if !errors.Is(err, session.ErrNone) {
			return b, err
		}
		if h.p.Event == stop {
			return h.adoptFile(ctx)
		}
	}
	return none, session.ErrNone
}

// anomaly journals what went wrong, where the loop's journal can be had.
func (h *hook) anomaly(ctx context.Context, b session.Binding, err error) {
	if b.Loop == "" {
		return
	}
	_ = h.quietly(ctx, b, func(s *seat) error { // where that fails too, the person is told at the stop
		s.note(loop.Anomaly, h.p.Event+": "+err.Error())
		return nil
	})
}

// said tells whether the person is told of what goes wrong at this event: where
// it matters, not at each tool call.
func (h *hook) said() bool {
	return h.told || h.p.Event == stop || h.p.Event == sessionStart || h.p.Event == userPromptExpansion
}

// client is the process of the session's client.
func (h *hook) client() int {
	if h.Env.Session.Client != 0 {
		return h.Env.Session.Client
	}
	return h.Parent
}

// forLoop answers an event of a session with a loop.
func (h *hook) forLoop(ctx context.Context, b session.Binding) (reply, error) {
	b, mine, err := h.judges(ctx, b)
	if err != nil || !mine {
		return reply{}, err
	}
	b.Unattended = b.Unattended || h.Env.Session.Unattended
	switch h.p.Event {
	case preToolUse:
		return h.tool(ctx, b)
	case permissionRequest:
		return h.permission(b)
	case postToolUse, postToolUseFailure:
		return reply{}, h.ran(b)
	}
	if h.p.Agent != "" {
		return reply{}, nil // subagents come and go inside of a turn
	}
	switch h.p.Event {
	case stop:
		return h.stop(ctx, b)
	case stopFailure:
		return h.failed(ctx, b)
	case userPromptSubmit:
		return h.prompted(ctx, b)
	case userPromptExpansion:
		r, _ := h.command(ctx, b)
		return r, nil
	case sessionStart:
		return h.started(ctx, b)
	case sessionEnd:
		return h.ended(ctx, b)
	case preCompact:
		return reply{}, h.remark(ctx, b, "the context is being compacted")
	}
	return reply{}, nil
}

// installation is the one that we belong to.
func (h *hook) installation() string {
	if h.Env.Session.Plugin != "" {
		return "plugin"
	}
	return "settings"
}

// judges tells whether this installation answers for the session: the first one
// that came does. Should it have fallen silent (a plugin that was disabled), the
// stop that we last let pass was never answered, and we take its place.
func (h *hook) judges(ctx context.Context, b session.Binding) (session.Binding, bool, error) {
	me := h.installation()
	if b.Judge == me {
		return b, true, nil
	}
	mine := false
	b, err := h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool {
		switch {
		case b.Judge == me:
			mine = true
			return false
		case b.Judge == "", h.p.Event == stop && !b.Passed.IsZero() && b.StopAt.Before(b.Passed.Add(-agedStop)):
			b.Judge, b.Passed, mine = me, time.Time{}, true
		case h.p.Event != stop:
			return false
		default:
			b.Passed = h.now
		}
		return true
	})
	return b, mine, err
}
