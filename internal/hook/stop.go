package hook

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// answerStop answers the end of a turn. The state machine receives it and decides; work
// that takes longer is done by the driver, see finishStop.
func (h *handler) answerStop(ctx context.Context, b session.Binding) (reply, error) {
	s, err := h.acquireWithRetry(ctx, b)
	switch {
	case store.IsHeld(err) && h.replayed: // the gates are at work for this very turn
		return h.finishStop(ctx, b, nil)
	case store.IsHeld(err): // gates are at work; a turn that ran beside them was the user's
		if err := record.AppendCall(record.ToolCallsPath(store.Open(h.Env.PawlHome).Loop(b.Loop)), authorship.Call{UserTurn: true, From: b.ToolsSize}); err != nil {
			return reply{}, err
		}
		return h.finishStop(ctx, b, nil)
	case errors.Is(err, errNotOwner):
		return h.replyNotOwner(ctx, b, err)
	case err != nil:
		return reply{}, err
	}
	if s.mem.State.Phase == loop.Ended {
		return h.replyForState(ctx, b, s)
	}
	if h.alreadyReceived(s) {
		return h.finishStop(ctx, b, s) // the answer was decided, but not sent
	}
	if err := h.receiveFileChanges(ctx, s, b); err != nil {
		return reply{}, errors.Join(err, s.owner.Close())
	}
	if s.loop.HasMessages() { // a stop comes before the turn, and is performed in full
		if s, err = h.deliverMessages(ctx, b, s); err != nil {
			return reply{}, err
		}
	}
	if err := h.applyTurnEnd(s, b); err != nil {
		return reply{}, errors.Join(err, s.owner.Close())
	}
	return h.finishStop(ctx, b, s)
}

// alreadyReceived reports whether the state machine has received this event before, from
// a daemon that died before it answered.
func (h *handler) alreadyReceived(s *lease) bool {
	return h.replayed && slices.Contains(s.mem.State.ReceivedIDs, h.ID)
}

// deliverMessages lets the driver take the messages that were left for the loop.
func (h *handler) deliverMessages(ctx context.Context, b session.Binding, s *lease) (*lease, error) {
	if err := s.release(); err != nil {
		return nil, err
	}
	waited, cancel := context.WithDeadline(ctx, h.now.Add(interactiveTimeout))
	defer cancel()
	if err := h.runDriver(waited, b.Loop, nil); err != nil {
		return nil, err
	}
	return h.acquire(ctx, b)
}

// maxLeaseTries bounds the attempts to acquire a loop that another process holds briefly:
// a status, a message being delivered.
const maxLeaseTries = 20

// acquireWithRetry is acquire, with retries while another process holds the lock briefly.
func (h *handler) acquireWithRetry(ctx context.Context, b session.Binding) (*lease, error) {
	s, err := h.acquire(ctx, b)
	for tries := 0; store.IsHeld(err) && tries < maxLeaseTries && !h.isWorking(b); tries++ {
		s, err = h.acquire(ctx, b) // each waits a moment itself
	}
	return s, err
}

// isWorking reports whether the driver holds the loop to run gates or git.
func (h *handler) isWorking(b session.Binding) bool {
	m, _, err := record.Load(store.Open(h.Env.PawlHome).Loop(b.Loop))
	return err == nil && h.hasPendingWork(m.State)
}

// applyTurnEnd passes the end of the turn to the state machine, and applies what follows
// without git and gates.
func (h *handler) applyTurnEnd(s *lease, b session.Binding) error {
	if b.Session != s.mem.Bound.Session || s.mem.Bound.Closed || s.mem.Bound.Capped { // the client gave it another id, or it was taken up again
		s.recordBinding(b, memory.BoundSession{})
	}
	if s.mem.State.Phase == loop.Ended {
		return nil
	}
	// A user may type at any time, so the phase is left to the state machine to check.
	t := h.describeTurn(s, b)
	if err := h.handOverAtStopCap(s, b); err != nil {
		return err
	}
	if t.ByUser && t.ToolCalls > 0 {
		if err := record.AppendCall(record.ToolCallsPath(s.loop), authorship.Call{UserTurn: true, From: b.ToolsSize}); err != nil {
			return err
		}
	}
	if err := s.step(loop.Event{ID: h.ID, Payload: loop.TurnEnded{Turn: *t}}); err != nil {
		return err
	}
	// Without a claim the tree is not inspected: the next claim shows the same changes.
	// Ticked tasks of a plan are claims, so with a plan it is.
	if inspect, requested := loop.FindAction[loop.Inspect](s.actions); requested && !inspect.Deep && s.spec.Plan == "" && len(s.mem.State.Rejected) == 0 {
		s.deferSync = !s.journalDamaged // a turn that claimed nothing
		if err := s.endAction(loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}); err != nil {
			return err
		}
	}
	// A periodic goal that came from a file has not been sent to the agent yet.
	if st := s.mem.State; st.Phase == loop.Waiting && st.Policy.Kind == loop.Periodic && s.spec.MayLackGoal(st.Turns) {
		return s.endAction(loop.TimerFired{})
	}
	return nil
}

