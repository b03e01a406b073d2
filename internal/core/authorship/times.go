package authorship

import (
	"slices"
	"time"
)

// Times tells by the times of a file who can have made it.
type Times struct {
	Started time.Time     // of the loop
	Doubt   time.Duration // how near to a span a time counts as within it
	agent   []Span
	gates   []Span
	hooks   []Span // among those of the agent, since what hooks make belongs to its work
	known   bool   // when the agent was at work; otherwise all may be its
}

// Recorded is what is recorded of a loop's tool calls, whoever made them.
type Recorded struct {
	Runner   []Call // in sessions of runners
	Begun    []Call // in a user's session: their starts
	Ended    []Call // and their ends
	UnderWay Span   // in the turn that this process runs
}

// Times returns when agent and gates were at work, for a loop that started at a time.
func (r Recorded) Times(started, now time.Time, doubt time.Duration) Times {
	t := Times{Started: started, Doubt: doubt}
	session, timed := SessionSpans(r.Begun, r.Ended, started, now)
	untimed := slices.ContainsFunc(r.Runner, func(c Call) bool { return c.At.IsZero() && (c.Tool != "" || c.AnyChange) })
	if !timed || untimed {
		return t
	}
	runner, gates, open := RunnerSpans(r.Runner)
	t.known, t.gates, t.agent, t.hooks = true, gates, slices.Concat(runner, session), hookSpans(r.Runner)
	if !r.UnderWay.IsZero() {
		t.agent = append(t.agent, r.UnderWay)
	}
	if !open.IsZero() {
		t.agent = append(t.agent, Span{open, now})
	}
	return t
}

// Author tells who made a file with these times: its own, and those of each new folder
// that it lies in. Empty times are unknown.
func (t Times) Author(files ...[]time.Time) Author {
	byGates := true
	for _, times := range files {
		inAgent := func(at time.Time) bool { return anyContains(t.agent, at, t.Doubt) }
		if !t.known || len(times) == 0 || slices.ContainsFunc(times, inAgent) || slices.MaxFunc(times, time.Time.Compare).Before(t.Started) {
			return Agent
		}
		byGates = byGates && !slices.ContainsFunc(times, func(at time.Time) bool { return !anyContains(t.gates, at, 0) })
	}
	if byGates {
		return Gates
	}
	return User
}

// OfEdit tells who changed a tracked file that has these times. users means that its change was the
// user's when it was last asked. What gates and hooks write over, as a formatter does, keeps its
// author: it never makes a change the user's.
func (t Times) OfEdit(times []time.Time, users bool) Author {
	if !t.known || len(times) == 0 || slices.MaxFunc(times, time.Time.Compare).Before(t.Started) {
		return Agent
	}
	calls := slices.DeleteFunc(slices.Clone(t.agent), func(s Span) bool { return slices.Contains(t.hooks, s) })
	pawls := slices.Concat(t.gates, t.hooks)
	for _, at := range times {
		if at.Before(t.Started) { // when it was made, mostly, however near to the first gates
			continue
		}
		byCall := anyContains(calls, at, t.Doubt) && !(users && anyContains(pawls, at, 0) && !anyContains(calls, at, 0))
		if byCall || !users && anyContains(pawls, at, t.Doubt) {
			return Agent
		}
	}
	return User
}
