package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// capNear asks the machine for a hand-over where the client is about to end the
// session whatever a hook says, and the person agreed to one.
func (h *hook) capNear(s *seat, b session.Binding) error {
	if !s.spec.Policy.Handover || s.mem.State.Stays || h.person {
		return nil
	}
	limit := h.blockCap()
	if limit == 0 || blocksInRow(b, s) < limit {
		return nil
	}
	return s.step(loop.Event{
		Kind: loop.HandoverAsked, Owner: loop.OwnerRunner,
		Text: fmt.Sprintf("the client ends a turn after %d stops without a tool call", limit),
	})
}

// blocksInRow is how many stops in a row were answered with more work, no tool
// call between.
func blocksInRow(b session.Binding, s *seat) int {
	if toolsLength(s.loop) > b.Tools {
		return 0
	}
	return b.Blocks
}

// gone answers for a loop that another owner has, or may have: whoever was to take
// it over may have died before its first word. Then it is done once more, and may
// leave the loop with the session, by a newer binding.
func (h *hook) gone(ctx context.Context, b session.Binding, cause error) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	m, _, err := elsewhere(l)
	if _, alive, holderErr := l.Holder(); err == nil && holderErr == nil && !alive && m.State.Phase == loop.HandingOver {
		waited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := h.drive(waited, b.Loop); err != nil {
			return reply{}, err
		}
	}
	if now, err := h.sessions.Find(b.Session); err == nil && now.Loop == b.Loop && now.Epoch > b.Epoch {
		s, err := h.sit(ctx, now)
		if held := (*store.HeldError)(nil); err != nil && !errors.As(err, &held) {
			return reply{}, err
		}
		return h.settle(ctx, now, s)
	}
	return h.farewell(ctx, b, cause)
}

// farewell says where a loop went that is not the session's any more. Where nobody
// sits in the session there is nobody to look after the loop either: the session
// ends with it, as it would have without the hand-over.
func (h *hook) farewell(ctx context.Context, b session.Binding, cause error) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	m, spec, err := elsewhere(l)
	for deadline := h.now.Add(endless); b.Unattended && err == nil && movedOn(m) && time.Now().Before(deadline) && ctx.Err() == nil; {
		sleep(ctx, lookLate)
		m, spec, err = elsewhere(l)
	}
	released, releaseErr := h.sessions.Forget(ctx, b)
	switch {
	case releaseErr != nil:
		return reply{}, releaseErr
	case !released && !b.Unattended: // somebody else has told of it; of a wait nobody else can
		return reply{}, nil
	case err != nil:
		return reply{Message: fmt.Sprintf("pawl: %s: %v", b.Loop, cause)}, nil //nolint:nilerr // the cause says more: its folder is gone
	case m.State.Phase == loop.Ended:
		return reply{Message: ending(&seat{loop: l, mem: m, spec: spec})}, nil
	case !movedOn(m):
		return reply{Message: fmt.Sprintf("%s lives in another session now; pawl status %[1]s shows it", b.Loop)}, nil
	}
	why := ""
	if m.State.HandWhy != "" {
		why = ", since " + m.State.HandWhy
	}
	return reply{Message: fmt.Sprintf("%s goes on in fresh sessions%s. Watch it: pawl status %[1]s, pawl log %[1]s --follow. Bring it back: ! pawl start --take %[1]s", b.Loop, why)}, nil
}

// elsewhere reads how a loop stands that another owner has.
func elsewhere(l *store.Loop) (record.Memory, record.Spec, error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return record.Memory{}, spec, err
	}
	m, _, err := record.Remember(l)
	return m, spec, err
}

// movedOn: a runner has the loop, or is about to.
func movedOn(m record.Memory) bool {
	return m.State.Phase != loop.Ended && (!m.State.Attended || m.State.Phase == loop.HandingOver)
}

// trying tells whether an isolated try is at work on the loop: the session need
// not wait for it, it is woken with what comes of it.
func (h *hook) trying(b session.Binding) bool {
	if b.Unattended {
		return false
	}
	m, _, err := record.Remember(store.Open(h.Env.PawlHome).Loop(b.Loop))
	return err == nil && m.State.Phase == loop.Trying
}

// offer is what to type where the loop would go on in a fresh session, had the
// person agreed to that.
func offer(s *seat) string {
	st := s.mem.State
	if st.Stays && st.Policy.Handover {
		return " · it could not be handed over: " + plan.OneLine(st.HandWhy, 200)
	}
	if at := st.Policy.HandoverAt; at == 0 || st.Context < at || st.Policy.Handover {
		return ""
	}
	return fmt.Sprintf(" · the context is %d %% full: pawl handover %s goes on in fresh sessions", st.Context, s.loop.ID)
}
