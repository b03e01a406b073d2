package loop

// Held is where a loop stood whose branch was not checked out, and where it goes on.
type Held struct {
	Phase Phase `json:"phase"`
	After After `json:"after,omitempty"`
}

// leavable tells whether a loop's action may have found another branch checked out.
func (m *machine) leavable() bool {
	switch m.s.Phase {
	case Checkpointing, Baseline, Turning, Looking, Judging, Committing, Restoring, Editing:
		return !m.s.Attended
	case New, Waiting, Trying, HandingOver, Paused, Finishing, Ended:
	}
	return false
}

// branchLeft holds the loop until the user has its branch checked out again: what is in
// the work tree now is another branch's. What was to be done is done then.
func (m *machine) branchLeft(why string) {
	m.notify(Warning, why)
	pending := m.s.Pending
	m.s.Held = &Held{m.s.Phase, m.s.After}
	m.hold(ThenAgain)
	m.s.Pending = pending
}

// again does what was to be done when the branch was left.
func (m *machine) again() {
	if h := m.s.Held; h != nil {
		m.s.Phase, m.s.After, m.s.Held = h.Phase, h.After, nil
		m.ownerLost()
	}
}

// forgetHeld is for a loop that ends while it is held. A commit that was to be made is
// owed, as one that failed.
func (m *machine) forgetHeld() {
	if h := m.s.Held; h != nil && h.Phase == Committing {
		m.s.After = ThenCommit
	}
	m.s.Held = nil
}
