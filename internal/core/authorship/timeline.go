package authorship

import (
	"slices"
	"time"
)

// Timeline says when agent, gates and hooks ran. It attributes files by their times.
type Timeline struct {
	Started   time.Time     // of the loop
	Tolerance time.Duration // a time this close to a span counts as within it
	calls     Spans         // of the agent
	gates     Spans
	hooks     Spans // files that they create belong to the agent's work
	known     bool  // whether it is known when the agent ran; if not, it may have made any change
}

// CallRecords are the recorded tool calls of a loop.
type CallRecords struct {
	RunnerCalls   []Call // of sessions of the runner
	SessionStarts []Call // starts of the calls in a user's session
	SessionEnds   []Call // ends of the calls in a user's session
	OpenSpan      Span   // of the turn that this process runs
}

// Timeline returns when agent and gates ran, for a loop that started at this time.
func (r CallRecords) Timeline(started, now time.Time, tolerance time.Duration) Timeline {
	t := Timeline{Started: started, Tolerance: tolerance}
	session, timed := SessionSpans(r.SessionStarts, r.SessionEnds, started, now)
	untimed := slices.ContainsFunc(r.RunnerCalls, func(c Call) bool { return c.At.IsZero() && (c.Tool != "" || c.AnyChange) })
	if !timed || untimed {
		return t
	}
	runner := SpansOfRunners(r.RunnerCalls)
	calls := slices.Concat(runner.Calls, session)
	if !r.OpenSpan.IsZero() {
		calls = append(calls, r.OpenSpan)
	}
	if !runner.Open.IsZero() {
		calls = append(calls, Span{runner.Open, now})
	}
	t.known, t.calls, t.gates, t.hooks = true, NewSpans(calls...), NewSpans(runner.Gates...), NewSpans(runner.Hooks...)
	return t
}

// inAgent reports whether the agent or the hooks of its commits ran at a time.
func (t Timeline) inAgent(at time.Time, tolerance time.Duration) bool {
	return t.calls.Contains(at, tolerance) || t.hooks.Contains(at, tolerance)
}

// inPawl reports whether gates or hooks ran at a time.
func (t Timeline) inPawl(at time.Time, tolerance time.Duration) bool {
	return t.gates.Contains(at, tolerance) || t.hooks.Contains(at, tolerance)
}

// formatterDelay is how long after an editing tool's call the user's own hooks may still write its
// file, as a formatter does (PostToolUse of Claude Code: hooks run beside each other).
const formatterDelay = 2 * time.Second

// ChangedWhileIdle reports whether a file with these times changed during the loop while neither the
// agent nor Pawl's gates and hooks ran. A tool call may set a file's times, except that of the last
// change of its attributes. byTool means that an editing tool wrote the file.
func (t Timeline) ChangedWhileIdle(times []time.Time, byTool bool) bool {
	if !t.known || len(times) == 0 || !slices.MaxFunc(times, time.Time.Compare).After(t.Started) {
		return false
	}
	tolerance := t.Tolerance
	if byTool {
		tolerance = max(tolerance, formatterDelay)
	}
	return !slices.ContainsFunc(times, func(at time.Time) bool { return t.calls.Contains(at, tolerance) || t.inPawl(at, tolerance) })
}

// mayHaveDeleted reports whether gates or hooks may have deleted a file, by the times of its folder.
func (t Timeline) mayHaveDeleted(times []time.Time) bool {
	return !t.known || len(times) == 0 || slices.MaxFunc(times, time.Time.Compare).Before(t.Started) ||
		slices.ContainsFunc(times, func(at time.Time) bool { return t.inPawl(at, t.Tolerance) })
}

// FileAuthor returns who created a file with these times: the file's, and those of each new
// folder that it lies in. Empty times are unknown.
func (t Timeline) FileAuthor(files ...[]time.Time) Author {
	byGates := true
	for _, times := range files {
		inAgent := func(at time.Time) bool { return t.inAgent(at, t.Tolerance) }
		if !t.known || len(times) == 0 || slices.ContainsFunc(times, inAgent) || slices.MaxFunc(times, time.Time.Compare).Before(t.Started) {
			return Agent
		}
		byGates = byGates && !slices.ContainsFunc(times, func(at time.Time) bool { return !t.gates.Contains(at, 0) })
	}
	if byGates {
		return Gates
	}
	return User
}

// editAuthor returns who changed a tracked file with these times. wasUsers means that the file's
// change was attributed to the user before. A file that gates or hooks rewrite, as a formatter
// does, keeps its author.
func (t Timeline) editAuthor(times []time.Time, wasUsers bool) Author {
	if !t.known || len(times) == 0 || slices.MaxFunc(times, time.Time.Compare).Before(t.Started) {
		return Agent
	}
	for _, at := range times {
		if at.Before(t.Started) { // usually the file's creation, however close to the first gates
			continue
		}
		byCall := t.calls.Contains(at, t.Tolerance) && !(wasUsers && t.inPawl(at, 0) && !t.calls.Contains(at, 0))
		if byCall || !wasUsers && t.inPawl(at, t.Tolerance) {
			return Agent
		}
	}
	return User
}
