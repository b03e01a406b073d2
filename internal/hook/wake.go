package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/session/place"
	"github.com/pawl-dev/pawl/internal/store"
)

const (
	lookSoon  = 25 * time.Millisecond // between looks while the answer to the stop is due
	lookLate  = time.Second           // while the loop is at work or waits
	answerDue = 3 * time.Minute       // in which the answer to the stop comes, or never
	adoptDue  = 30 * time.Second      // in which a loop is made of files, with its first gates
	agedStop  = 3 * time.Second       // by how much the two hooks of one stop may start apart
	changes   = 3 * time.Second       // in which a session that lost its id has another
	quiet     = time.Minute           // without a line in the transcript, after which no turn of the person's is thought to run
	toolMost  = 15 * time.Minute      // the same of a turn that the client began, which one tool call may take up
	deadDrive = 10 * time.Second      // after which work that nobody does is begun again
)

// wake is the waker: a second hook of the same event, which the client does not
// wait for. Where the answer was to let the session end though the loop goes on,
// it stays, and wakes the session when its next turn is due. In a session without
// a person the client waits for it as for any other hook: there it is of no use,
// since the first one waits as long as it takes.
func (h *hook) wake(ctx context.Context) int {
	if h.Env.Session.Unattended || h.p.Event != stop && h.p.Event != stopFailure {
		return exitFine
	}
	b, err := h.begun(ctx)
	if err != nil || b.Judge != "" && b.Judge != h.installation() || !h.left(ctx) {
		return exitFine
	}
	idle, seen := h.now, h.now
	for ; ; sleep(ctx, lookLate) {
		now, err := h.moved(b)
		if errors.Is(err, session.ErrNone) && ctx.Err() == nil && time.Since(seen) < changes {
			continue
		}
		b, seen = now, time.Now()
		if ctx.Err() != nil || err != nil || b.Stop != h.p.stopID() || !b.Left || h.orphaned() || !exists(store.Open(h.Env.PawlHome).Loop(b.Loop).Dir) {
			return exitFine // another stop was answered since, or loop or client are gone
		}
		if b.Busy && h.turns(b) {
			continue // the person's own turn, or the client's: its end is answered like any other
		}
		l := store.Open(h.Env.PawlHome).Loop(b.Loop)
		m, _, err := record.Remember(l)
		if err != nil {
			return exitFine // a damaged journal is told of at the next stop
		}
		if text, due := h.due(ctx, b, m); due {
			if text == "" {
				return exitFine
			}
			fmt.Fprintln(h.Err, text)
			return exitWake
		}
		_ = h.listen(ctx, b, m) // what was not heard now is heard at the next look
		if _, alive, err := l.Holder(); err != nil || alive || !undone(m.State) && !unwritten(l, b, m) {
			idle = time.Now()
		} else if time.Since(idle) > deadDrive || waitOver(m.State) {
			idle = time.Now()
			if err := h.drive(ctx, b.Loop); err != nil {
				fmt.Fprintln(h.Err, "pawl-hook: error:", err)
				return exitOdd
			}
		}
	}
}

// listen hears what is said in another tool's files while the loop rests.
func (h *hook) listen(ctx context.Context, b session.Binding, m record.Memory) error {
	if b.File == "" || m.State.Phase != loop.Waiting && m.State.Phase != loop.Paused {
		return nil
	}
	mail := false
	err := h.quietly(ctx, b, func(s *seat) error {
		err := h.fileSays(ctx, s, b)
		mail = s.loop.HasMail()
		return err
	})
	if err == nil && mail {
		err = h.drive(ctx, b.Loop)
	}
	return err
}

// moved is the binding as it is now, also where the client has given the session
// another id: a hook of the old one wakes the new one.
func (h *hook) moved(b session.Binding) (session.Binding, error) {
	now, err := h.sessions.Find(b.Session)
	if !errors.Is(err, session.ErrNone) {
		return now, err
	}
	m, _, err := record.Remember(store.Open(h.Env.PawlHome).Loop(b.Loop))
	if err != nil || m.State.Phase == loop.Ended {
		return now, fmt.Errorf("loop %s has left the session", b.Loop)
	}
	return h.sessions.Find(m.Bound.Session)
}

