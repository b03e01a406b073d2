package loop

// A new owner continues a loop: its last one died (ownerChanged), or handed it over (handedOver).
// It repeats what is unfinished, so that every action may be performed twice.

// ownerChanged makes the new owner repeat what the old one had not finished. A turn is retried in its
// session as the same iteration.
func (m *machine) ownerChanged() {
	if m.s.TreeReplaced && m.s.Phase.OwnerActs() && m.s.Phase != Finishing {
		m.restartTask()
		return
	}
	switch m.s.Phase {
	case Turning:
		if m.stopped() {
			return
		}
		// What went before the turn (a RestoreFiles, say) may not have been done.
		for _, a := range m.s.Pending {
			switch a.Payload.(type) {
			case RestoreFiles, Deliver:
				m.do(a.Payload)
			}
		}
		m.s.Next.Retry = true
		m.beginTurnFor(Interruption)
	case TurningIsolated:
		switch {
		case m.stopped():
		case m.s.Stop.Limit != "":
			m.isolatedFailed(nil, Failure{Class: Interrupted, Message: "a limit was reached"})
		default:
			m.acts = append(m.acts, m.s.Pending...)
		}
	case New, Paused:
	default:
		m.repeatPending()
	}
}

// repeatPending repeats the last owner's unfinished action.
func (m *machine) repeatPending() {
	if !m.resumeOtherWork() {
		m.acts = append(m.acts, m.s.Pending...)
	}
}

// resumeOtherWork lets a new runner work on other tasks during a wait for an answer. The previous
// owner may have been a session, whose tree must stay as it is.
func (m *machine) resumeOtherWork() bool {
	q, waits := m.s.AwaitedAnswer()
	if !waits || q.Approve != "" || m.s.InSession {
		return false
	}
	if _, more := m.pick(); !more {
		return false
	}
	m.endWait()
	return true
}
