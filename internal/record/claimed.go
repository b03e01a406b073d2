package record

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Claimed is what the agent has said by a tool of how its work stands, in a turn
// that is under way. Like a promise in its last message it is a request to be
// verified, and is heard when the turn ends.
type Claimed struct {
	Turn    int         `json:"turn,omitempty"` // Memory.Begun of that turn: in any other it is void
	Claim   *loop.Claim `json:"claim,omitempty"`
	Partial string      `json:"partial,omitempty"` // what is done of a task that is not
}

// Claimed is what a message says of how the work stands; ok is false for a message
// of another kind.
func (m Message) Claimed() (c Claimed, ok bool) {
	c.Turn = m.Turn
	switch m.Kind {
	case MessageClaim:
		c.Claim = &loop.Claim{Tasks: m.Tasks, NoBehaviourChange: m.NoBehaviourChange, Summary: m.Text}
	case MessageBlocked:
		c.Claim = &loop.Claim{Blocked: true, Reason: m.Text}
	case MessagePartial:
		c.Partial = m.Text
	default:
		return Claimed{}, false
	}
	return c, true
}

// With is what stands after another word in the same turn: tasks add up, and of
// done and blocked the last word counts. A word of another turn begins anew.
func (c Claimed) With(next Claimed) Claimed {
	if c.Turn != next.Turn {
		return next
	}
	if next.Partial != "" {
		c.Partial = next.Partial
	}
	switch {
	case next.Claim == nil:
	case c.Claim == nil || c.Claim.Blocked || next.Claim.Blocked:
		c.Claim = next.Claim
	default:
		both := *next.Claim
		both.NoBehaviourChange = both.NoBehaviourChange && c.Claim.NoBehaviourChange
		both.Tasks = slices.Clone(c.Claim.Tasks)
		for _, id := range next.Claim.Tasks {
			if !slices.Contains(both.Tasks, id) {
				both.Tasks = append(both.Tasks, id)
			}
		}
		c.Claim = &both
	}
	return c
}

// Turning tells whether a turn of that number is under way: a word about any other
// is void.
func (m Memory) Turning(turn int) bool {
	return m.Begun == turn && (m.State.Phase == loop.Turning || m.State.Phase == loop.Trying)
}

// Hear adds to a turn that ends what the agent said by its tools in it. What its
// last message claims goes before.
func (m Memory) Hear(t *loop.Turn) {
	if t == nil || t.ByPerson || m.Claimed.Turn == 0 || m.Claimed.Turn != m.Begun {
		return
	}
	if t.Claim == nil {
		t.Claim = m.Claimed.Claim
	}
	t.Partial = m.Claimed.Partial
}
