package loop

import (
	"cmp"
	"time"
)

// IsolatedTurn is an isolated try of a verify loop: a turn in a fresh session, beside the
// user's, which stays the owner and is told what came of it.
type IsolatedTurn struct {
	Iteration int           `json:"iteration"`
	From      time.Time     `json:"from"`
	Took      time.Duration `json:"took,omitempty"`
	Usage     Usage         `json:"usage"`
	Rounds    int           `json:"rounds,omitempty"`  // requests to the model
	Died      string        `json:"died,omitempty"`    // why it was cut off, "" if it came to its own end
	Blocked   string        `json:"blocked,omitempty"` // its reason, if it said that it cannot be done
}

// isolates tells whether the turn that is due is tried in a session of its own.
func (m *machine) isolates() bool {
	p := m.s.Policy
	return m.s.Attended && p.Verify && p.Isolate && !m.s.IsolationFailed && m.s.Ladder.Attempt >= freshSession
}

// isolatedEnded takes an isolated try for a turn like any other: whatever it said, the
// gates judge the tree. That it cannot be done counts only where they are red.
func (m *machine) isolatedEnded(t Turn) {
	blocked := ""
	if t.Claim != nil && t.Claim.Blocked {
		blocked = cmp.Or(t.Claim.Reason, "an isolated try says that it cannot be done")
	}
	m.bookIsolated(&t, "")
	m.s.Isolated.Blocked = blocked
	m.turnEnded(t)
}

// isolatedBlocked is why the try whose work is being judged gave up, "" if it did not.
func (m *machine) isolatedBlocked() string {
	if t := m.s.Isolated; t != nil && t.Iteration == m.s.Iteration {
		return t.Blocked
	}
	return ""
}

// isolatedFailed: a try that was cut off may have done the work all the same. One that
// could not begin was none; then the session goes on by itself.
func (m *machine) isolatedFailed(t *Turn, f Failure) {
	if t == nil {
		t = &Turn{ContextPercent: -1}
	}
	switch f.Class {
	case NotStarted, Login, Billing:
		if m.s.Isolated = nil; t.Rounds > 0 || t.ToolCalls > 0 { // it got that far first
			m.bookIsolated(t, f.Message)
			m.countTurn(*t)
		}
		if m.stopped() {
			return
		}
		m.s.IsolationFailed, m.s.Retry = true, true
		why := "an isolated try could not be made: " + f.Message
		m.notify(Warning, why)
		m.remember(why)
		if m.s.Failing != nil {
			failing := *m.s.Failing
			failing.Reason += " (" + why + ")"
			m.s.Failing = &failing
		}
		m.s.Situation = GatesFailed
		m.beginTurn()
	case UsageLimit, Overloaded, Network:
		m.bookIsolated(t, f.Message)
		m.agentFailed(t, f)
	case Refused, Crashed, TimedOut, Silent, OverBudget, Interrupted:
		m.bookIsolated(t, f.Message)
		m.remember("the isolated try was cut off: " + f.Message)
		m.applyTurn(*t) // what it was told it may not have read
	default:
		m.bookIsolated(t, f.Message)
		m.applyTurn(*t)
	}
}

// bookIsolated keeps what the try came to, and takes out of its turn what says nothing
// about the user's session, or about the work.
func (m *machine) bookIsolated(t *Turn, died string) {
	t.ContextPercent, t.Claim, t.Background, t.ByUser = -1, nil, nil, false
	try := IsolatedTurn{Iteration: m.s.Iteration, From: m.s.Now}
	if m.s.Isolated != nil {
		try = *m.s.Isolated
	}
	try.Took, try.Usage, try.Rounds, try.Died = m.s.Now.Sub(try.From), t.Usage, t.Rounds, died
	m.s.Isolated = &try
}
