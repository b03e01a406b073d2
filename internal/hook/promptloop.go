package hook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/session"
)

// A user can also start a verify loop in a prompt: `:: verify:"go test"`. The hook of a
// prompt cannot tell the user's from a message of another session; the transcript can,
// but is written later. So the prompt is stored, and the loop starts at the next hook of
// that turn: before its first tool call, so that the gates see the tree unchanged.

// maxPromptBytes bounds the prompt that is stored.
const maxPromptBytes = 64 << 10

// requestPromptLoop handles a prompt that asks for a loop in a session without one. ok is
// false if it does not ask.
func (h *handler) requestPromptLoop(ctx context.Context) (r reply, ok bool) {
	if h.event.IsNotification() || h.event.PromptID == "" || !strings.Contains(h.event.Prompt, "::") {
		return reply{}, false
	}
	p, found, err := verifyactive.ParsePrompt(h.event.Prompt)
	if !found {
		return reply{}, false
	}
	first, onceErr := h.bindings.FirstTime(ctx, h.event.Session, h.event.PromptID)
	if onceErr == nil && !first {
		return reply{}, true // Pawl is installed twice: the other one answers
	}
	err = errors.Join(err, onceErr)
	if err == nil && len(h.event.Prompt) > maxPromptBytes {
		err = fmt.Errorf("the prompt has %d bytes; a prompt that starts a loop may have at most %d", len(h.event.Prompt), maxPromptBytes)
	}
	if err != nil {
		return reply{Refuse: "pawl: error: " + withHint(err)}, true
	}
	err = h.bindings.Bind(ctx, session.Binding{
		Session: h.event.Session, Root: h.projectDir(), Client: h.client(), Since: h.now, Responder: h.installation(),
		RequestedPrompt: session.PromptRequest{Prompt: h.event.PromptID, Text: h.event.Prompt},
	})
	if err != nil {
		return reply{Refuse: "pawl: error: " + err.Error()}, true
	}
	return reply{
		Message: fmt.Sprintf("pawl: verify loop: %s, at most %s; it begins when the client says that you typed this", p.Command, figure.Count(p.Max, "time")),
		Context: fmt.Sprintf("[Pawl] If the user wrote this: Pawl runs  %s  after each turn and tells you what fails, until it succeeds. "+
			"Do not change the command or the files that it checks with.", p.Command),
	}, true
}

// beginPromptLoop begins the loop that a prompt asked for, at the first hook of that turn
// which can tell who wrote it. The text is forgotten afterwards in any case.
func (h *handler) beginPromptLoop(ctx context.Context, b session.Binding) (session.Binding, error) {
	if b.Responder != h.installation() || h.event.Agent != "" {
		return b, session.ErrNone
	}
	forget := func(err error) (session.Binding, error) {
		_, releaseErr := h.bindings.Release(ctx, b.Session, "")
		return session.Binding{}, errors.Join(err, releaseErr)
	}
	switch {
	case h.event.Event == codec.SessionEnd || h.event.Event == codec.SessionStart, h.event.PromptID != b.RequestedPrompt.Prompt && h.event.PromptID != "":
		return forget(session.ErrNone)
	case h.event.Event != codec.PreToolUse && h.event.Event != codec.Stop:
		return b, session.ErrNone
	}
	switch author := h.pollTranscript(func() string { return h.event.AuthorOf(b.RequestedPrompt.Text) }); {
	case author == codec.OriginHuman:
	case author == codec.OriginProgram:
		h.userSeesErrors = true
		return forget(errors.New("no verify loop was started: only a prompt that the user typed can start one; here use /pawl:verify"))
	case author != "":
		return forget(session.ErrNone)
	case h.event.Event == codec.PreToolUse:
		return b, session.ErrNone // the end of the turn will tell
	default:
		h.userSeesErrors = true
		return forget(errors.New("no verify loop was started: the client does not say who wrote the prompt"))
	}
	h.userSeesErrors = true
	if _, err := forget(nil); err != nil {
		return session.Binding{}, err
	}
	begun, err := h.beginLoop(ctx, session.BeginRequest{Command: "verify-prompt", Args: b.RequestedPrompt.Text})
	if err != nil {
		return session.Binding{}, fmt.Errorf("no verify loop was started: %w", err)
	}
	h.startMessage = begun.Message
	return h.bindings.Find(h.event.Session)
}

// pollTranscript calls read until it returns something, since the client writes the
// transcript with a delay.
func (h *handler) pollTranscript(read func() string) string {
	text := read()
	for tries := 0; text == "" && tries < transcriptTries && fileExists(h.event.Transcript); tries++ {
		time.Sleep(transcriptPollInterval)
		text = read()
	}
	return text
}

// withHint formats an error with its hint.
func withHint(err error) string {
	return strings.TrimSpace(err.Error() + "\n" + hintLine(failure.Hint(err)))
}
