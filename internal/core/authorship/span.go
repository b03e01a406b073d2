package authorship

import (
	"slices"
	"strings"
	"time"
)

// Span is a time in which something was at work.
type Span struct{ From, Until time.Time }

// IsZero reports whether it is no span.
func (s Span) IsZero() bool { return s.From.IsZero() }

// contains reports whether a time lies in the span, or as near to it as doubt.
func (s Span) contains(t time.Time, doubt time.Duration) bool {
	return !t.Before(s.From.Add(-doubt)) && !t.After(s.Until.Add(doubt))
}

// anyContains reports whether one of the spans contains a time.
func anyContains(spans []Span, t time.Time, doubt time.Duration) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.contains(t, doubt) })
}

// Activity makes spans of a turn's events: the agent was at work in a tool call that may
// write, and while something runs that one left in the background.
type Activity struct {
	running int       // tool calls that have not ended
	since   time.Time // when the span under way began, zero if none is
	turn    time.Time // when the first one of the turn did
	left    bool      // something that a turn left in the background runs on
}

// Begin begins a call that may write.
func (a *Activity) Begin(now time.Time) {
	if a.since.IsZero() {
		a.since = now
	}
	if a.turn.IsZero() {
		a.turn = now
	}
}

// CallBegan counts a call of any kind.
func (a *Activity) CallBegan() { a.running++ }

// CallEnded returns the span that ends with the call, if one does.
func (a *Activity) CallEnded(now time.Time) Span {
	if a.running = max(a.running-1, 0); a.running > 0 {
		return Span{}
	}
	return a.end(now)
}

// TurnEnded returns the last span of a turn. If processes ran beside the calls, it is a
// single span. It goes on after the turn if something was left: a process, or a call that
// was cut off, which runs until its session is closed.
func (a *Activity) TurnEnded(now time.Time, beside, left bool) Span {
	a.running = 0
	if !a.turn.IsZero() && beside {
		a.since = a.turn
	}
	a.left = a.left || left
	a.turn = time.Time{}
	return a.end(now)
}

// SessionEnded returns the last span of a session, whose processes are gone.
func (a *Activity) SessionEnded(now time.Time) Span {
	a.left = false
	return a.end(now)
}

// UnderWay returns the span that has not ended.
func (a *Activity) UnderWay(now time.Time) Span {
	if a.since.IsZero() {
		return Span{}
	}
	return Span{a.since, now}
}

func (a *Activity) end(now time.Time) Span {
	span := a.UnderWay(now)
	if !a.left {
		a.since = time.Time{}
	}
	return span
}

// RunnerSpans returns the spans that runners recorded. open is when the first call began
// that has no end: its runner was killed, or still runs.
func RunnerSpans(calls []Call) (agent, gates []Span, open time.Time) {
	for _, c := range calls {
		switch span := (Span{c.At, c.Until}); {
		case c.Gates:
			gates = append(gates, span)
		case !c.Until.IsZero():
			agent = append(agent, span)
		}
	}
	for _, c := range calls {
		if !c.Gates && !c.At.IsZero() && !anyContains(agent, c.At, 0) && (open.IsZero() || c.At.Before(open)) {
			open = c.At
		}
	}
	return agent, gates, open
}

// CutOff returns the span of calls whose runner was killed: until the next owner ended what they had
// started, or, if that was earlier, until the machine was started again.
func CutOff(open, boot, now time.Time) Span {
	if boot.After(open) && boot.Before(now) {
		now = boot
	}
	return Span{open, now}
}

// hookSpans returns the spans in which the user's commit hooks ran.
func hookSpans(calls []Call) (spans []Span) {
	for _, c := range calls {
		if c.Hooks {
			spans = append(spans, Span{c.At, c.Until})
		}
	}
	return spans
}

// SessionSpans returns the spans in which tool calls of the loop's session ran. A call
// that has not ended, or may have left a process running, extends to now. A call without
// a start extends from the loop's start. ok is false if the end of a call is unknown.
// Calls of the user's turns are included: in doubt a file that appeared then is the
// agent's.
func SessionSpans(begun, ended []Call, started, now time.Time) (spans []Span, ok bool) {
	open, over := starts(begun), map[string]bool{}
	for _, c := range ended {
		if c.UserTurn || c.Kind.ReadOnly() {
			continue
		}
		if c.At.IsZero() || c.ID == "" {
			return nil, false
		}
		span := Span{started, c.At}
		if at, known := open[c.ID]; known {
			span.From = at
		}
		if c.mayLeaveProcess() {
			span.Until = now
		}
		over[c.ID] = true
		spans = append(spans, span)
	}
	for id, at := range open {
		if !over[id] || id == "" {
			spans = append(spans, Span{at, now})
		}
	}
	return spans, true
}

// starts returns when each call began, by its id.
func starts(begun []Call) map[string]time.Time {
	first := map[string]time.Time{}
	for _, c := range begun {
		if at, known := first[c.ID]; !known || c.At.Before(at) {
			first[c.ID] = c.At
		}
	}
	return first
}

const (
	maxStartBeforeEnd = 10 * time.Second       // between the start of a process and the end of its call, where its start is not known
	maxStartAfterEnd  = time.Second            // after the end: the client reports a call that it leaves running at once
	clockDoubt        = 100 * time.Millisecond // the system counts the start of processes in hundredths of a second
)

// MayHaveStarted returns a function that reports whether a process that began at a time
// may have been left running by the session's agent: one of its commands that names the
// program ran then; any command names "".
func MayHaveStarted(program string, begun, ended []Call) func(began time.Time) bool {
	open := starts(begun)
	return func(began time.Time) bool {
		return slices.ContainsFunc(ended, func(c Call) bool {
			from, known := open[c.ID]
			if !known || c.ID == "" {
				from = c.At.Add(-maxStartBeforeEnd)
			}
			return !c.At.IsZero() && c.Command != "" && strings.Contains(c.Command, program) && began.After(from.Add(-clockDoubt)) && began.Before(c.At.Add(maxStartAfterEnd))
		})
	}
}
