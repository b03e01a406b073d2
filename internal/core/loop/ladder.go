package loop

// The attempts at a failing task, in order: State.Ladder.Attempt.
const (
	sameSession  = 0 // three tries in one session, with the failure's summary
	freshSession = 1 // one try in a fresh session, with the recap
	restored     = 2 // back to where the task began, one try in a fresh session, with the lesson
	skipTask     = 3 // skipped
)

const (
	triesInSession  = 3
	maxSameFailures = 3 // times that a try fails as the one before, and is paid for
)

// fail counts a failed try, and goes to the next attempt where this one has had its tries.
// Two identical fingerprints end an attempt early, since the same failure twice is not worth
// a third try; but a number of tries that the user wrote holds.
func (m *machine) fail(f Failing, fingerprint string) {
	m.s.Failing = &f
	m.remember("failed: " + f.Reason)
	if o := m.limit(); o != "" {
		m.limitReached(o)
		return
	}
	same := fingerprint != "" && fingerprint == m.s.Ladder.Fingerprint
	m.s.Ladder.Fingerprint = fingerprint
	if m.s.Ladder.SameFailures++; !same {
		m.s.Ladder.SameFailures = 0
	}
	m.s.Ladder.IdleTurns, m.s.Ladder.RefusedClaim = 0, nil
	m.s.Ladder.Tries++
	if m.s.Ladder.Attempt == sameSession && m.s.Ladder.Tries < m.maxTries() && (!same || m.s.Policy.Tries > 0) {
		m.s.Situation = GatesFailed
		m.beginTurn()
		return
	}
	m.nextAttempt()
}

func (m *machine) maxTries() int {
	if n := m.s.Policy.Tries; n > 0 {
		return n
	}
	return triesInSession
}

// nextAttempt goes to the next attempt that the policy allows. A user's session is left
// only with their consent, else there is no fresh session to climb to; verify
// loops try in fresh ones until their limit, there beside the user's.
func (m *machine) nextAttempt() {
	p, l := m.s.Policy, &m.s.Ladder
	if l.Attempt == sameSession {
		l.SameFailures = min(l.SameFailures, 1) // maxSame counts what is paid for
	}
	l.Tries = 0
	l.Attempt++
	if l.Attempt == freshSession && m.s.Attended && !p.Verify && !m.mayHandover() {
		l.Attempt++
	}
	if l.Attempt == restored && !m.mayRestore() {
		l.Attempt++
	}
	if p.Verify {
		l.Attempt = freshSession
	}
	if m.isolates() && l.SameFailures >= maxSameFailures { // each costs money, and nothing comes of them
		l.Attempt = skipTask
	}
	if m.s.Failing.Review { // work is neither undone nor skipped for a review's sake
		l.Attempt = min(l.Attempt, freshSession)
	}
	switch l.Attempt {
	case freshSession:
		m.s.Fresh = !m.s.Attended || m.mayHandover()
		m.s.Situation = GatesFailed
		m.beginTurn()
	case restored:
		m.s.Fresh = true
		m.s.Situation = WasRestored
		m.restore(ThenTurn)
	default:
		m.skip(Skipped, m.s.Failing.Reason)
	}
}

// mayRestore: the tree of a user's session is not put back over their head.
func (m *machine) mayRestore() bool { return m.s.Policy.Restore && !m.s.Attended }

func (m *machine) restore(then After) {
	m.s.TurnSinceGates = false
	if !m.s.Failing.NoWork { // else nothing was learnt
		m.learn(m.undoneLesson())
	}
	m.s.After = then
	m.await(Restoring, Action{Do: Restore, Task: m.s.Current, Tree: m.s.StartTree, Text: m.s.Failing.Reason})
}

// skip leaves the current task for the next: its half-work is checkpointed, the tree goes
// back to where the task began, or is left with --on-failure keep.
func (m *machine) skip(status TaskStatus, why string) {
	id := m.s.Current
	took := m.s.Elapsed() - m.s.TaskElapsed
	m.updateTask(id, func(t *Task) { t.Status, t.Why, t.Took = status, why, t.Took+took })
	m.remember(string(status) + ": " + why)
	if m.s.Failing == nil || m.s.Failing.Reason != why {
		m.s.Failing = &Failing{Reason: why, NoWork: status == Blocked}
	}
	m.s.Claim = nil
	if m.mayRestore() {
		m.restore(ThenNext)
		return
	}
	m.s.After = ThenNext
	m.await(Checkpointing, Action{Do: Checkpoint, Task: id, Text: "task " + id + " skipped"})
}
