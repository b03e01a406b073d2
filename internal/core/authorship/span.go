package authorship

import (
	"slices"
	"strings"
	"time"
)

// Span is a time in which the agent, a gate or a hook ran.
type Span struct{ From, Until time.Time }

// IsZero reports whether the span is empty.
func (s Span) IsZero() bool { return s.From.IsZero() }

// Spans are sorted and apart from each other, so that a time is found by binary search.
type Spans []Span

// NewSpans merges spans. It leaves out those that end before they begin, as after the clock was set
// back: no time lies in them.
func NewSpans(spans ...Span) Spans {
	spans = slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.Until.Before(s.From) })
	slices.SortFunc(spans, func(a, b Span) int { return a.From.Compare(b.From) })
	merged := spans[:0]
	for _, s := range spans {
		if last := len(merged) - 1; last >= 0 && !s.From.After(merged[last].Until) {
			if s.Until.After(merged[last].Until) {
				merged[last].Until = s.Until
			}
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// Contains reports whether a time lies in one of the spans, give or take the tolerance.
func (s Spans) Contains(t time.Time, tolerance time.Duration) bool {
	i, _ := slices.BinarySearchFunc(s, t, func(s Span, t time.Time) int { return s.Until.Add(tolerance).Compare(t) })
	return i < len(s) && !t.Before(s[i].From.Add(-tolerance))
}

// Activity turns the events of a turn into spans: while a tool call that may write runs,
// and while a process runs that a call left in the background.
type Activity struct {
	runningCalls int       // tool calls that have not ended
	openSince    time.Time // start of the open span; zero: none is open
	turnStart    time.Time // start of the turn's first span
	leftRunning  bool      // a process that a turn left in the background still runs
}

// BeginWriting opens a span, if none is open, for a call that may write.
func (a *Activity) BeginWriting(now time.Time) {
	if a.openSince.IsZero() {
		a.openSince = now
	}
	if a.turnStart.IsZero() {
		a.turnStart = now
	}
}

// CallBegan counts a call of any kind.
func (a *Activity) CallBegan() { a.runningCalls++ }

// CallEnded returns the span that ends with the call, or the zero Span.
func (a *Activity) CallEnded(now time.Time) Span {
	if a.runningCalls = max(a.runningCalls-1, 0); a.runningCalls > 0 {
		return Span{}
	}
	return a.end(now)
}

// TurnEnded returns the last span of a turn. parallel means that processes ran beside the
// calls: then the whole turn is one span. leftRunning means that a process runs on, or a
// call that was cut off and runs until its session is closed: then the span stays open.
func (a *Activity) TurnEnded(now time.Time, parallel, leftRunning bool) Span {
	a.runningCalls = 0
	if !a.turnStart.IsZero() && parallel {
		a.openSince = a.turnStart
	}
	a.leftRunning = a.leftRunning || leftRunning
	a.turnStart = time.Time{}
	return a.end(now)
}

// SessionEnded returns the last span of a session whose processes have ended.
func (a *Activity) SessionEnded(now time.Time) Span {
	a.leftRunning = false
	return a.end(now)
}

// OpenSpan returns the span that has not ended, up to now.
func (a *Activity) OpenSpan(now time.Time) Span {
	if a.openSince.IsZero() {
		return Span{}
	}
	return Span{a.openSince, now}
}

func (a *Activity) end(now time.Time) Span {
	span := a.OpenSpan(now)
	if !a.leftRunning {
		a.openSince = time.Time{}
	}
	return span
}

// RunnerSpans are the spans that runners recorded.
type RunnerSpans struct {
	Calls, Gates, Hooks []Span
	Open                time.Time // when the first call began that has no end: its runner was killed, or still runs
}

// SpansOfRunners returns the spans in the calls that runners recorded.
func SpansOfRunners(calls []Call) (r RunnerSpans) {
	for _, c := range calls {
		switch span := (Span{c.At, c.Until}); {
		case c.Gates:
			r.Gates = append(r.Gates, span)
		case c.Hooks:
			r.Hooks = append(r.Hooks, span)
		case !c.Until.IsZero():
			r.Calls = append(r.Calls, span)
		}
	}
	ended := NewSpans(slices.Concat(r.Calls, r.Hooks)...)
	for _, c := range calls {
		if !c.Gates && !c.At.IsZero() && !ended.Contains(c.At, 0) && (r.Open.IsZero() || c.At.Before(r.Open)) {
			r.Open = c.At
		}
	}
	return r
}

// CutOffSpan returns the span of calls whose runner was killed. It ends when the next owner
// ended their processes, or when the machine was restarted, whichever was first.
func CutOffSpan(open, boot, now time.Time) Span {
	if boot.After(open) && boot.Before(now) {
		now = boot
	}
	return Span{open, now}
}

// SessionSpans returns the spans in which tool calls of the loop's session ran. A call
// that has not ended, or may have left a process running, extends to now. A call without
// a start extends from the loop's start. ok is false if the end of a call is unknown.
// Calls of the user's turns are included: in doubt a file that appeared then is the
// agent's.
func SessionSpans(begun, ended []Call, started, now time.Time) (spans []Span, ok bool) {
	startedAt, finished := callStarts(begun), map[string]bool{}
	for _, c := range ended {
		if c.UserTurn || c.Kind.ReadOnly() {
			continue
		}
		if c.At.IsZero() || c.ID == "" {
			return nil, false
		}
		span := Span{started, c.At}
		if start, known := startedAt[c.ID]; known {
			span.From = start
		}
		if c.mayLeaveProcess() {
			span.Until = now
		}
		finished[c.ID] = true
		spans = append(spans, span)
	}
	for id, start := range startedAt {
		if !finished[id] || id == "" {
			spans = append(spans, Span{start, now})
		}
	}
	return spans, true
}

// callStarts returns when each call began, by its id.
func callStarts(begun []Call) map[string]time.Time {
	first := map[string]time.Time{}
	for _, c := range begun {
		if at, known := first[c.ID]; !known || c.At.Before(at) {
			first[c.ID] = c.At
		}
	}
	return first
}

const (
	maxStartBeforeEnd = 10 * time.Second       // between the start of a process and the end of its call, if the call's start is unknown
	maxStartAfterEnd  = time.Second            // between the end of a call and the start of its process: a background call is reported at once
	startTolerance    = 100 * time.Millisecond // the system counts the start of processes in hundredths of a second
)

// MayHaveStarted returns a function that reports whether a process that began at a time
// may have been left running by the session's agent: one of its commands that names the
// program ran then; any command names "".
func MayHaveStarted(program string, begun, ended []Call) func(began time.Time) bool {
	open := callStarts(begun)
	return func(began time.Time) bool {
		return slices.ContainsFunc(ended, func(c Call) bool {
			from, known := open[c.ID]
			if !known || c.ID == "" {
				from = c.At.Add(-maxStartBeforeEnd)
			}
			return !c.At.IsZero() && c.Command != "" && strings.Contains(c.Command, program) && began.After(from.Add(-startTolerance)) && began.Before(c.At.Add(maxStartAfterEnd))
		})
	}
}