// maxTextBytes bounds how much of the agent's last message the journal keeps.
const maxTextBytes = 16 << 10

// describeTurn describes the turn that ended.
func (h *handler) describeTurn(s *lease, b session.Binding) *loop.Turn {
	last := h.event.Answer()
	calls, tested := turnCalls(s.loop, b.ToolsSize)
	t := &loop.Turn{
		ByUser: h.isUserTurn(b), SessionID: h.event.Session,
		ToolCalls: calls, ContextPercent: h.contextPercent(s.spec.Policy.Handover),
	}
	h.userTurn = t.ByUser
	if s.userTurn = h.userTurn; s.userTurn {
		return t
	}
	// The next try of a verify loop receives the text of this one; an exploration's text
	// is its result.
	p := s.spec.Policy
	t.Test = tested
	t.Claim, t.Question = s.spec.FindClaim(last), record.FindQuestion(last)
	t.Unreadable = claim.HasMalformedQuestion(last)
	if t.Claim == nil {
		t.OtherPromise = s.spec.FindOtherPromise(last)
	}
	s.mem.AddToolClaim(t)
	if t.Claim != nil || p.Verify || p.Kind == loop.Explore || p.Kind == loop.Periodic {
		t.Text = strings.ToValidUTF8(last[max(0, len(last)-maxTextBytes):], "")
	}
	if !b.Unattended { // in an unattended session nothing could wake the session again
		t.Background = h.event.PendingWakeups()
	}
	return t
}

// isUserTurn reports whether the turn that ended was the user's.
func (h *handler) isUserTurn(b session.Binding) bool {
	if h.event.StopHookActive || !b.IsUserTurn(h.event.PromptID) {
		return false
	}
	origin := h.pollTranscript(func() string { return h.event.TurnOrigin(h.event.PromptID) })
	return origin == "" || origin == codec.OriginHuman
}

// The transcript was seen to lag behind by up to 140 ms.
const (
	transcriptTries        = 12
	transcriptPollInterval = 25 * time.Millisecond
)

// toolCallLogSize returns the size of tools.jsonl, in bytes.
func toolCallLogSize(l *store.Loop) int64 {
	info, err := os.Stat(record.ToolCallsPath(l))
	if err != nil {
		return 0
	}
	return info.Size()
}

const (
	interactiveTimeout = 110 * time.Second // a user who waits longer may want to type
	unattendedTimeout  = 55 * time.Minute  // below the hour that the hook is installed with
)

// finishStop runs the driver for what the state machine requested, waits within the
// limits above, and answers with the resulting state. l is nil if another process holds
// the loop.
func (h *handler) finishStop(ctx context.Context, b session.Binding, s *lease) (reply, error) {
	wait := interactiveTimeout
	if b.Unattended {
		wait = unattendedTimeout
	}
	if s == nil && !b.Unattended {
		wait = 0
	}
	waited, cancel := context.WithDeadline(ctx, h.now.Add(wait))
	defer cancel()
	for drives := 0; ; {
		if s != nil && (!h.hasWorkNow(b, s) || waited.Err() != nil || drives == maxDriverStarts) {
			return h.replyForState(ctx, b, s)
		}
		if s != nil {
			if err := s.release(); err != nil {
				return reply{}, err
			}
			drives++
			if err := h.runDriver(waited, b.Loop, func() bool { return h.isIsolatedTryRunning(b) }); err != nil {
				return reply{}, err
			}
		}
		var err error
		if s, err = h.acquire(ctx, b); err != nil {
			s = nil
		}
		switch {
		case errors.Is(err, errNotOwner):
			return h.replyNotOwner(ctx, b, err)
		case store.IsHeld(err) && h.isIsolatedTryRunning(b):
			return h.letSessionEnd(ctx, b, h.isolatedTryText(b))
		case store.IsHeld(err) && waited.Err() != nil:
			return h.letSessionEnd(ctx, b, b.Loop+": the gates still run. Pawl continues this session with their results; you can use it until then")
		case store.IsHeld(err):
			sleep(waited, 200*time.Millisecond)
		case err != nil:
			return reply{}, err
		}
	}
}

// maxDriverStarts bounds how often the driver is started for one stop.
const maxDriverStarts = 3

// hasWorkNow reports whether the loop has work to do now. In an unattended session that
// includes waits, since nothing could wake the session later. It does not include a wait for
// the user's answer that is longer than this hook may take: claude -p shows them the question only
// when it ends.
func (h *handler) hasWorkNow(b session.Binding, s *lease) bool {
	st := s.mem.State
	switch st.Phase {
	case loop.Waiting:
		_, asks := st.AwaitedAnswer()
		wait, _ := loop.FindAction[loop.Wait](st.Pending)
		asks = asks && h.Env.Session.Unattended && wait.Until.After(h.now.Add(unattendedTimeout))
		return st.After == loop.ThenGates || b.Unattended && !asks
	case loop.Turning:
		return !promptReady(s)
	}
	return st.Phase.OwnerActs()
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
