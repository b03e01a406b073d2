package loop

// cancel ends the loop. It interrupts a runner's turn first and lets a commit or restore finish. A
// second cancel ends a turn at once. A user's session continues its turn without the loop. A loop that
// is finishing keeps its outcome, and only its mutation testing is cut short.
func (m *machine) cancel(c Cancelled) {
	if m.s.Phase == Finishing {
		m.do(Interrupt{})
		return
	}
	again := m.s.Stop.Cause != ""
	m.s.Stop.Cause, m.s.Stop.Reason = c.Cause, c.Reason
	switch {
	case m.s.Phase == Committing || m.s.Phase == Restoring:
		// a commit or a restore must not stop halfway
	case !again && (m.s.Phase == TurningIsolated || m.s.Phase == Turning && !m.s.InSession): // Pawl cannot interrupt a user's session
		m.do(Interrupt{})
	default:
		m.finish(CancelledEnd, cancelReason(m.s), "")
	}
}

func cancelReason(s State) string {
	if s.Stop.Reason != "" {
		return s.Stop.Reason
	}
	switch s.Stop.Cause {
	case ByStop:
		return "stopped by pawl stop"
	case ByTerm:
		return "stopped by the signal TERM"
	case ByHangup:
		return "the terminal went away"
	case ByPipe:
		return "the reader of its output is gone, as with | head"
	}
	return "cancelled by Ctrl-C"
}

// stopped finishes a cancelled loop at the first point where that is safe.
func (m *machine) stopped() bool {
	if m.s.Stop.Cause == "" {
		return false
	}
	m.finish(CancelledEnd, cancelReason(m.s), "")
	return true
}
