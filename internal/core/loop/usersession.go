package loop

// unrequestedTurn handles the end of a turn in a user's session that the machine did not start.
// Users type at any time, and clients wake sessions by themselves. It reports whether the event is
// handled.
func (m *machine) unrequestedTurn(e Event) bool {
	failed, isFailure := e.Payload.(AgentFailed)
	if e.Kind() != KindTurnEnded && !isFailure {
		return false
	}
	turn, known := e.Turn()
	switch {
	case m.s.Phase == Paused && m.s.Pause: // the user paused it: turns meanwhile are the user's
		return true
	case m.isHeld() && m.s.After != ThenTurn:
		if known && !turn.ByUser {
			m.countTurn(turn)
		}
		if !isFailure || turn.ByUser { // otherwise nothing is fixed
			m.continueHeld(turn.Claim)
		}
	case !m.isIdle(): // the user typed while Pawl worked
		return turn.ByUser
	case isFailure:
		m.resumeWork()
		m.agentFailed(failed.Turn, failed.Failure)
	case !turn.ByUser:
		m.resumeWork()
		m.turnEnded(turn)
	case m.s.Policy.Kind != Periodic || m.s.Phase == Paused || m.s.Next.Retry: // after the user's turn the loop continues, whatever it waited for
		m.dropQuestion(m.s.Current) // the user has answered in the same conversation
		m.startClock()
		m.beginTurnFor(NoClaim)
	}
	return true
}

// isIdle reports whether the loop waits before the session's next turn, or for the session to work
// again.
func (m *machine) isIdle() bool {
	return (m.s.Phase == Waiting || m.isHeld()) && m.s.After == ThenTurn
}

// isHeld reports whether the loop waits until the user has fixed something.
func (m *machine) isHeld() bool { return m.s.Phase == Paused && !m.s.Pause }

// continueHeld continues a loop that was held before a gate run or a commit. The turn since then may
// have changed the work, so a claim is checked again.
func (m *machine) continueHeld(now *Claim) {
	if now != nil && !now.Blocked && m.s.Claim != nil {
		m.s.Claim = m.allowedClaim(now)
	}
	if m.s.After == ThenCommit || m.s.Gates.Purpose == ForReview {
		m.s.After, m.s.Gates.Purpose = ThenGates, ForClaim
	}
	m.s.Trouble.HoldReason = ""
	m.endWait()
}

// resumeWork treats an early turn of the session as the one that was due.
func (m *machine) resumeWork() {
	m.startClock()
	m.s.Phase = Turning
	if !m.s.Next.Retry && m.limit() == "" {
		m.s.Iteration++
	}
	m.s.Next.Retry = false
}

// WaitsForSession reports whether a loop in a session waits for it, so that receiving messages is
// all there is to do.
func (s State) WaitsForSession() bool {
	_, asks := s.AwaitedAnswer()
	return asks || s.Phase == Turning || s.Phase == Paused || s.Phase == Waiting && s.After == ThenTurn
}
