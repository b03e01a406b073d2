package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/session/place"
	"github.com/pawl-dev/pawl/internal/store"
)

const (
	fastPollInterval  = 25 * time.Millisecond // while the answer to the stop is due
	slowPollInterval  = time.Second           // while the loop works or waits
	answerTimeout     = 3 * time.Minute       // after which a stop will not be answered
	adoptTimeout      = 30 * time.Second      // for the start of a loop from files, with its first gate run
	sameStopWindow    = 3 * time.Second       // the two hooks of one stop may start this far apart
	sessionIDTimeout  = 3 * time.Second       // for a session that lost its id to get another
	userTurnSilence   = time.Minute           // without a line in the transcript, after which the user's turn counts as over
	clientTurnSilence = 15 * time.Minute      // the same for a turn that the client began, which may be one long tool call
	driverTimeout     = 10 * time.Second      // after which work without a driver is started again
)

// runWaker is the waker, a second hook of the same event that the client does not wait
// for. If the session was allowed to end while the loop continues, the waker stays and
// wakes the session when its next turn is due. In an unattended session the client would
// wait for it, and the first hook waits as long as needed: there it exits at once.
func (h *handler) runWaker(ctx context.Context) int {
	if h.Env.Session.Unattended || h.event.Event != codec.Stop && h.event.Event != codec.StopFailure {
		return exitOK
	}
	b, err := h.waitForBinding(ctx)
	if err != nil || b.Responder != "" && b.Responder != h.installation() || !h.waitForAnswer(ctx) {
		return exitOK
	}
	idleSince, boundAt := h.now, h.now
	for ; ; sleep(ctx, slowPollInterval) {
		now, err := h.currentBinding(b)
		if errors.Is(err, session.ErrNone) && ctx.Err() == nil && time.Since(boundAt) < sessionIDTimeout {
			continue
		}
		b, boundAt = now, time.Now()
		if ctx.Err() != nil || err != nil || b.LastStop != h.event.StopID() || !b.WaitingForTurn || h.isOrphaned() || !fileExists(store.Open(h.Env.PawlHome).Loop(b.Loop).Dir) {
			return exitOK // another stop was answered since, or loop or client are gone
		}
		if b.Busy && h.isTurnRunning(b) {
			continue // the user's own turn, or the client's: its end is answered like any other
		}
		l := store.Open(h.Env.PawlHome).Loop(b.Loop)
		m, _, err := record.Load(l)
		if err != nil {
			return exitOK // a damaged journal is reported at the next stop
		}
		if text, due := h.dueTurn(ctx, b, m); due {
			if text == "" {
				return exitOK
			}
			fmt.Fprintln(h.Err, text)
			return exitWake
		}
		_ = h.receiveWhileIdle(ctx, b, m) // tried again at the next poll
		if _, alive, err := l.Holder(); err != nil || alive || !h.hasPendingWork(m.State) && !isPromptMissing(l, b, m) {
			idleSince = time.Now()
		} else if waitOver := h.isWaitOver(m.State); waitOver || time.Since(idleSince) > driverTimeout {
			idleSince = time.Now()
			if waitOver {
				err = h.withLease(ctx, b, h.endWait)
			}
			if err := errors.Join(err, h.runDriver(ctx, b.Loop, nil)); err != nil {
				fmt.Fprintln(h.Err, "pawl-hook: error:", err)
				return exitError
			}
		}
	}
}

// endWait ends a wait whose time has come. The driver gave no clear result: where the machine's
// clock was set back meanwhile, only a process that has waited knows how long.
func (h *handler) endWait(s *lease) error {
	if !h.isWaitOver(s.mem.State) {
		return nil
	}
	return s.endAction(loop.TimerFired{})
}

// receiveWhileIdle receives changes of another tool's files while the loop rests.
func (h *handler) receiveWhileIdle(ctx context.Context, b session.Binding, m memory.Memory) error {
	if b.CompatFile == "" || m.State.Phase != loop.Waiting && m.State.Phase != loop.Paused {
		return nil
	}
	hasMessages := false
	err := h.withLease(ctx, b, func(s *lease) error {
		err := h.receiveFileChanges(ctx, s, b)
		hasMessages = s.loop.HasMessages()
		return err
	})
	if err == nil && hasMessages {
		err = h.runDriver(ctx, b.Loop, nil)
	}
	return err
}

// currentBinding returns the current binding, also if the client has given the session
// another id: a hook of the old one wakes the new one.
func (h *handler) currentBinding(b session.Binding) (session.Binding, error) {
	now, err := h.bindings.Find(b.Session)
	if !errors.Is(err, session.ErrNone) {
		return now, err
	}
	m, _, err := record.Load(store.Open(h.Env.PawlHome).Loop(b.Loop))
	if err != nil || m.State.Phase == loop.Ended {
		return now, fmt.Errorf("loop %s has left this session", b.Loop)
	}
	return h.bindings.Find(m.Bound.Session)
}

