package loop

import (
	"cmp"
	"time"
)

// IsolatedTurn is one attempt of a verify loop in a fresh session instead of the user's. The user's
// session stays the owner and learns the result.
type IsolatedTurn struct {
	Iteration int           `json:"iteration"`
	From      time.Time     `json:"from"`
	Took      time.Duration `json:"took,omitempty"`
	Usage     Usage         `json:"usage"`
	Rounds    int           `json:"rounds,omitempty"`  // requests to the model
	Died      string        `json:"died,omitempty"`    // why it was cut off, "" if it ended normally
	Blocked   string        `json:"blocked,omitempty"` // the reason, if it reported that it is blocked
}

// isolates reports whether the next turn runs in an isolated session.
func (m *machine) isolates() bool {
	p := m.s.Policy
	return m.s.InSession && p.Verify && p.Isolate && !m.s.Handover.IsolationFailed && m.s.Ladder.Attempt >= freshSession
}

// isolatedEnded handles an isolated turn like any other: the gates decide. Its "blocked" counts
// only if they fail.
func (m *machine) isolatedEnded(t Turn) {
	blocked := ""
	if t.Claim != nil && t.Claim.Blocked {
		blocked = cmp.Or(t.Claim.Reason, "an isolated try reports that it cannot be done")
	}
	m.recordIsolated(&t, "")
	m.s.Isolated.Blocked = blocked
	m.turnEnded(t)
}

// isolatedBlocked returns why the current isolated turn is blocked, "" if it is not.
func (m *machine) isolatedBlocked() string {
	if t := m.s.Isolated; t != nil && t.Iteration == m.s.Iteration {
		return t.Blocked
	}
	return ""
}

// isolatedFailed handles an isolated turn that was cut off. It may have done the work anyway. If it
// could not start, the user's session continues alone.
func (m *machine) isolatedFailed(t *Turn, f Failure) {
	if t == nil {
		t = &Turn{ContextPercent: -1}
	}
	switch f.Class {
	case NotStarted, Login, Billing:
		if m.s.Isolated = nil; t.Rounds > 0 || t.ToolCalls > 0 { // it got that far first
			m.recordIsolated(t, f.Message)
			m.countTurn(*t)
		}
		if m.stopped() {
			return
		}
		m.s.Handover.IsolationFailed, m.s.Next.Retry = true, true
		why := "an isolated try could not start: " + f.Message
		m.note(Warning, why)
		m.remember(why)
		if m.s.Failing != nil {
			failing := *m.s.Failing
			failing.Reason += " (" + why + ")"
			m.s.Failing = &failing
		}
		m.beginTurnFor(GatesFailed)
	case UsageLimit, Overloaded, Network:
		m.recordIsolated(t, f.Message)
		m.agentFailed(t, f)
	case Refused, Crashed, TimedOut, Silent, OverBudget, Interrupted:
		m.recordIsolated(t, f.Message)
		m.remember("the isolated try was cut off: " + f.Message)
		m.applyTurn(*t) // not turnEnded: it may not have read its messages
	default:
		m.recordIsolated(t, f.Message)
		m.applyTurn(*t)
	}
}

// recordIsolated records the isolated turn and clears what does not apply to the user's session.
func (m *machine) recordIsolated(t *Turn, died string) {
	t.ContextPercent, t.Claim, t.Background, t.ByUser = -1, nil, nil, false
	try := IsolatedTurn{Iteration: m.s.Iteration, From: m.s.Now}
	if m.s.Isolated != nil {
		try = *m.s.Isolated
	}
	try.Took, try.Usage, try.Rounds, try.Died = m.s.Now.Sub(try.From), t.Usage, t.Rounds, died
	m.s.Isolated = &try
}
