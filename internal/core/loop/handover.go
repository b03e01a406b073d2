package loop

import "fmt"

// Owner says what drives a loop.
type Owner string

// The owners.
const (
	OwnerRunner  Owner = "runner"  // a process with its own agent sessions
	OwnerSession Owner = "session" // a user's session, through its hooks
)

func (m *machine) owner() Owner {
	if m.s.InSession {
		return OwnerSession
	}
	return OwnerRunner
}

// ContextFull reports whether the context reached --handover-at. The next turn then gets a fresh
// session: a user's session hands the loop over for it, if the user allows that.
func (s State) ContextFull() bool {
	return s.Policy.HandoverAt > 0 && s.ContextPercent >= s.Policy.HandoverAt
}

// needsFreshSession reports whether the next turn gets an empty context. A user's session keeps its
// own.
func (m *machine) needsFreshSession() bool {
	p := m.s.Policy
	return !m.s.InSession && (m.s.Next.Fresh || p.Session == PerTurn && m.s.Next.Situation != Interruption ||
		p.Session == Hybrid && m.s.ContextFull())
}

// mayHandover reports whether the user allows fresh sessions to continue theirs.
func (m *machine) mayHandover() bool { return m.s.Policy.Handover && !m.s.Handover.Failed }

// startHandover hands over before the next turn, if requested or if a fresh context is due that a
// user's session cannot have.
func (m *machine) startHandover() bool {
	to, why := m.s.Handover.To, m.s.Handover.Why
	if to == m.owner() {
		to = ""
	}
	if to == "" && m.s.InSession && m.mayHandover() {
		switch {
		case m.s.ContextFull():
			to, why = OwnerRunner, fmt.Sprintf("the context is %d %% full", m.s.ContextPercent)
		case m.s.Next.Fresh && m.s.Failing != nil:
			to, why = OwnerRunner, "all attempts in this session failed: "+m.s.Failing.Reason
		case m.s.Next.Fresh, m.s.Policy.Session == PerTurn && m.s.Turns > 0 && !m.s.Next.Retry:
			to, why = OwnerRunner, "a fresh session is due"
		}
	}
	if to == "" {
		m.s.Handover.To = ""
		return false
	}
	m.s.Handover.To, m.s.Handover.Why = to, why
	m.await(HandingOver, HandOver{To: to, Why: why})
	return true
}

// HandsOverTo returns the owner that the loop is being handed over to, "" if it is not.
func (s State) HandsOverTo() Owner {
	if handover, asked := FindAction[HandOver](s.Pending); asked && s.Phase == HandingOver {
		return handover.To
	}
	return ""
}

// handoverRequested takes effect before the next turn. It interrupts a runner's turn and lets a user's
// turn end.
func (m *machine) handoverRequested(to Owner, why string) {
	if to != OwnerRunner && to != OwnerSession {
		m.note(Anomaly, fmt.Sprintf("a loop cannot be handed over to %q: ignored", to))
		return
	}
	if to == m.owner() && m.s.Handover.To == "" {
		return
	}
	m.s.Handover.To, m.s.Handover.Why, m.s.Handover.Failed = to, why, false
	switch m.s.Phase {
	case Turning:
		if !m.s.InSession {
			m.do(Interrupt{})
		}
	case Waiting, Paused: // the new owner wants to continue
		m.s.Pause = false
		m.endWait()
	case HandingOver:
		m.beginTurn() // the other way round, perhaps
	case New, Checkpointing, Baseline, Inspecting, Judging, Committing, Restoring, TurningIsolated, Editing, Finishing, Ended:
		// noticed before the next turn begins
	}
}

// handedOver applies a handover or its failure. The new owner repeats what was in progress, as with
// OwnerChanged. A turn begins with the recap, since the new session knows nothing.
func (m *machine) handedOver(h HandedOver) {
	to := h.To
	if to != OwnerRunner && to != OwnerSession || m.s.Phase == New || h.Failed && to != m.owner() {
		m.note(Anomaly, fmt.Sprintf("handed over to %q while %s: ignored", to, m.s.Phase))
		return
	}
	if h.Failed {
		m.s.Handover.To = ""
		m.keepOwner(h.Why)
		return
	}
	if m.s.Handover.To != to { // it was not requested
		m.s.Handover.Why = h.Why
	}
	m.s.Handover.To = ""
	m.s.InSession = to == OwnerSession
	m.s.Handover.Failed, m.s.Handover.IsolationFailed, m.s.Waited = false, false, nil
	m.s.Next.Fresh, m.s.ContextPercent = !m.s.InSession, 0
	switch m.s.Phase {
	case Turning, TurningIsolated:
		m.s.Next.Retry = true
		m.beginWithRecap()
	case HandingOver:
		m.beginWithRecap()
	case Paused:
	default:
		if m.s.TreeReplaced && m.s.Phase != Finishing {
			m.restartTask()
			return
		}
		m.repeatPending()
	}
}

// keepOwner continues with the present owner after a failed handover.
func (m *machine) keepOwner(why string) {
	if m.s.Phase != HandingOver {
		m.ownerChanged()
		return
	}
	m.s.Handover.Why = why
	m.s.Handover.Failed, m.s.Next.Fresh = true, m.s.Next.Fresh && !m.s.InSession
	m.note(Warning, "the loop was not handed over: "+why)
	m.beginTurn()
}

func (m *machine) beginWithRecap() {
	if m.stopped() {
		return
	}
	if m.s.Turns > 0 || m.s.Next.Situation != FirstTurn && m.s.Next.Situation != NextTask {
		m.s.Next.Situation = FreshRecap
	}
	m.beginTurn()
}