// isTurnRunning reports whether the turn of the last prompt still runs, by how long ago
// the client wrote to the transcript: Esc ends a turn without an event. A wake during a
// turn is kept by the client until the turn ends. After the user's turn that does no
// harm; after one in which the client resumed by itself, which is the loop's, the session
// would be told to continue twice.
func (h *handler) isTurnRunning(b session.Binding) bool {
	info, err := os.Stat(h.event.Transcript)
	if err != nil {
		return false
	}
	silent := time.Since(info.ModTime())
	if silent < userTurnSilence || silent >= clientTurnSilence || len(b.Prompts) == 0 {
		return silent < userTurnSilence
	}
	return h.event.TurnOrigin(b.Prompts[len(b.Prompts)-1].ID) == codec.OriginAutoContinuation
}

// isOrphaned reports whether the caller of the hook has exited.
func (h *handler) isOrphaned() bool { return h.IsOrphaned != nil && h.IsOrphaned() }

// waitForBinding returns the session's binding. If another tool's files may start a loop at
// this very stop, it waits for that.
func (h *handler) waitForBinding(ctx context.Context) (session.Binding, error) {
	b, err := h.bindings.Find(h.event.Session)
	if !errors.Is(err, session.ErrNone) || !place.At(h.projectDir(), h.Env).MayHaveLoop() {
		return b, err
	}
	for deadline := h.now.Add(adoptTimeout); errors.Is(err, session.ErrNone) && time.Now().Before(deadline) && ctx.Err() == nil; {
		sleep(ctx, pollInterval)
		b, err = h.bindings.Find(h.event.Session)
	}
	return b, err
}

// waitForAnswer waits for the answer to this stop, and reports whether the session was
// allowed to end while the loop continues.
func (h *handler) waitForAnswer(ctx context.Context) bool {
	for deadline := h.now.Add(answerTimeout); time.Now().Before(deadline) && ctx.Err() == nil; sleep(ctx, fastPollInterval) {
		b, err := h.bindings.Find(h.event.Session)
		if err != nil {
			return false
		}
		if b.LastStop != h.event.StopID() || !h.replayed && !b.LastStopAt.After(h.now.Add(-sameStopWindow)) {
			continue
		}
		// The turn before may have ended with the same words, less than that ago.
		if b.WaitingForTurn || b.LastStopAt.After(h.now) || time.Since(h.now) > sameStopWindow {
			return b.WaitingForTurn
		}
	}
	return false
}

// dueTurn reports whether to wake the session, and with what. Of several wakers only one
// gets the text.
func (h *handler) dueTurn(ctx context.Context, b session.Binding, m memory.Memory) (text string, due bool) {
	turning := m.State.Phase == loop.Turning && m.TurnsBegun > b.GivenTurns
	if !turning && m.State.Phase != loop.Ended {
		return "", false
	}
	s, err := h.acquire(ctx, b)
	if err != nil {
		return "", !store.IsHeld(err)
	}
	if err := s.release(); err != nil || turning && !promptReady(s) {
		return "", err != nil
	}
	if m.State.Phase == loop.Ended {
		return h.endNotice(ctx, b, s), true
	}
	if text, err = promptText(s, "", ""); err != nil {
		return "", true
	}
	busy := false
	_, err = h.bindings.Change(ctx, b.Session, func(now *session.Binding) bool {
		busy = now.Busy && h.isTurnRunning(*now)
		if now.LastStop != b.LastStop || now.GivenTurns >= s.mem.TurnsBegun || busy {
			text = ""
			return false
		}
		now.GivenTurns, now.WaitingForTurn, now.ConsecutiveBlocks, now.ToolsSize = s.mem.TurnsBegun, false, 0, toolCallLogSize(s.loop)
		return true
	})
	if err != nil || busy {
		return "", !busy
	}
	if text != "" {
		h.updateFiles(ctx, b, s)
	}
	return text, true
}

// endNotice wakes the session of a loop that has ended. Only the turn that follows can
// show the user how it ended.
func (h *handler) endNotice(ctx context.Context, b session.Binding, s *lease) (text string) {
	_, err := h.bindings.Change(ctx, b.Session, func(now *session.Binding) bool {
		if now.LastStop != b.LastStop || !now.WaitingForTurn {
			return false // another hook has reported it
		}
		text = "[Pawl] " + endMessage(s) + "\nThe user sees this when your turn ends. Do nothing else: say so in one line.\n"
		now.WaitingForTurn = false
		return true
	})
	if err != nil {
		return ""
	}
	return text
}

// hasPendingWork reports whether the state machine waits for a driver.
func (h *handler) hasPendingWork(st loop.State) bool { return st.Phase.OwnerActs() || h.isWaitOver(st) }

// isPromptMissing reports whether a turn is due and its prompt has not been written, for
// example because its driver died.
func isPromptMissing(l *store.Loop, b session.Binding, m memory.Memory) bool {
	return m.State.Phase == loop.Turning && m.TurnsBegun > b.GivenTurns && !promptReady(&lease{loop: l, mem: m, failingBefore: m.State.Failing})
}

// isWaitOver reports whether the loop waits and the time has come.
func (h *handler) isWaitOver(st loop.State) bool {
	if st.Phase != loop.Waiting {
		return false
	}
	wait, _ := loop.FindAction[loop.Wait](st.Pending)
	h.clock.AdvanceTo(st.Now)
	return !h.clock.Now().Before(wait.Until)
}
