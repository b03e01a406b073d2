package hook

import (
	"context"
	"fmt"

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
		waited, cancel := context.WithDeadline(ctx, h.now.Add(patience))
		defer cancel()
		if err := h.drive(waited, b.Loop); err != nil {
			return reply{}, err
		}
	}
	if now, err := h.sessions.Find(b.Session); err == nil && now.Loop == b.Loop && now.Epoch > b.Epoch {
		s, err := h.sit(ctx, now)
		if err != nil && !busy(err) {
			return reply{}, err
		}
		return h.settle(ctx, now, s)
	}
	return h.farewell(ctx, b, cause)
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

// beside says that a try is made beside the session, and why.
func (h *hook) beside(b session.Binding) string {
	m, _, err := elsewhere(store.Open(h.Env.PawlHome).Loop(b.Loop))
	if err != nil || m.State.Failing == nil {
		return b.Loop + ": this try is made in a fresh session, beside this one"
	}
	return fmt.Sprintf("⟲ %s %s · not done: %s · this try is made in a fresh session, beside this one, which is yours meanwhile and is woken with what comes of it",
		b.Loop, slashed(m.State), plan.OneLine(m.State.Failing.Reason, 160))
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
	return fmt.Sprintf(" · the context is %d %% full: Esc, then ! pawl handover goes on in fresh sessions", st.Context)
}
