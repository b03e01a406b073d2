package loop

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// limit is the limit that forbids another turn, or "".
func (m *machine) limit() Outcome {
	l := m.s.Policy.Limits
	switch {
	case m.s.ReachedLimit != "":
		return m.s.ReachedLimit
	case l.Iterations > 0 && (m.s.Iteration > l.Iterations || m.s.Iteration == l.Iterations && !m.s.Retry):
		return Iterations
	case l.Duration > 0 && m.s.Elapsed() >= l.Duration:
		return Duration
	case l.CostUSD > 0 && m.s.Usage.CostUSD >= l.CostUSD,
		l.Tokens > 0 && m.s.Usage.Tokens() >= l.Tokens:
		return Budget
	}
	return ""
}

// Deadline returns the time at which the time limit passes while the loop waits for what
// it waits for now: its owner sets a timer, and reports LimitHit then. It is zero where no
// timer is due: a user's turn is not cut off, and between turns the machine looks itself.
func (s State) Deadline() time.Time {
	limit := s.Policy.Limits.Duration
	waits := s.Phase == Waiting && s.AwayFrom.IsZero()
	turns := s.Phase == Turning && !s.Attended || s.Phase == TurningIsolated
	gates := s.Phase == Baseline || s.Phase == Judging
	if limit <= 0 || s.ReachedLimit != "" || !turns && !waits && !gates {
		return time.Time{}
	}
	return s.Now.Add(limit - s.Elapsed())
}

// OverTokens reports whether the limit of tokens is reached with what the turn under way
// has used so far. Its owner reports LimitHit then.
func (s State) OverTokens(turn Usage) bool {
	limit, turns := s.Policy.Limits.Tokens, s.Phase == Turning || s.Phase == TurningIsolated
	return limit > 0 && s.ReachedLimit == "" && turns && s.Usage.Add(turn).Tokens() >= limit
}

// Extended returns the tasks and limits with which a loop that has ended is reopened.
func (s State) Extended(given Limits) State {
	s.Policy.Limits, s.Tasks = s.extended(given), slices.Clone(s.Tasks)
	for i, t := range s.Tasks {
		if t.Status != Done && t.Status != Open && !t.LeftOut {
			s.Tasks[i].Status, s.Tasks[i].Why = Open, ""
		}
	}
	return s
}

// extended are the limits of a loop that goes on after its end: each of those given
// counts from where it stands (below 0 it is none), of the others what remains.
func (s State) extended(given Limits) Limits {
	return Limits{
		Iterations: extend(s.Policy.Limits.Iterations, s.Iteration, given.Iterations),
		Duration:   extend(s.Policy.Limits.Duration, s.Elapsed(), given.Duration),
		CostUSD:    extend(s.Policy.Limits.CostUSD, s.Usage.CostUSD, given.CostUSD),
		Tokens:     extend(s.Policy.Limits.Tokens, s.Usage.Tokens(), given.Tokens),
	}
}

func extend[T cmp.Ordered](limit, used, given T) T {
	var none T
	switch {
	case given > none:
		return used + given
	case given < none:
		return none
	}
	return limit
}

// Spent is the limit that leaves a loop that has ended no further turn, with the
// limits that it would be given, or "".
func (s State) LimitAfterReopen(given Limits) Outcome {
	s.Policy.Limits, s.ReachedLimit, s.Retry = s.extended(given), "", false
	m := machine{s: s}
	return m.limit()
}

// Reached is the limit that leaves a loop that goes on no further turn, or "".
func (s State) CurrentLimit() Outcome {
	m := machine{s: s}
	return m.limit()
}

func (m *machine) limitEvent(e Event) {
	if e.Kind == LimitHit {
		m.limitHit(e.Limit)
		return
	}
	m.limitsChanged(e.Limits)
}

