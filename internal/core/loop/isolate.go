package loop

import (
	"cmp"
	"time"
)

// Try is an isolated try of a verify loop: a turn in a fresh session, beside the
// user's, which stays the owner and is told what came of it.
type Try struct {
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
	return m.s.Attended && p.Verify && p.Isolate && !m.s.Together && m.s.Ladder.Rung >= freshSession
}

// tried takes an isolated try for a turn like any other: whatever it said, the
// gates judge the tree. That it cannot be done counts only where they are red.
func (m *machine) tried(t Turn) {
	blocked := ""
	if t.Claim != nil && t.Claim.Blocked {
		blocked = cmp.Or(t.Claim.Reason, "an isolated try says that it cannot be done")
	}
	m.bookTry(&t, "")
	m.s.Try.Blocked = blocked
	m.turnEnded(t)
}

// blockedTry is why the try whose work is being judged gave up, "" if it did not.
func (m *machine) blockedTry() string {
	if t := m.s.Try; t != nil && t.Iteration == m.s.Iteration {
		return t.Blocked
	}
	return ""
}

// tryFailed: a try that was cut off may have done the work all the same. One that
// could not begin was none; then the session goes on by itself.
func (m *machine) tryFailed(t *Turn, f Failure) {
	if t == nil {
		t = &Turn{Context: -1}
	}
	switch f.Class {
	case NotStarted, Login, Billing:
		if m.s.Try = nil; t.Rounds > 0 || t.ToolCalls > 0 { // it got that far first
			m.bookTry(t, f.Message)
			m.count(*t)
		}
		if m.stopped() {
			return
		}
		m.s.Together, m.s.Retry = true, true
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
		m.bookTry(t, f.Message)
		m.agentFailed(t, f)
	case Refused, Crashed, TimedOut, Silent, OverBudget, Interrupted:
		m.bookTry(t, f.Message)
		m.remember("the isolated try was cut off: " + f.Message)
		m.turnEnded(*t)
	default:
		m.bookTry(t, f.Message)
		m.turnEnded(*t)
	}
}

// bookTry keeps what the try came to, and takes out of its turn what says nothing
// about the user's session, or about the work.
func (m *machine) bookTry(t *Turn, died string) {
	t.Context, t.Claim, t.Background, t.ByPerson = -1, nil, nil, false
	try := Try{Iteration: m.s.Iteration, From: m.s.Now}
	if m.s.Try != nil {
		try = *m.s.Try
	}
	try.Took, try.Usage, try.Rounds, try.Died = m.s.Now.Sub(try.From), t.Usage, t.Rounds, died
	m.s.Try = &try
}
