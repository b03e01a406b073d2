package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// beginTimeout bounds the start of a loop, which runs its gates once. A longer start goes
// on without the hook.
const beginTimeout = 11 * time.Minute

// beginLoop starts a loop in this session.
func (h *handler) beginLoop(ctx context.Context, q session.BeginRequest) (session.BeginResult, error) {
	q.Session, q.PromptID, q.Client = h.event.Session, h.event.PromptID, h.client()
	q.Dir, q.Root, q.Unattended = h.event.Dir, h.projectDir(), h.Env.Session.Unattended
	q.Responder = h.installation()
	if q.Adopt != "" {
		q.Started = h.sessionStart()
	}
	in, err := json.Marshal(q)
	if err != nil {
		return session.BeginResult{}, fmt.Errorf("encode request to start a loop: %w", err)
	}
	out, err := h.runPawl(ctx, string(in), "session", "begin")
	var b session.BeginResult
	if jsonErr := json.Unmarshal(out, &b); jsonErr != nil {
		return session.BeginResult{}, errors.Join(err, fmt.Errorf("decode output of pawl session begin: %w", jsonErr))
	}
	if b.Error != "" {
		return session.BeginResult{}, errors.New(strings.TrimSpace(b.Error + "\n" + hintLine(b.Hint)))
	}
	return b, nil
}

// hintLine formats a hint. It returns "" for an empty hint.
func hintLine(hint string) string {
	if hint == "" {
		return ""
	}
	return "pawl: hint: " + hint
}

// projectDir returns the folder that the session belongs to; its current folder may differ.
func (h *handler) projectDir() string {
	if h.Env.Session.Project != "" {
		return h.Env.Session.Project
	}
	return h.event.Dir
}

// commandPrefix is what the client puts before the names of the plugin's commands.
const commandPrefix = "pawl:"

// answerCommand answers one of the plugin's commands. The arguments are as typed: no shell or
// template has changed them. ok is false for other commands.
func (h *handler) answerCommand(ctx context.Context, b session.Binding) (r reply, ok bool) {
	name, ok := strings.CutPrefix(h.event.Command, commandPrefix)
	if !ok {
		return reply{}, false
	}
	if h.event.PromptID != "" {
		switch first, err := h.bindings.FirstTime(ctx, h.event.Session, h.event.PromptID); {
		case err != nil:
			return reply{Refuse: "pawl: error: " + err.Error()}, true
		case !first:
			return reply{}, true // Pawl is installed twice: the other one answers
		}
	}
	loop := b.Loop
	if args := strings.Fields(h.event.Args); len(args) == 1 && name != "tell" {
		loop = args[0]
	}
	switch name {
	case "loop", "verify", "ralph-loop":
		begun, err := h.beginLoop(ctx, session.BeginRequest{Command: name, Args: h.event.Args})
		if err != nil {
			return reply{Refuse: "pawl: error: " + err.Error()}, true
		}
		if begun.Context == "" { // --help, say: the agent is not to look for a loop
			return h.showOutput([]byte(begun.Message), nil), true
		}
		return reply{Context: begun.Context, Message: begun.Message}, true
	case "cancel", "cancel-ralph":
		return h.cancel(ctx, b, name, loop), true
	case "status":
		if loop == "" {
			return h.showOutput([]byte("No loop runs in this session; pawl list shows those of this repository."), nil), true
		}
		return h.showOutput(h.runPawl(ctx, "", "status", "--", loop)), true
	case "tell":
		if b.Loop == "" {
			return h.showOutput([]byte("No loop runs in this session."), nil), true
		}
		return h.showOutput(h.runPawl(ctx, "", "tell", b.Loop, "--", h.event.Args)), true
	}
	return reply{}, false
}

// cancel ends a loop. It answers the user directly, since asking the agent to repeat it
// would cost a turn.
func (h *handler) cancel(ctx context.Context, b session.Binding, name, id string) reply {
	switch {
	case id == "" && name == "cancel":
		return reply{Answer: "No loop runs in this session."}
	case id == "":
		return reply{Answer: ralphloop.NoLoop}
	}
	r := h.showOutput(h.runPawl(ctx, "", "stop", "--", id))
	if id != b.Loop {
		return reply{Answer: r.Message}
	}
	// This prompt has no stop of its own at which to tell of the end.
	s, err := h.acquire(ctx, b)
	switch {
	case err != nil: // whoever has it ends it; the next stop tells
	case s.mem.State.Phase != loop.Ended:
		err = s.release()
	default:
		var end reply
		if end, err = h.replyForState(ctx, b, s); err == nil && end.Message != "" {
			r.Message = end.Message
		}
	}
	if err != nil && !store.IsHeld(err) && !errors.Is(err, errNotOwner) {
		r.Message += "\n" + err.Error()
	}
	return reply{Answer: r.Message}
}

// showOutput shows the tool's output to the user and the agent.
func (h *handler) showOutput(out []byte, err error) reply {
	text := strings.TrimSpace(string(out))
	if err != nil {
		text = strings.TrimSpace(text + "\n" + err.Error())
	}
	return reply{Message: text, Context: "[Pawl] " + text + "\nThe user has seen this. Say so in one line and do nothing else."}
}

// runPawl runs the tool and returns its output.
func (h *handler) runPawl(ctx context.Context, in string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, beginTimeout)
	defer cancel()
	cmd := h.pawlCommand(ctx, args...)
	cmd.Stdin = strings.NewReader(in)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	cmd.WaitDelay = time.Second
	wait, err := h.startChild(cmd)
	if err == nil {
		err = wait()
	}
	if err != nil {
		text := plan.OneLine(problem.String(), 500)
		if text == "" {
			text = err.Error()
		}
		err = errors.New(text)
	}
	return out.Bytes(), err
}

// sessionStart returns when the session began: when its client started or, for a resumed
// session, the first time in its transcript. It is zero if neither is known. The
// transcript alone does not tell: on a terminal it begins with the first prompt, and may
// not exist at the first stop.
func (h *handler) sessionStart() time.Time {
	client, first := proc.StartTime(h.Env.Session.Client), h.event.TranscriptStart()
	if client.IsZero() || !first.IsZero() && first.Before(client) {
		return first
	}
	return client
}