// limitHit is a limit that the owner saw pass, which may be in mid-turn.
func (m *machine) limitHit(o Outcome) {
	if o != Iterations && o != Duration && o != Budget {
		m.notify(Anomaly, "unknown limit "+string(o)+": ignored")
		return
	}
	m.s.ReachedLimit = o
	switch m.s.Phase {
	case Turning:
		if !m.s.Attended { // a turn of a user's session comes to its own end
			m.do(Action{Do: Interrupt})
		}
	case TurningIsolated:
		m.do(Action{Do: Interrupt})
	case Waiting:
		m.startClock()
		m.follow(m.s.After)
	case Baseline: // nothing is there to judge
		m.limitReached(o)
	case Judging:
		m.notify(Info, limitReason(o)+": the gates finish judging this work, then the loop ends")
	case New, Checkpointing, Inspecting, Committing, Restoring, Editing, HandingOver, Paused, Finishing, Ended:
		// noticed before the next turn begins
	}
}

// limitsChanged gives the loop other limits. One that had passed no longer ends the loop
// if it is raised far enough; one that is lowered to what is used ends it before its next
// turn, as if it had just been reached.
func (m *machine) limitsChanged(given *Limits) {
	if given == nil || *given == (Limits{}) {
		m.notify(Anomaly, "no limit was named: nothing is changed")
		return
	}
	if m.s.Phase == New { // start takes them over
		early := m.s.Policy.Limits
		m.s.Policy.Limits = Limits{
			Iterations: cmp.Or(given.Iterations, early.Iterations), Duration: cmp.Or(given.Duration, early.Duration),
			CostUSD: cmp.Or(given.CostUSD, early.CostUSD), Tokens: cmp.Or(given.Tokens, early.Tokens),
		}
		return
	}
	m.s.Policy.Limits = m.s.Policy.Limits.With(*given)
	if m.s.ReachedLimit != "" {
		m.s.ReachedLimit = ""
		m.s.ReachedLimit = m.limit()
	}
	m.s.LimitsChanged = m.s.Phase == Turning || m.s.Phase == TurningIsolated
	o := m.limit()
	if o == "" || m.s.Phase == Finishing {
		return
	}
	m.notify(Info, limitReason(o)+": the loop ends before its next turn")
	if m.s.Phase == Waiting {
		m.startClock()
		m.follow(m.s.After)
	}
}

// limitReached ends the loop; work that no gate has seen is judged first, so
// that the report can say how it stands. It is kept in any case.
func (m *machine) limitReached(o Outcome) {
	m.s.ReachedLimit = o
	switch {
	case m.s.Policy.Kind == Explore || m.s.Policy.Kind == Periodic:
		m.finish(Finished, limitReason(o), "")
	case m.s.Policy.Gates && m.s.TurnSinceGates:
		m.runGates(ForLimit)
	default:
		m.finish(o, m.limitAndFailure(o), "")
	}
}

// limitAndFailure says which limit ended the loop, and what kept it from its goal.
func (m *machine) limitAndFailure(o Outcome) string {
	if m.s.ExternalCause != "" {
		return limitReason(o) + "; the last turn died: " + m.s.ExternalCause
	}
	if m.s.Failing == nil || m.s.Failing.Reason == "" {
		return limitReason(o)
	}
	return limitReason(o) + "; " + plan.OneLine(m.s.Failing.Reason, maxWhyBytes)
}

func limitReason(o Outcome) string {
	switch o {
	case Iterations:
		return "the limit of iterations was reached"
	case Duration:
		return "the time limit was reached"
	case Budget:
		return "the budget was spent"
	}
	return string(o)
}

// ResumeCommand is what a user types to continue the loop, with an option that gives it
// more where it has used up a limit.
func (s State) ResumeCommand(id string) string {
	return strings.TrimSpace("pawl resume " + id + " " + s.MoreFlag())
}

// MoreFlag is the option of pawl resume that lets a loop continue past the limit it used
// up, or "".
func (s State) MoreFlag() string {
	switch l := s.Policy.Limits; s.LimitAfterReopen(Limits{}) {
	case Iterations:
		return "--max-iterations 10"
	case Duration:
		return "--max-duration 2h"
	case Budget:
		if l.CostUSD > 0 && s.Usage.CostUSD >= l.CostUSD {
			return "--max-cost 5"
		}
		return "--max-tokens 1000000"
	}
	return ""
}
