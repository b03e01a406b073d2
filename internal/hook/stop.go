package hook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// stop answers the end of a turn: the machine hears of it and decides. What it
// asks for and is not done at once is driven by another process, see settle.
func (h *hook) stop(ctx context.Context, b session.Binding) (reply, error) {
	s, err := h.sitSoon(ctx, b)
	switch {
	case busy(err) && h.again: // the gates are at work for this very turn
		return h.settle(ctx, b, nil)
	case busy(err): // gates are at work; a turn that ran beside them was the person's
		if err := (record.ToolCall{Theirs: true, From: b.Tools}).AppendTo(record.ToolCallsPath(store.Open(h.Env.PawlHome).Loop(b.Loop))); err != nil {
			return reply{}, err
		}
		return h.settle(ctx, b, nil)
	case errors.Is(err, errGone):
		return h.gone(ctx, b, err)
	case err != nil:
		return reply{}, err
	}
	if s.mem.State.Phase == loop.Ended {
		return h.standing(ctx, b, s)
	}
	if h.heard(s) {
		return h.settle(ctx, b, s) // what comes next was decided, and not said
	}
	if err := h.fileSays(ctx, s, b); err != nil {
		return reply{}, errors.Join(err, s.owner.Close())
	}
	if s.loop.HasMail() { // a stop comes before the turn, and is performed in full
		if s, err = h.mail(ctx, b, s); err != nil {
			return reply{}, err
		}
	}
	if err := h.turnEnded(s, b); err != nil {
		return reply{}, errors.Join(err, s.owner.Close())
	}
	return h.settle(ctx, b, s)
}

// heard tells whether the machine has heard of this event before, from a keeper
// that died over its answer.
func (h *hook) heard(s *seat) bool { return h.again && slices.Contains(s.mem.State.Heard, h.ID) }

// mail has what anyone left for the loop taken, by what does the machine's work.
func (h *hook) mail(ctx context.Context, b session.Binding, s *seat) (*seat, error) {
	if err := s.rise(); err != nil {
		return nil, err
	}
	waited, cancel := context.WithDeadline(ctx, h.now.Add(patience))
	defer cancel()
	if err := h.drive(waited, b.Loop); err != nil {
		return nil, err
	}
	return h.sit(ctx, b)
}

// triesMax bounds how often a loop is tried for that somebody holds who does no
// work of the machine's: a status, a message being delivered.
const triesMax = 20

// sitSoon is sit, also where somebody holds the loop for a moment.
func (h *hook) sitSoon(ctx context.Context, b session.Binding) (*seat, error) {
	s, err := h.sit(ctx, b)
	for tries := 0; busy(err) && tries < triesMax && !h.atWork(b); tries++ {
		s, err = h.sit(ctx, b) // each waits a moment itself
	}
	return s, err
}

// atWork tells whether the machine's work is what the loop is held for.
func (h *hook) atWork(b session.Binding) bool {
	m, _, err := record.Remember(store.Open(h.Env.PawlHome).Loop(b.Loop))
	return err == nil && undone(m.State)
}

// turnEnded tells the machine of the turn, and goes on as far as that needs
// neither git nor gates.
func (h *hook) turnEnded(s *seat, b session.Binding) error {
	if b.Session != s.mem.Bound.Session || s.mem.Bound.Closed { // the client gave it another id, or it was taken up again
		s.bound(b, false)
	}
	if s.mem.State.Phase == loop.Ended {
		return nil
	}
	// The machine knows which phases a turn can end in: a person types when they
	// like.
	t := h.turn(s, b)
	if err := h.capNear(s, b); err != nil {
		return err
	}
	if t.ByPerson && t.ToolCalls > 0 {
		if err := (record.ToolCall{Theirs: true, From: b.Tools}).AppendTo(record.ToolCallsPath(s.loop)); err != nil {
			return err
		}
	}
	if err := s.step(loop.Event{Kind: loop.TurnEnded, ID: h.ID, Turn: t}); err != nil {
		return err
	}
	// Without a claim there is nothing to see that the next claim would not show;
	// a plan's marks are a claim, so they are looked at.
	if s.asks(loop.Look) && s.spec.Plan == "" && len(s.mem.State.Denied) == 0 && !slices.ContainsFunc(s.acts, func(a loop.Action) bool { return a.Deep }) {
		s.light = !s.damaged // a turn that claimed nothing
		if err := s.step(loop.Event{Kind: loop.TreeSeen, Seen: &loop.Seen{Unknown: true}}); err != nil {
			return err
		}
	}
	// A goal that comes up again and again, found in a file, was never told yet.
	if st := s.mem.State; st.Phase == loop.Waiting && st.Policy.Kind == loop.Periodic && s.spec.Untold(st) {
		return s.step(loop.Event{Kind: loop.TimerFired})
	}
	return nil
}

