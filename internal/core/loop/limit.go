package loop

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// limit returns the limit that forbids another turn, or "".
func (m *machine) limit() Outcome {
	l := m.s.Policy.Limits
	switch {
	case m.s.Stop.Limit != "":
		return m.s.Stop.Limit
	case l.Iterations > 0 && (m.s.Iteration > l.Iterations || m.s.Iteration == l.Iterations && !m.s.Next.Retry):
		return Iterations
	case l.Duration > 0 && m.s.Elapsed() >= l.Duration:
		return Duration
	case l.CostUSD > 0 && m.s.Usage.CostUSD >= l.CostUSD,
		l.Tokens > 0 && m.s.Usage.Tokens() >= l.Tokens:
		return Budget
	}
	return ""
}

// Deadline returns when the time limit passes in the current phase. The owner sets a timer and
// reports LimitHit. It is zero for a user's turn and between turns, where the machine checks
// itself.
func (s State) Deadline() time.Time {
	limit := s.Policy.Limits.Duration
	waits := s.Phase == Waiting && s.AwayFrom.IsZero()
	turns := s.Phase == Turning && !s.InSession || s.Phase == TurningIsolated
	gates := s.Phase == Baseline || s.Phase == Judging
	if limit <= 0 || s.Stop.Limit != "" || !turns && !waits && !gates {
		return time.Time{}
	}
	return s.Now.Add(limit - s.Elapsed())
}

// OverTokens reports whether the current turn's usage exceeds the token limit. The owner reports
// LimitHit then.
func (s State) OverTokens(turn Usage) bool {
	limit, turns := s.Policy.Limits.Tokens, s.Phase == Turning || s.Phase == TurningIsolated
	return limit > 0 && s.Stop.Limit == "" && turns && s.Usage.Add(turn).Tokens() >= limit
}

// Extended returns the state with the tasks and limits of a reopened loop.
func (s State) Extended(given Limits) State {
	s.Policy.Limits, s.Tasks = s.Policy.Limits.extended(s.used(), given), slices.Clone(s.Tasks)
	for i, t := range s.Tasks {
		if t.Status != Done && t.Status != Open && !t.LeftOut {
			s.Tasks[i].Status, s.Tasks[i].Why = Open, ""
		}
	}
	return s
}

