package hook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/session"
)

// A person begins a verify loop in their own words, too: `:: verify:"go test"`. A
// message that another session sends looks just the same to the hook of a prompt,
// and only later does the transcript say who wrote it. So the words are kept, and
// the loop is begun at the next hook of that turn: before its first tool call, so
// that the gates see the tree as it was.

// typedMax bounds the words that are kept, in bytes.
const typedMax = 64 << 10

// typed looks for words that ask for a loop in a session without one. It is not
// ok where there are none.
func (h *hook) typed(ctx context.Context) (r reply, ok bool) {
	if h.p.notice() || h.p.PromptID == "" || !strings.Contains(h.p.Prompt, "::") {
		return reply{}, false
	}
	p, found, err := verifyactive.ParsePrompt(h.p.Prompt)
	if !found {
		return reply{}, false
	}
	first, odd := h.sessions.Once(ctx, h.p.Session, h.p.PromptID)
	if odd == nil && !first {
		return reply{}, true // Pawl is installed twice: the other one answers
	}
	err = errors.Join(err, odd)
	if err == nil && len(h.p.Prompt) > typedMax {
		err = fmt.Errorf("the prompt has %d bytes; at most %d may ask for a loop", len(h.p.Prompt), typedMax)
	}
	if err != nil {
		return reply{Refuse: "pawl: error: " + withHint(err)}, true
	}
	err = h.sessions.Bind(ctx, session.Binding{
		Session: h.p.Session, Root: h.project(), Client: h.client(), Since: h.now, Judge: h.installation(),
		Asked: session.Asked{Prompt: h.p.PromptID, Text: h.p.Prompt},
	})
	if err != nil {
		return reply{Refuse: "pawl: error: " + err.Error()}, true
	}
	return reply{
		Message: fmt.Sprintf("pawl: verify loop: %s, at most %s; it begins when the client says that you typed this", p.Command, counted(p.Max, "time")),
		Context: fmt.Sprintf("[Pawl] If the person wrote this: Pawl runs  %s  when this turn ends, and tells you what fails, until it succeeds. "+
			"Change neither the command nor what it checks with.", p.Command),
	}, true
}

// asked begins the loop that was asked for, at the first hook of that turn which
// can tell who asked. Whatever comes of it, the words are forgotten then.
func (h *hook) asked(ctx context.Context, b session.Binding) (session.Binding, error) {
	if b.Judge != h.installation() || h.p.Agent != "" {
		return b, session.ErrNone
	}
	forget := func(err error) (session.Binding, error) {
		_, gone := h.sessions.Release(ctx, b.Session, "")
		return session.Binding{}, errors.Join(err, gone)
	}
	switch {
	case h.p.Event == sessionEnd || h.p.Event == sessionStart, h.p.PromptID != b.Asked.Prompt && h.p.PromptID != "":
		return forget(session.ErrNone)
	case h.p.Event != preToolUse && h.p.Event != stop:
		return b, session.ErrNone
	}
	switch who := h.behind(func() string { return h.wrote(b.Asked.Text) }); {
	case who == human:
	case who == "sdk": // a program, which may pass on what it was given
		h.told = true
		return forget(errors.New("no verify loop was begun: only what a person types begins one; /pawl:verify does it here"))
	case who != "":
		return forget(session.ErrNone)
	case h.p.Event == preToolUse:
		return b, session.ErrNone // the end of the turn will tell
	default:
		h.told = true
		return forget(errors.New("the client does not say who wrote the prompt that asks for a verify loop: none is begun"))
	}
	h.told = true
	if _, err := forget(nil); err != nil {
		return session.Binding{}, err
	}
	begun, err := h.begin(ctx, BeginRequest{Command: "verify-prompt", Args: b.Asked.Text})
	if err != nil {
		return session.Binding{}, fmt.Errorf("no verify loop was begun: %w", err)
	}
	h.opening = begun.Message
	return h.sessions.Find(h.p.Session)
}

// behind looks into the transcript until it says something: the client writes it
// behind.
func (h *hook) behind(look func() string) string {
	said := look()
	for tries := 0; said == "" && tries < lagTries && exists(h.p.Transcript); tries++ {
		time.Sleep(lagWait)
		said = look()
	}
	return said
}

// withHint is an error with what to do about it.
func withHint(err error) string {
	return strings.TrimSpace(err.Error() + "\n" + hinted(failure.Hint(err)))
}
