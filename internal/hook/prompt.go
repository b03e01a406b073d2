package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
)

// prompted remembers which prompt a turn begins with: the person's own turns are
// theirs. Words typed in mid-turn come with the id of the turn's first prompt.
func (h *hook) prompted(ctx context.Context, b session.Binding) (reply, error) {
	if _, found, _ := verifyactive.ParsePrompt(h.p.Prompt); found && !h.p.notice() {
		return h.another(ctx, b)
	}
	left := b.Left
	_, err := h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool {
		news := b.Saw(session.Prompt{ID: h.p.PromptID, Notice: h.p.notice()})
		switch {
		case h.p.PromptID == "" || !news && h.p.notice():
			return false
		case !news || h.p.PromptID == b.Prompt: // the id of the turn that runs
			b.Typed = 1 + toolsLength(store.Open(h.Env.PawlHome).Loop(b.Loop))
		default:
			b.Typed = 0
		}
		b.Busy = b.Busy || news
		return true
	})
	if err != nil || !left || h.p.notice() {
		return reply{}, err
	}
	m, _, err := record.Remember(store.Open(h.Env.PawlHome).Loop(b.Loop))
	if err == nil && m.State.Phase == loop.Waiting {
		return reply{Message: b.Loop + ": " + waits(m.State)}, nil
	}
	return reply{}, nil // the stop tells of it
}

// another answers words that ask for a loop where there is one. One that has ended
// since the last stop is told of, and makes room.
func (h *hook) another(ctx context.Context, b session.Binding) (reply, error) {
	refused := reply{Refuse: fmt.Sprintf("pawl: error: %s is at work in this session\npawl: hint: ! pawl stop %[1]s ends it", b.Loop)}
	s, err := h.sit(ctx, b)
	switch {
	case busy(err):
		return refused, nil
	case errors.Is(err, errGone):
		return h.gone(ctx, b, err)
	case err != nil:
		return reply{}, err
	case s.mem.State.Phase != loop.Ended:
		return refused, s.rise()
	}
	before, err := h.standing(ctx, b, s)
	if err != nil {
		return reply{}, err
	}
	h.opening = before.Message
	r, _ := h.typed(ctx)
	return r, nil
}

// started answers the beginning of a context. The loop stays with a session that
// is taken up again; an emptied context is told the goal anew; a fork is another
// session, in which no loop lives.
func (h *hook) started(ctx context.Context, b session.Binding) (reply, error) {
	_, err := h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool {
		b.Client = h.client()
		if h.p.Source != "compact" {
			b.Judge, b.Passed = "", time.Time{} // whoever comes first in this process
			b.Blocks = 0
		}
		return true
	})
	if err != nil {
		return reply{}, err
	}
	switch h.p.Source {
	case "compact":
		return reply{Context: h.goal(b), Message: b.Loop + " goes on in this session"}, nil
	case "clear":
		err := h.quietly(ctx, b, func(s *seat) error { // for the waker, and for pawl list
			s.bound(b, false)
			return nil
		})
		return reply{Context: h.goal(b), Message: b.Loop + " goes on in this session"}, err
	}
	if s, err := h.sit(ctx, b); err == nil && s.mem.State.Phase == loop.Ended {
		return h.standing(ctx, b, s) // while nobody was there
	} else if err == nil {
		if err := s.rise(); err != nil {
			return reply{}, err
		}
	}
	// Nobody was there: the time since counts against no limit, and what was cut
	// off is begun again.
	err = h.quietly(ctx, b, func(s *seat) error {
		s.bound(b, false)
		return s.step(loop.Event{Kind: loop.OwnerLost})
	})
	if err != nil {
		return reply{}, err
	}
	return reply{Message: fmt.Sprintf("%s goes on in this session, at the end of your next turn (pawl status; pawl stop %[1]s ends it)", b.Loop)}, nil
}

// quietly does something to a loop that nobody drives at the moment.
func (h *hook) quietly(ctx context.Context, b session.Binding, do func(*seat) error) error {
	s, err := h.sit(ctx, b)
	if busy(err) || errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := do(s); err != nil {
		return errors.Join(err, s.owner.Close())
	}
	return s.rise()
}

// goal is what the agent was told of the loop, for a context that has lost it.
func (h *hook) goal(b session.Binding) string {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	text := fmt.Sprintf("[Pawl] Loop %s is at work in this session. This is what you were told:\n\n", b.Loop)
	data, err := os.ReadFile(record.WholePath(l))
	if err != nil {
		data, _ = os.ReadFile(record.ContinuePath(l)) // either will do
	}
	return text + string(data)
}

// ended keeps the loop for a session that goes on elsewhere: an emptied context
// is a session of another id in the same process. Otherwise the loop rests until
// the session is taken up again.
func (h *hook) ended(ctx context.Context, b session.Binding) (reply, error) {
	s, err := h.sitSoon(ctx, b) // a hook of StopFailure may be at it
	switch {
	case busy(err) || errors.Is(err, errGone):
	case err != nil:
		return reply{}, err
	case s.mem.State.Phase == loop.Ended: // nobody was told
		_, err = h.standing(ctx, b, s)
		return reply{}, err
	default:
		if err := errors.Join(h.errorAtEnd(s, b), s.rise()); err != nil {
			return reply{}, err
		}
	}
	if h.p.Reason == "clear" {
		return reply{}, errors.Join(h.remark(ctx, b, "the context was emptied (/clear)"), h.sessions.Await(ctx, b, []int{h.client()}, h.now))
	}
	var left error
	var st loop.State
	err = h.quietly(ctx, b, func(s *seat) error {
		s.note(loop.Info, "the session was closed ("+oneLine(h.p.Reason)+"); claude --resume "+b.Session+" goes on with it")
		s.bound(b, true)
		st = s.mem.State
		if f, ok := files(b, s).(statefile.Leaver); ok {
			left = f.Leaves(s.mem, oneLine(h.p.Reason), time.Now())
		}
		return nil
	})
	err = errors.Join(err, left)
	if st.Phase == "" || !h.Env.Session.Unattended {
		return reply{}, err
	}
	return h.leftOpen(ctx, b, st), err
}

// leftOpen tells of a loop that the end of claude -p leaves open, and what goes on with
// it. Where it waits, and the user let fresh sessions go on, these do: they wait too.
func (h *hook) leftOpen(ctx context.Context, b session.Binding, st loop.State) reply {
	text := b.Loop + " is not done"
	a, waits := st.Asked(loop.Wait)
	if waits = waits && st.Phase == loop.Waiting; waits {
		text += fmt.Sprintf(" and waits until %s (%s)", a.Until.Local().Format(time.TimeOnly), a.Text)
	}
	if waits && st.Policy.Handover {
		_, err := h.tell(ctx, "", "handover", "--", b.Loop)
		if err == nil {
			return reply{Last: text + fmt.Sprintf("; then it goes on by itself, in fresh sessions: pawl status %s, pawl stop %[1]s", b.Loop)}
		}
		text += "; fresh sessions cannot go on: " + oneLine(err.Error())
	}
	return reply{Last: text + fmt.Sprintf("; to go on:  pawl handover %s;  or  claude -p --resume %s 'go on'", b.Loop, b.Session)}
}

// oneLine makes text safe to show: one line, no control characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}
