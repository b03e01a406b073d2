package loop

import (
	"cmp"
	"strings"
	"time"
)

const (
	maxFailures            = 10 // dead turns in a row of the classes that back off
	maxStarts              = 2  // tries to start a client that was never seen to work
	maxCrashes             = 5  // dead turns in a row of a client that cannot work
	backoffFirst           = 5 * time.Second
	backoffMax             = 5 * time.Minute
	usageLimitBackoffFirst = 5 * time.Minute // between looks at a usage limit that names no end
	usageLimitBackoffMax   = time.Hour
	resetSlack             = 2 * time.Second // clocks differ: asking a moment too early costs a wait
)

// agentFailed reacts to a dead turn by its class. A turn that never came to
// work is begun again as the same iteration.
func (m *machine) agentFailed(t *Turn, f Failure) {
	byPerson := t != nil && t.ByUser
	if t != nil && !byPerson {
		m.countTurn(*t)
	}
	if m.stopped() {
		return
	}
	m.s.Claim = nil
	m.recordExternalCause(f)
	switch f.Class {
	case UsageLimit:
		m.s.UsageLimits++
		m.s.Retry = true
		m.s.Situation = Interruption
		m.stopClock()
		m.wait(m.usageLimitRetryAt(f), ThenTurn, "usage limit: "+f.Message)
	case Overloaded, Network:
		m.backOff(f)
	case NotStarted:
		if m.s.Turns == 0 && (f.Missing || m.s.Failures+1 >= maxStarts) {
			m.finish(Errored, f.Message, f.Hint)
			return
		}
		m.backOff(f)
	case Login, Billing:
		m.s.Retry = true
		if f.Background {
			m.holdForUser(f.Message, f.Hint)
			return
		}
		m.giveUp(f.Message, f.Hint)
	case OverBudget:
		if m.s.LimitsChanged && m.limit() == "" { // the turn was bounded by what was left before
			m.interrupted(f)
			return
		}
		m.s.ReachedLimit = Budget
		m.inspect()
	case Interrupted:
		m.interrupted(f)
	case Refused:
		if !m.s.Attended {
			m.crashed(f)
			return
		}
		m.s.Retry = true // once the user has compacted, or chosen another model
		m.giveUp(f.Message, f.Hint)
	case Crashed, TimedOut, Silent:
		if byPerson { // theirs, and no try of the loop's
			m.s.Retry = true
			m.s.Situation = NoClaim
			m.beginTurn()
			return
		}
		m.crashed(f)
	default:
		m.crashed(f)
	}
}

// metOutside keeps what a dead turn met outside of the loop, until a turn comes to its end.
func (m *machine) recordExternalCause(f Failure) {
	switch f.Class {
	case UsageLimit, Overloaded, Network:
		m.s.ExternalCause = f.Message
	case Interrupted:
		m.s.ExternalCause = cmp.Or(f.RetriedError, m.s.ExternalCause)
	case Login, Billing, Refused, NotStarted, Crashed, TimedOut, Silent, OverBudget: // each has its own end
	}
}

// giveUp ends a loop that cannot go on before a user fixes something. In their
// session they are there to do so: the loop is held, and goes on after the next
// turn that comes to its end, or when it is resumed.
func (m *machine) giveUp(message, hint string) {
	if !m.s.Attended {
		m.finish(Errored, message, hint)
		return
	}
	m.holdForUser(message, hint)
}

// holdForUser holds the loop until the user has fixed what only they can. Where nobody is
// at its terminal they are told, and pawl resume has it go on.
func (m *machine) holdForUser(message, hint string) {
	why := message
	if hint != "" {
		why += " (" + hint + ")"
	}
	m.notify(Warning, "the loop is held: "+why)
	m.s.Trouble = Trouble{HoldReason: why}
	m.s.Claim = nil
	m.s.Situation = Interruption
	m.hold(ThenTurn)
}

// reset returns when to retry after a usage limit: once it has reset. A limit that has
// reset already, and limits met one after another, back off, whatever time they name.
func (m *machine) usageLimitRetryAt(f Failure) time.Time {
	if f.Until.IsZero() {
		return m.s.Now.Add(exponentialBackoff(usageLimitBackoffFirst, usageLimitBackoffMax, m.s.UsageLimits))
	}
	at := f.Until.Add(resetSlack)
	retries := m.s.UsageLimits - 1
	if !f.Until.After(m.s.Now) {
		retries++
	}
	if retries == 0 {
		return at
	}
	if floor := m.s.Now.Add(exponentialBackoff(backoffFirst, usageLimitBackoffMax, retries)); floor.After(at) {
		return floor
	}
	return at
}

func (m *machine) backOff(f Failure) {
	m.s.Failures++
	m.s.Retry = true
	if m.s.Failures > maxFailures {
		m.giveUp(f.Message, "the work is kept; try  pawl resume  later")
		return
	}
	m.s.Situation = Interruption
	m.wait(m.s.Now.Add(exponentialBackoff(backoffFirst, backoffMax, m.s.Failures)), ThenTurn, strings.ReplaceAll(string(f.Class), "_", " ")+": "+f.Message)
}

func (m *machine) interrupted(f Failure) {
	if m.s.ReachedLimit != "" {
		m.inspect()
		return
	}
	m.s.Failures++
	m.s.Retry = true
	if m.s.Failures > maxFailures {
		m.giveUp("the agent is interrupted again and again: "+f.Message, f.Hint)
		return
	}
	m.s.Situation = Interruption
	m.beginTurn()
}

// crashed: a client that dies is a failed try; one that cannot live is an error.
func (m *machine) crashed(f Failure) {
	m.s.Crashes++
	if m.s.Crashes >= maxCrashes && f.Class != Refused {
		m.s.Retry = true
		m.giveUp("the agent failed again and again: "+f.Message, f.Hint)
		return
	}
	m.fail(Failing{Reason: "the turn was cut off: " + f.Message, NoWork: true}, "")
}

// doubled is first, 2 × first, 4 × first … for n = 1, 2, 3 …, at most most.
func exponentialBackoff(first, most time.Duration, n int) time.Duration {
	d := first
	for range n - 1 {
		d *= 2
		if d >= most {
			return most
		}
	}
	return d
}
