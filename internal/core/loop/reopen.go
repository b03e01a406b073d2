package loop

// reopen continues a loop that ended with work left. Skipped tasks are open again. A limit that
// comes with it counts from the current usage; the others keep what remains.
func (m *machine) reopen(r Reopened) {
	if m.s.Phase != Ended || m.s.StartedAt.IsZero() || !m.s.HasWorkLeft() {
		m.note(Anomaly, "no task can be reopened")
		return
	}
	s := &m.s
	s.Idle += s.Now.Sub(s.EndedAt)
	if s.endedRed() { // the user wants it green
		s.Gates.RedAtStart = nil
	}
	m.forgetEnd()
	m.addTasks(r.Added)
	m.tickedByUser(r.Ticked)
	if r.Owner != "" {
		s.InSession = r.Owner == OwnerSession
	}
	s.Handover, s.Trouble, s.Violations, s.Pause = Handover{}, Trouble{}, 0, false
	*s = s.Extended(r.Limits)
	if s.After == ThenCommit {
		m.follow(ThenCommit)
		return
	}
	if m.startedDone() && s.Gates.RedReason != "" { // the user wants the gates of a plan that is done green
		m.finalTask(makeGatesPass)
	}
	if s.BeforeFirstTurn() { // the cause of those results may be fixed
		s.Current, s.Start = "", TaskStart{}
	}
	t, ok := s.Task(s.Current)
	begun := ok && t.Status == Open && s.Start.Task == t.ID && s.Start.Tree != "" && !s.TreeReplaced
	if m.currentIsLeftOut() && s.Start.Task == t.ID && s.Start.Tree != "" && !s.TreeReplaced {
		m.skip(Skipped, t.Why)
		return
	}
	if begun && len(t.Rejected) == 0 { // otherwise the originals are restored before the task starts again
		if m.reopenApproval() {
			return
		}
		s.Ladder, s.Claim, s.Next.Retry, s.Next.Fresh = Ladder{}, nil, false, !s.InSession
		s.Next.Situation = Interruption
		m.firstTurn() // if not had yet
		return
	}
	m.next()
}

// reopenApproval continues with work that waited for approval when the loop ended, without another
// turn. The work tree may have changed since, so the work is inspected and shown anew.
func (m *machine) reopenApproval() bool {
	q, asked := m.s.question(m.s.Current)
	if !asked || q.Approve == "" || m.s.Claim == nil {
		return false
	}
	m.dropQuestion(q.Task)
	m.inspect()
	return true
}
