package loop

import "time"

// pause takes effect at once in a wait, otherwise before the next turn or task. It does not
// interrupt a turn.
func (m *machine) pause() {
	m.s.Pause = true
	if m.s.Phase == Waiting {
		m.hold(m.s.After)
	}
}

func (m *machine) hold(then After) {
	m.s.After = then
	m.s.Phase = Paused
	m.s.Pending = nil
	m.startClock() // ends the time of a wait; the pause starts its own
	m.stopClock()
}

// resume continues a paused loop with the tasks that were added to its plan or ticked there.
func (m *machine) resume(r Resumed) {
	m.addTasks(r.Added)
	m.tickedByUser(r.Ticked)
	m.s.Pause = false
	if m.s.Phase == Paused {
		m.s.Trouble.HoldReason = ""
		m.endWait()
	}
}

// stopClock starts time that does not count for limits.
func (m *machine) stopClock() {
	if m.s.AwayFrom.IsZero() {
		m.s.AwayFrom = m.s.Now
	}
}

// startClock ends time that does not count for limits.
func (m *machine) startClock() {
	if !m.s.AwayFrom.IsZero() {
		m.s.Away += m.s.Now.Sub(m.s.AwayFrom)
		m.s.AwayFrom = time.Time{}
	}
}

// wait waits until a time. If a pause is requested, the loop pauses instead.
func (m *machine) wait(until time.Time, then After, why string) {
	m.waitFor(Wait{Until: until, Why: why}, then)
}

func (m *machine) waitFor(w Wait, then After) {
	if m.s.Pause {
		m.note(Info, "paused instead of waiting ("+w.Why+")")
		m.hold(then)
		return
	}
	m.s.After = then
	m.await(Waiting, w)
}

// endWait ends a wait or a pause, and continues with what follows it.
func (m *machine) endWait() {
	m.startClock()
	m.follow(m.s.After)
}
