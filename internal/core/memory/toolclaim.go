package memory

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// ToolClaim is what the agent claimed by its tools during a turn. Like a promise in its
// last message it is verified when the turn ends.
type ToolClaim struct {
	Turn    int         `json:"turn,omitempty"` // Memory.TurnsBegun of that turn; void in any other turn
	Claim   *loop.Claim `json:"claim,omitempty"`
	Partial string      `json:"partial,omitempty"` // what is done of an unfinished task
}

// Merge adds a later claim. In the same turn tasks add up, and the last one of done and
// blocked counts. A claim of another turn replaces the first.
func (c ToolClaim) Merge(next ToolClaim) ToolClaim {
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

// IsInTurn reports whether the turn with this number runs.
func (m Memory) IsInTurn(turn int) bool {
	return m.TurnsBegun == turn && (m.State.Phase == loop.Turning || m.State.Phase == loop.TurningIsolated)
}

// AddToolClaim adds to a turn that ends what the agent claimed by its tools in it. A
// claim in its last message takes precedence.
func (m Memory) AddToolClaim(t *loop.Turn) {
	if t == nil || t.ByUser || m.ToolClaim.Turn == 0 || m.ToolClaim.Turn != m.TurnsBegun {
		return
	}
	if t.Claim == nil {
		t.Claim = m.ToolClaim.Claim
	}
	t.Partial = m.ToolClaim.Partial
}