// turns tells whether the turn of the last prompt still runs, by how long ago the
// client wrote to the transcript: Esc ends a turn without a word to any hook. A wake
// that falls into a turn is kept by the client until its end. After one of the
// person's that does no harm; one in which the client goes on by itself after a
// usage limit is the loop's, and the session would be told to go on twice.
func (h *hook) turns(b session.Binding) bool {
	info, err := os.Stat(h.p.Transcript)
	if err != nil {
		return false
	}
	silent := time.Since(info.ModTime())
	if silent < quiet || silent >= toolMost || len(b.Prompts) == 0 {
		return silent < quiet
	}
	return h.turnOrigin(b.Prompts[len(b.Prompts)-1].ID) == autoContinuation
}

// orphaned: whoever started the hook is gone.
func (h *hook) orphaned() bool { return h.Orphan != nil && h.Orphan() }

// begun is the loop of the session; where the answer to this very stop may be to
// make one of another tool's files, that is waited for.
func (h *hook) begun(ctx context.Context) (session.Binding, error) {
	b, err := h.sessions.Find(h.p.Session)
	if !errors.Is(err, session.ErrNone) || !place.At(h.project(), h.Env).Loops() {
		return b, err
	}
	for deadline := h.now.Add(adoptDue); errors.Is(err, session.ErrNone) && time.Now().Before(deadline) && ctx.Err() == nil; {
		sleep(ctx, lookOften)
		b, err = h.sessions.Find(h.p.Session)
	}
	return b, err
}

// left waits for the answer to this stop, and tells whether the session was left
// with the loop going on.
func (h *hook) left(ctx context.Context) bool {
	for deadline := h.now.Add(answerDue); time.Now().Before(deadline) && ctx.Err() == nil; sleep(ctx, lookSoon) {
		b, err := h.sessions.Find(h.p.Session)
		if err != nil {
			return false
		}
		if b.Stop != h.p.stopID() || !h.again && !b.StopAt.After(h.now.Add(-agedStop)) {
			continue
		}
		// The turn before may have ended with the same words, less than that ago.
		if b.Left || b.StopAt.After(h.now) || time.Since(h.now) > agedStop {
			return b.Left
		}
	}
	return false
}

// due tells whether the session is to be woken, and with what. Of several wakers
// only one gets the text.
func (h *hook) due(ctx context.Context, b session.Binding, m record.Memory) (text string, due bool) {
	turning := m.State.Phase == loop.Turning && m.Begun > b.Given
	if !turning && m.State.Phase != loop.Ended {
		return "", false
	}
	s, err := h.sit(ctx, b)
	if err != nil {
		return "", !busy(err)
	}
	if err := s.rise(); err != nil || turning && !written(s) {
		return "", err != nil
	}
	if m.State.Phase == loop.Ended {
		return h.lastWord(ctx, b, s), true
	}
	if text, err = turnText(s, "", ""); err != nil {
		return "", true
	}
	busy := false
	_, err = h.sessions.Change(ctx, b.Session, func(now *session.Binding) bool {
		busy = now.Busy && h.turns(*now)
		if now.Stop != b.Stop || now.Given >= s.mem.Begun || busy {
			text = ""
			return false
		}
		now.Given, now.Left, now.Blocks, now.Tools = s.mem.Begun, false, 0, toolsLength(s.loop)
		return true
	})
	if err != nil || busy {
		return "", !busy
	}
	if text != "" {
		h.filesGoOn(ctx, b, s)
	}
	return text, true
}

// lastWord wakes the session of a loop that has ended: only so can the person be
// shown how, at the end of the turn that comes of it.
func (h *hook) lastWord(ctx context.Context, b session.Binding, s *seat) (text string) {
	_, err := h.sessions.Change(ctx, b.Session, func(now *session.Binding) bool {
		if now.Stop != b.Stop || !now.Left {
			return false // somebody else has told of it
		}
		text = "[Pawl] " + inFull(b, s) + "\nThe person is shown this at the end of your turn. There is nothing else to do: say so in one line.\n"
		now.Left = false
		return true
	})
	if err != nil {
		return ""
	}
	return text
}

// undone: the machine waits for something that some process is to do.
func undone(st loop.State) bool { return st.Phase.AtWork() || waitOver(st) }

// unwritten: a turn is due (that one was cut off, say), and nothing has written
// what the session is to be told.
func unwritten(l *store.Loop, b session.Binding, m record.Memory) bool {
	return m.State.Phase == loop.Turning && m.Begun > b.Given && !written(&seat{loop: l, mem: m, failing: m.State.Failing})
}

// waitOver: the loop waits, and its time has come.
func waitOver(st loop.State) bool {
	if st.Phase != loop.Waiting {
		return false
	}
	wait, _ := st.Asked(loop.Wait)
	return !time.Now().Before(wait.Until)
}