// used returns what the loop has used of its limits.
func (s State) used() Limits {
	return Limits{Iterations: s.Iteration, Duration: s.Elapsed(), CostUSD: s.Usage.CostUSD, Tokens: s.Usage.Tokens()}
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

// LimitAfterReopen returns the limit that would still forbid a turn if an ended loop were reopened
// with given, or "".
func (s State) LimitAfterReopen(given Limits) Outcome {
	s.Policy.Limits, s.Stop.Limit, s.Next.Retry = s.Policy.Limits.extended(s.used(), given), "", false
	m := machine{s: s}
	return m.limit()
}

// CurrentLimit returns the limit that forbids a running loop another turn, or "".
func (s State) CurrentLimit() Outcome {
	m := machine{s: s}
	return m.limit()
}

// limitHit handles a limit that the owner noticed, possibly during a turn.
func (m *machine) limitHit(o Outcome) {
	if o != Iterations && o != Duration && o != Budget {
		m.note(Anomaly, "unknown limit "+string(o)+": ignored")
		return
	}
	m.s.Stop.Limit = o
	switch m.s.Phase {
	case Turning:
		if !m.s.InSession { // a turn of a user's session ends by itself
			m.do(Interrupt{})
		}
	case TurningIsolated:
		m.do(Interrupt{})
	case Waiting:
		m.endWait()
	case Baseline: // there is no work to gate
		m.limitReached(o)
	case Judging:
		m.note(Info, m.s.limitReason(o)+": the gates finish checking this work, then the loop ends")
	case New, Checkpointing, Inspecting, Committing, Restoring, Editing, HandingOver, Paused, Finishing, Ended:
		// noticed before the next turn begins
	}
}

// limitsChanged applies new limits. Raising an exceeded limit lets the loop continue; lowering one
// below the usage ends it before the next turn.
func (m *machine) limitsChanged(given Limits) {
	if given == (Limits{}) {
		m.note(Anomaly, "no limit was given: nothing changes")
		return
	}
	if m.s.Phase == New { // start takes them over
		early := m.s.Policy.Limits
		m.s.Policy.Limits = Limits{
			Iterations: cmp.Or(given.Iterations, early.Iterations), Duration: cmp.Or(given.Duration, early.Duration),
			CostUSD: cmp.Or(given.CostUSD, early.CostUSD), Tokens: cmp.Or(given.Tokens, early.Tokens), Turn: cmp.Or(given.Turn, early.Turn),
		}
		return
	}
	m.s.Policy.Limits = m.s.Policy.Limits.With(given)
	if m.s.Stop.Limit != "" {
		m.s.Stop.Limit = ""
		m.s.Stop.Limit = m.limit()
	}
	m.s.LimitsChanged = m.s.Phase == Turning || m.s.Phase == TurningIsolated
	o := m.limit()
	if o == "" || m.s.Phase == Finishing {
		return
	}
	m.note(Info, m.s.limitReason(o)+": the loop ends before its next turn")
	if m.s.Phase == Waiting {
		m.endWait()
	}
}

// limitReached ends the loop. Work since the last gate run is gated first, for the report, and kept
// in any case.
func (m *machine) limitReached(o Outcome) {
	m.s.Stop.Limit = o
	switch {
	case m.s.Policy.Kind == Explore || m.s.Policy.Kind == Periodic:
		m.finish(Finished, m.s.limitReason(o), "")
	case m.s.Policy.Gates && m.s.Gates.TurnSince:
		m.runGates(ForLimit)
	default:
		m.finish(o, m.limitAndFailure(o), "")
	}
}

// limitAndFailure says which limit ended the loop, and the last failure.
func (m *machine) limitAndFailure(o Outcome) string {
	if m.s.Trouble.ExternalCause != "" {
		return m.s.limitReason(o) + "; the last turn failed: " + m.s.Trouble.ExternalCause
	}
	at, _ := m.s.Task(m.s.Current)
	if m.s.Failing == nil || m.s.Failing.Reason == "" || at.Status != Open {
		return m.s.limitReason(o) // the refusal of a finished task is no longer a reason
	}
	return m.s.limitReason(o) + "; " + plan.OneLine(m.s.Failing.Reason, maxWhyBytes)
}

// limitReason says which limit was reached.
func (s State) limitReason(o Outcome) string {
	switch l := s.Policy.Limits; {
	case o == Iterations:
		return "the limit of " + figure.Count(l.Iterations, "iteration") + " was reached"
	case o == Duration:
		return "the time limit of " + figure.Chosen(l.Duration) + " was reached"
	case o == Budget && l.CostUSD > 0 && s.Usage.CostUSD >= l.CostUSD:
		return "the budget of " + figure.Money(l.CostUSD) + " was spent"
	case o == Budget:
		return "the budget of " + figure.Tokens(l.Tokens) + " tokens was spent"
	}
	return string(o)
}

// Flags returns the limits as options of pawl limit and pawl resume. One below 0 is given as
// 0, for none.
func (l Limits) Flags() []string {
	var flags []string
	add := func(name, value string) { flags = append(flags, "--"+name+"="+value) }
	if l.Iterations != 0 {
		add("max-iterations", strconv.Itoa(max(l.Iterations, 0)))
	}
	if l.Duration != 0 {
		add("max-duration", flagDuration(max(l.Duration, 0)))
	}
	if l.CostUSD != 0 {
		add("max-cost", strconv.FormatFloat(max(l.CostUSD, 0), 'g', -1, 64))
	}
	if l.Tokens != 0 {
		add("max-tokens", strconv.FormatInt(max(l.Tokens, 0), 10))
	}
	if l.Turn != 0 {
		add("turn-timeout", flagDuration(max(l.Turn, 0)))
	}
	return flags
}

// flagDuration returns a duration as an option takes it, without units of 0.
func flagDuration(d time.Duration) string {
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
}

// ResumeCommand returns the command that continues the loop, with MoreFlag. That of a session's
// loop must be typed in a session.
func (s State) ResumeCommand(id string) string {
	if s.InSession {
		return "in Claude Code: ! " + s.ContinueCommand("resume", id)
	}
	return s.ContinueCommand("resume", id)
}

// ContinueCommand returns `pawl resume`, or `pawl handover` for fresh sessions, with MoreFlag.
func (s State) ContinueCommand(name, id string) string {
	return strings.TrimSpace("pawl " + name + " " + id + " " + s.MoreFlags(Limits{}))
}

// MoreFlags returns the pawl resume options that raise the exhausted limits, besides given, or "".
func (s State) MoreFlags(given Limits) string {
	used := s.used()
	l := s.Policy.Limits.extended(used, given)
	var flags []string
	if l.Iterations > 0 && used.Iterations >= l.Iterations {
		flags = append(flags, "--max-iterations 10")
	}
	if l.Duration > 0 && used.Duration >= l.Duration {
		flags = append(flags, "--max-duration 2h")
	}
	if l.CostUSD > 0 && used.CostUSD >= l.CostUSD {
		flags = append(flags, "--max-cost 5")
	}
	if l.Tokens > 0 && used.Tokens >= l.Tokens {
		flags = append(flags, "--max-tokens 1000000")
	}
	return strings.Join(flags, " ")
}