// textMax is how much of the agent's last message the journal keeps.
const textMax = 16 << 10

// turn is what the machine needs to know of the turn that ended.
func (h *hook) turn(s *seat, b session.Binding) *loop.Turn {
	last := h.lastMessage()
	t := &loop.Turn{
		ByPerson: h.byPerson(b), SessionID: h.p.Session,
		ToolCalls: toolCalls(s.loop, b.Tools), Context: h.contextFill(s.spec.Policy.Handover),
	}
	h.person = t.ByPerson
	if s.byPerson = h.person; s.byPerson {
		return t
	}
	// What a try of a verify loop was is told to the next, what an exploration found
	// is its result.
	p := s.spec.Policy
	t.Test = lastTested(s.loop, b.Tools)
	t.Claim = s.spec.ClaimIn(last)
	s.mem.Hear(t)
	if t.Claim != nil || p.Verify || p.Kind == loop.Explore || p.Kind == loop.Periodic {
		t.Text = strings.ToValidUTF8(last[max(0, len(last)-textMax):], "")
	}
	if !b.Unattended { // where nobody sits, nothing could wake the session again
		t.Background = h.p.pending()
	}
	return t
}

// byPerson tells whether the turn was begun by the person's own prompt. One that
// continues another is the loop's. The client does not tell a hook whether a
// message came from a person or from another session; the transcript has it.
func (h *hook) byPerson(b session.Binding) bool {
	if h.p.Again || !b.ByPerson(h.p.PromptID) {
		return false
	}
	origin := h.behind(func() string { return h.turnOrigin(h.p.PromptID) })
	return origin == "" || origin == "human"
}

// The transcript was seen to lag behind by up to 140 ms.
const (
	lagTries = 12
	lagWait  = 25 * time.Millisecond
)

// toolCalls counts the calls that ran since the last stop.
func toolCalls(l *store.Loop, from int64) int {
	f, err := os.Open(record.ToolCallsPath(l))
	if err != nil {
		return 0
	}
	defer f.Close()
	n, buf := 0, make([]byte, 4<<10)
	for in := io.NewSectionReader(f, from, 16<<20); ; {
		k, err := in.Read(buf)
		n += bytes.Count(buf[:k], []byte{'\n'})
		if err != nil {
			return n
		}
	}
}

func toolsLength(l *store.Loop) int64 {
	info, err := os.Stat(record.ToolCallsPath(l))
	if err != nil {
		return 0
	}
	return info.Size()
}

const (
	patience = 110 * time.Second // a person who waits longer may want to type
	endless  = 55 * time.Minute  // where nobody sits; the hook is installed with an hour
)

// settle has done what the machine asked for, waits for it as long as that is
// bearable, and answers by where the loop stands then. s is the open loop, nil
// where another process holds it.
func (h *hook) settle(ctx context.Context, b session.Binding, s *seat) (reply, error) {
	wait := patience
	if b.Unattended {
		wait = endless
	}
	if s == nil && !b.Unattended {
		wait = 0
	}
	waited, cancel := context.WithDeadline(ctx, h.now.Add(wait))
	defer cancel()
	for drives := 0; ; {
		if s != nil && (!working(b, s) || waited.Err() != nil || drives == drivesMax) {
			return h.standing(ctx, b, s)
		}
		if s != nil {
			if err := s.rise(); err != nil {
				return reply{}, err
			}
			drives++
			if err := h.driveUntil(waited, b.Loop, func() bool { return h.trying(b) }); err != nil {
				return reply{}, err
			}
		}
		var err error
		if s, err = h.sit(ctx, b); err != nil {
			s = nil
		}
		switch {
		case errors.Is(err, errGone):
			return h.gone(ctx, b, err)
		case busy(err) && h.trying(b):
			return h.leave(ctx, b, h.beside(b))
		case busy(err) && waited.Err() != nil:
			return h.leave(ctx, b, b.Loop+": the gates still run. The session is woken with what they say; until then it is yours")
		case busy(err):
			sleep(waited, 200*time.Millisecond)
		case err != nil:
			return reply{}, err
		}
	}
}

// drivesMax bounds how often the same is tried for one stop.
const drivesMax = 3

// working: the machine waits for something that is to be done now. A wait is,
// where nobody sits: nothing could wake the session after it.
func working(b session.Binding, s *seat) bool {
	st := s.mem.State
	switch st.Phase {
	case loop.Waiting:
		return st.After == loop.ThenGates || b.Unattended
	case loop.Turning:
		return !written(s)
	}
	return st.Phase.AtWork()
}

// sleep waits, at most until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
