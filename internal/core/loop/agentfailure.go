package loop

import (
	"cmp"
	"strings"
	"time"
)

const (
	maxFailures            = 10 // failed turns in a row that are retried with backoff
	maxStarts              = 2  // attempts to start a client that never worked
	maxCrashes             = 5  // crashed turns in a row
	backoffFirst           = 5 * time.Second
	backoffMax             = 5 * time.Minute
	usageLimitBackoffFirst = 5 * time.Minute // for a usage limit without a reset time
	usageLimitBackoffMax   = time.Hour
	resetSlack             = 2 * time.Second // clocks differ, and retrying too early costs another wait
)

// agentFailed reacts to a failed turn by its class. A turn that did no work is retried as the same
// iteration.
func (m *machine) agentFailed(t *Turn, f Failure) {
	byUser := t != nil && t.ByUser
	if t != nil && !byUser {
		m.countTurn(*t)
	}
	if m.stopped() {
		return
	}
	m.s.Claim = nil
	m.recordExternalCause(f)
	switch f.Class {
	case UsageLimit:
		m.s.Trouble.UsageLimits++
		m.s.Next.Retry = true
		m.s.Next.Situation = Interruption
		m.stopClock()
		m.wait(m.usageLimitRetryAt(f), ThenTurn, "usage limit: "+f.Message)
	case Overloaded, Network:
		m.backOff(f)
	case NotStarted:
		if m.s.Turns == 0 && (f.Missing || m.s.Trouble.Failures+1 >= maxStarts) {
			m.finish(Errored, f.Message, f.Hint)
			return
		}
		m.backOff(f)
	case Login, Billing:
		m.s.Next.Retry = true
		if f.Background {
			m.holdForUser(f.Message, f.Hint)
			return
		}
		m.giveUp(f.Message, f.Hint)
	case OverBudget:
		if m.s.LimitsChanged && m.limit() == "" { // the earlier limit bounded the turn
			m.interrupted(f)
			return
		}
		m.s.Stop.Limit = Budget
		m.inspect()
	case Interrupted:
		m.interrupted(f)
	case Refused:
		if !m.s.InSession {
			m.crashed(f)
			return
		}
		m.s.Next.Retry = true // once the user has compacted, or chosen another model
		m.giveUp(f.Message, f.Hint)
	case Crashed, TimedOut, Silent:
		if byUser { // the user's turn, which counts as no try
			m.s.Next.Retry = true
			m.beginTurnFor(NoClaim)
			return
		}
		m.crashed(f)
	default:
		m.crashed(f)
	}
}

// recordExternalCause keeps the external cause of a failed turn until a turn ends normally.
func (m *machine) recordExternalCause(f Failure) {
	switch f.Class {
	case UsageLimit, Overloaded, Network:
		m.s.Trouble.ExternalCause = f.Message
	case Interrupted:
		m.s.Trouble.ExternalCause = cmp.Or(f.RetriedError, m.s.Trouble.ExternalCause)
	case Login, Billing, Refused, NotStarted, Crashed, TimedOut, Silent, OverBudget: // each has its own end
	}
}

// giveUp ends a loop that needs the user to fix something. In a user's session it pauses the loop
// instead, until the next turn ends or the user resumes it.
func (m *machine) giveUp(message, hint string) {
	if !m.s.InSession {
		m.finish(Errored, message, hint)
		return
	}
	m.holdForUser(message, hint)
}

// holdForUser pauses the loop until the user fixes the problem and resumes it. Then it continues
// where it was.
func (m *machine) holdForUser(message, hint string) {
	why := message
	if hint != "" {
		why += " (" + hint + ")"
	}
	m.note(Warning, "the loop is paused: "+why)
	m.s.Trouble = Trouble{HoldReason: why}
	then, _ := m.resumePoint()
	if then == ThenTurn {
		m.s.Next.Situation = Interruption
	}
	m.hold(then)
}

// resumePoint returns where a loop continues that is held in the current phase. It returns false if
// it cannot be held there, because what is pending has to be repeated first.
func (m *machine) resumePoint() (After, bool) {
	switch m.s.Phase {
	case Turning, TurningIsolated:
		return ThenTurn, true
	case Baseline, Judging:
		return ThenGates, true
	case Committing:
		return ThenCommit, true
	case New, Checkpointing, Inspecting, Restoring, Waiting, Editing, HandingOver, Paused, Finishing, Ended:
	}
	return ThenTurn, false
}

// usageLimitRetryAt returns when to retry after a usage limit. It backs off if the reset time has
// passed or limits follow one another.
func (m *machine) usageLimitRetryAt(f Failure) time.Time {
	if f.Until.IsZero() {
		return m.s.Now.Add(exponentialBackoff(usageLimitBackoffFirst, usageLimitBackoffMax, m.s.Trouble.UsageLimits))
	}
	at := f.Until.Add(resetSlack)
	retries := m.s.Trouble.UsageLimits - 1
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
	m.s.Trouble.Failures++
	m.s.Next.Retry = true
	if m.s.Trouble.Failures > maxFailures {
		m.giveUp(f.Message, "the work is kept; try  pawl resume  later")
		return
	}
	m.s.Next.Situation = Interruption
	m.wait(m.s.Now.Add(exponentialBackoff(backoffFirst, backoffMax, m.s.Trouble.Failures)), ThenTurn, strings.ReplaceAll(string(f.Class), "_", " ")+": "+f.Message)
}

func (m *machine) interrupted(f Failure) {
	if m.s.Stop.Limit != "" {
		m.inspect()
		return
	}
	m.s.Trouble.Failures++
	m.s.Next.Retry = true
	if m.s.Trouble.Failures > maxFailures {
		m.giveUp("the agent is interrupted repeatedly: "+f.Message, f.Hint)
		return
	}
	m.beginTurnFor(Interruption)
}

// crashed counts a crash as a failed attempt. Repeated crashes are an error.
func (m *machine) crashed(f Failure) {
	m.s.Trouble.Crashes++
	if m.s.Trouble.Crashes >= maxCrashes && f.Class != Refused {
		m.s.Next.Retry = true
		if f.Class == TimedOut && f.Hint == "" {
			f.Hint = "give a turn more time: pawl resume --turn-timeout " + flagDuration(2*m.s.Policy.Limits.Turn)
		}
		m.giveUp("the agent failed repeatedly: "+f.Message, f.Hint)
		return
	}
	m.fail(Failing{Reason: "the turn was cut off: " + f.Message, NoWork: true}, "")
}

// exponentialBackoff returns first·2ⁿ⁻¹, at most most.
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
