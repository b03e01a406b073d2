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
	"github.com/pawl-dev/pawl/internal/session"
)

// BeginRequest is what `pawl session begin` reads.
type BeginRequest struct {
	Session    string    `json:"session"`
	Started    time.Time `json:"started,omitzero"` // when the session began, if known
	PromptID   string    `json:"prompt_id,omitempty"`
	Client     int       `json:"client,omitempty"`
	Dir        string    `json:"dir"`                // where the session is now
	Root       string    `json:"root"`               // its project folder
	Command    string    `json:"command,omitempty"`  // loop, verify, ralph-loop
	Args       string    `json:"args,omitempty"`     // as they were typed: no shell has seen them
	Adopt      string    `json:"adopt,omitempty"`    // path of another tool's file, absolute or relative to Root
	Format     string    `json:"format,omitempty"`   // its statefile.Format
	ByAgent    bool      `json:"by_agent,omitempty"` // the session's own agent may have written that
	Unattended bool      `json:"unattended,omitempty"`
	Judge      string    `json:"judge,omitempty"`
}

// Begun is what it prints.
type Begun struct {
	Loop    string `json:"loop,omitempty"`
	Message string `json:"message,omitempty"` // for the person
	Context string `json:"context,omitempty"` // for the agent
	Error   string `json:"error,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// beginMost bounds the beginning of a loop: its gates run once on the tree as it
// is. What takes longer goes on without us.
const beginMost = 11 * time.Minute

// begin has a loop begun in this session.
func (h *hook) begin(ctx context.Context, q BeginRequest) (Begun, error) {
	q.Session, q.PromptID, q.Client = h.p.Session, h.p.PromptID, h.client()
	q.Dir, q.Root, q.Unattended = h.p.Dir, h.project(), h.Env.Session.Unattended
	q.Judge = h.installation()
	if q.Adopt != "" {
		q.Started = h.sessionBegan()
	}
	in, err := json.Marshal(q)
	if err != nil {
		return Begun{}, fmt.Errorf("ask for a loop: %w", err)
	}
	out, err := h.tell(ctx, string(in), "session", "begin")
	var b Begun
	if jsonErr := json.Unmarshal(out, &b); jsonErr != nil {
		return Begun{}, errors.Join(err, fmt.Errorf("begin a loop: pawl said no JSON: %w", jsonErr))
	}
	if b.Error != "" {
		return b, errors.New(strings.TrimSpace(b.Error + "\n" + hinted(b.Hint)))
	}
	return b, nil
}

func hinted(hint string) string {
	if hint == "" {
		return ""
	}
	return "pawl: hint: " + hint
}

// project is the folder that the session belongs to, wherever it is now.
func (h *hook) project() string {
	if h.Env.Session.Project != "" {
		return h.Env.Session.Project
	}
	return h.p.Dir
}

const ours = "pawl:" // what the client puts before the names of the plugin's commands

// command answers one of the plugin's commands, with what the person typed as
// the client has it: no shell and no template has touched it. It is not ok where
// the command is none of ours.
func (h *hook) command(ctx context.Context, b session.Binding) (r reply, ok bool) {
	name, ok := strings.CutPrefix(h.p.Command, ours)
	if !ok {
		return reply{}, false
	}
	if h.p.PromptID != "" {
		switch first, err := h.sessions.Once(ctx, h.p.Session, h.p.PromptID); {
		case err != nil:
			return reply{Refuse: "pawl: error: " + err.Error()}, true
		case !first:
			return reply{}, true // Pawl is installed twice: the other one answers
		}
	}
	loop := b.Loop
	if named := strings.Fields(h.p.Args); len(named) == 1 && name != "tell" {
		loop = named[0]
	}
	switch name {
	case "loop", "verify", "ralph-loop":
		begun, err := h.begin(ctx, BeginRequest{Command: name, Args: h.p.Args})
		if err != nil {
			return reply{Refuse: "pawl: error: " + err.Error()}, true
		}
		if begun.Context == "" { // --help, say: the agent is not to look for a loop
			return h.relay([]byte(begun.Message), nil), true
		}
		return reply{Context: begun.Context, Message: begun.Message}, true
	case "cancel", "cancel-ralph":
		return h.cancel(ctx, b, name, loop), true
	case "status":
		if loop == "" {
			return h.relay([]byte("No loop lives in this session; pawl list shows those of this repository."), nil), true
		}
		return h.relay(h.tell(ctx, "", "status", "--", loop)), true
	case "tell":
		if b.Loop == "" {
			return h.relay([]byte("No loop lives in this session."), nil), true
		}
		return h.relay(h.tell(ctx, "", "tell", b.Loop, "--", h.p.Args)), true
	}
	return reply{}, false
}

// cancel ends a loop. The person is answered, and the agent is not asked to say so
// again: that would cost a turn.
func (h *hook) cancel(ctx context.Context, b session.Binding, name, id string) reply {
	switch {
	case id == "" && name == "cancel":
		return reply{Answer: "No loop lives in this session."}
	case id == "":
		return reply{Answer: ralphloop.NoLoop}
	}
	said := h.relay(h.tell(ctx, "", "stop", "--", id))
	if id != b.Loop {
		return reply{Answer: said.Message}
	}
	// This prompt has no stop of its own at which to tell of the end.
	s, err := h.sit(ctx, b)
	switch {
	case err != nil: // whoever has it ends it; the next stop tells
	case s.mem.State.Phase != loop.Ended:
		err = s.rise()
	default:
		var over reply
		if over, err = h.standing(ctx, b, s); err == nil && over.Message != "" {
			said.Message = over.Message
		}
	}
	if err != nil && !busy(err) && !errors.Is(err, errGone) {
		said.Message += "\n" + err.Error()
	}
	return reply{Answer: said.Message}
}

// relay says to both what the tool said.
func (h *hook) relay(out []byte, err error) reply {
	text := strings.TrimSpace(string(out))
	if err != nil {
		text = strings.TrimSpace(text + "\n" + err.Error())
	}
	return reply{Message: text, Context: "[Pawl] " + text + "\nThe person has been shown this. Say so in one line and do nothing else."}
}

// tell runs the tool and returns what it prints.
func (h *hook) tell(ctx context.Context, in string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, beginMost)
	defer cancel()
	cmd := h.pawl(ctx, args...)
	cmd.Stdin = strings.NewReader(in)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	cmd.WaitDelay = time.Second
	wait, err := h.begins(cmd)
	if err == nil {
		err = wait()
	}
	if err != nil {
		said := plan.OneLine(problem.String(), 500)
		if said == "" {
			said = err.Error()
		}
		err = errors.New(said)
	}
	return out.Bytes(), err
}
