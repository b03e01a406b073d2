// Package reason says why the machine decided as it did: for each event of a journal the
// actions that it led to, and the numbers that decided.
//
//	step := reason.Step{Before: before, After: after, Event: event, Actions: actions}
//	fmt.Println(step.Decided(), step.Because())
//
// It decides nothing. The machine is a pure function, so that stepping it over the same
// events again gives the same states and actions; this package only puts them in words.
package reason

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Step is one event, with the state before and after it.
type Step struct {
	Before, After loop.State
	Event         loop.Event
	Actions       []loop.Action
}

// Decided says what the machine decided to do now, an action a line.
func (s Step) Decided() []string {
	lines := []string{}
	for _, a := range s.Actions {
		if line := s.action(a); line != "" {
			lines = append(lines, line)
		}
	}
	if s.After.Phase != s.Before.Phase {
		switch s.After.Phase {
		case loop.Paused:
			lines = append(lines, "pause the loop")
		case loop.Ended:
			lines = append(lines, "nothing more: the loop has ended")
		default:
		}
	}
	return lines
}

func (s Step) action(a loop.Action) string {
	switch a := a.Payload.(type) {
	case loop.Checkpoint:
		return "make a checkpoint of the work tree" + colon(a.Subject)
	case loop.RunGates:
		return "run the gates: " + purposes()[a.Purpose]
	case loop.BeginTurn:
		session := "in the same session"
		if a.Fresh {
			session = "in a fresh session"
		}
		return fmt.Sprintf("begin iteration %d on task %s, %s (%s)", a.Iteration, a.Task, session, words(string(a.Situation)))
	case loop.Inspect:
		if a.Deep {
			return "inspect the work tree, compared with the task's start"
		}
		return "inspect the work tree, protected files only"
	case loop.Commit:
		return "commit " + strings.Join(a.Tasks, ", ") + " as " + cmp.Or(string(a.Evidence), "done")
	case loop.Restore:
		return "restore the work tree to where the task began"
	case loop.ReapplyWork:
		return "bring back the work on task " + a.Task
	case loop.Wait:
		if a.Until.IsZero() {
			return "wait: " + a.Why
		}
		return "wait " + figure.Duration(a.Until.Sub(s.After.Now)) + ": " + a.Why
	case loop.EditPlan:
		return fmt.Sprintf("edit the plan (%s)", figure.Count(len(a.Edits), "edit"))
	case loop.HandOver:
		return "hand the loop over to a " + string(a.To) + colon(a.Why)
	case loop.Interrupt:
		return "interrupt the turn"
	case loop.Deliver:
		return "give the turn " + figure.Count(len(a.Messages), "message")
	case loop.RestoreFiles:
		return "restore the protected files: " + strings.Join(a.Paths, ", ")
	case loop.Finish:
		return "end the loop as " + string(s.After.Outcome) + colon(s.After.Reason)
	}
	return "" // what is told is told by the log
}

func purposes() map[loop.Purpose]string {
	return map[loop.Purpose]string{
		loop.ForBaseline: "how they stand before the work", loop.ForClaim: "to check the claim", loop.ForTurn: "after a turn without a claim",
		loop.ForLimit: "at the limit, since the last work was not checked", loop.ForFinal: "on the final tree", loop.ForReview: "reviews of the claim",
	}
}

// Because returns the numbers that decided, a sentence each.
func (s Step) Because() []string {
	lines := []string{}
	for _, part := range []func(Step) []string{Step.turn, Step.seen, Step.gates, Step.ladder, Step.failure, Step.counters, Step.limits, Step.outcome} {
		lines = append(lines, part(s)...)
	}
	return lines
}

// turn: what a turn came to decides how the work tree is inspected.
func (s Step) turn() []string {
	e, ok := s.Event.Payload.(loop.TurnEnded)
	if !ok {
		return nil
	}
	switch c := e.Turn.Claim; {
	case e.Turn.ByUser:
		return []string{"your own prompt began the turn: it is neither counted nor judged"}
	case c != nil && c.Blocked:
		return []string{"the agent says that it cannot do the task: a gate has nothing to judge"}
	case c != nil:
		return []string{"a claim is judged on what changed since the task began"}
	case e.Turn.ToolCalls == 0:
		return []string{fmt.Sprintf("turns in a row without a tool call: %d of %d", s.After.Ladder.IdleTurns, s.After.Bounds().Idle)}
	}
	return []string{"no claim: there is nothing to judge yet"}
}

// seen: a claim without a change is not taken to the gates.
func (s Step) seen() []string {
	switch e, ok := s.Event.Payload.(loop.TreeInspected); {
	case !ok || e.Inspection.Shallow || s.Before.Claim == nil || s.Before.Claim.Blocked:
		return nil
	case e.Inspection.Changed:
		return []string{"files changed since the task began"}
	}
	return []string{"no file changed since the task began"}
}

// gates: what was found, and what the tasks want.
func (s Step) gates() []string {
	e, ok := s.Event.Payload.(loop.GatesFinished)
	if !ok {
		return nil
	}
	g := e.Gates
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if g.Status == gate.Unknown {
		add("a gate gave no result, run %d of %d: %s", max(1, s.After.Trouble.UnknownResults), s.After.Bounds().UnknownResults, g.Reason)
		return lines
	}
	if g.Purpose == loop.ForBaseline {
		switch n := len(g.Red()); {
		case n > 0:
			add("red before the work: %s; a claim is refused only for what is red beyond that", figure.Count(n, "test or gate"))
		case g.Status == gate.Pass:
			add("all gates pass before the work, so a claim needs a test that fails without it")
		}
		return lines
	}
	if n := len(g.Failing); g.Status == gate.Fail && n > 0 {
		add("passed when the task began, and fails now: %d (%s)", n, few(g.Failing))
	} else if g.Status == gate.Pass {
		add("nothing that passed when the task began fails now")
	}
	if n := len(g.Flipped); n > 0 {
		add("failed before, and passes now: %d (%s)", n, few(g.Flipped))
	}
	if g.Purpose != loop.ForClaim || g.Status != gate.Pass {
		return lines
	}
	for _, t := range s.Before.Tasks {
		if t.ID == s.Before.Current {
			add("evidence: found %s, task %s wants %s", cmp.Or(g.Evidence, "none"), t.ID, cmp.Or(t.Wanted, gate.Proven))
		}
	}
	if s.After.Refusals > s.Before.Refusals && s.After.Ladder.Refused {
		add("a claim without enough evidence is refused once, which counts as no failed try; the next is kept as %s", cmp.Or(g.Evidence, gate.Unproven))
	}
	return lines
}

// ladder: how often a task failed, and where that leads.
func (s Step) ladder() []string {
	was, is, b := s.Before.Ladder, s.After.Ladder, s.After.Bounds()
	attempts := loop.AttemptNames()
	name := func(i int) string { return attempts[max(0, min(i, len(attempts)-1))] }
	if s.Before.Current != s.After.Current {
		return nil
	}
	switch {
	case is.Attempt > was.Attempt:
		why := fmt.Sprintf("failed tries: %d of %d", min(was.Tries+1, b.Tries), b.Tries)
		if was.Attempt > 0 {
			why = "the one try there failed"
		} else if is.SameFailures > was.SameFailures && was.Tries+1 < b.Tries {
			why = "the same failure twice in a row, which ends the tries early"
		}
		return []string{fmt.Sprintf("retry ladder: from %s to %s; %s", name(was.Attempt), name(is.Attempt), why)}
	case is.Tries > was.Tries:
		return []string{fmt.Sprintf("retry ladder: %s, failed tries %d of %d", name(is.Attempt), is.Tries, b.Tries)}
	}
	if is.ReviewFailures > was.ReviewFailures {
		return []string{fmt.Sprintf("reviews that failed this work: %d of %d", is.ReviewFailures, b.ReviewRounds)}
	}
	return nil
}

// failure: how often the agent died, and of what.
func (s Step) failure() []string {
	e, ok := s.Event.Payload.(loop.AgentFailed)
	if !ok {
		return nil
	}
	f := e.Failure
	a, b := s.After, s.After.Bounds()
	switch {
	case a.Trouble.UsageLimits > s.Before.Trouble.UsageLimits && f.Until.IsZero():
		return []string{fmt.Sprintf("usage limits since a turn last ended: %d; the message names no reset, so the wait doubles each time", a.Trouble.UsageLimits)}
	case a.Trouble.UsageLimits > s.Before.Trouble.UsageLimits:
		return []string{fmt.Sprintf("usage limits since a turn last ended: %d; the message names %s as the reset; the wait is not counted", a.Trouble.UsageLimits, f.Until.Local().Format("15:04:05"))}
	case a.Trouble.Failures > s.Before.Trouble.Failures:
		return []string{fmt.Sprintf("turns in a row that died this way: %d of %d; the wait doubles each time, the iteration counts once", a.Trouble.Failures, b.Failures)}
	case a.Trouble.Crashes > s.Before.Trouble.Crashes:
		return []string{fmt.Sprintf("turns in a row in which the client died: %d of %d", a.Trouble.Crashes, b.Crashes)}
	case f.Class == loop.Login || f.Class == loop.Billing:
		return []string{"trying again cannot help: you must act first"}
	}
	return nil
}

// counters are the other counts that an event moved.
func (s Step) counters() []string {
	var lines []string
	a, b := s.After, s.Before
	if a.Violations > b.Violations {
		second := "; the second begins a fresh session, the last ends the loop"
		if a.Attended { // a user's session is not replaced
			second = "; the last ends the loop"
		}
		lines = append(lines, fmt.Sprintf("changes of protected files: %d of %d%s", a.Violations, a.Bounds().Violations, second))
	}
	if turn, begins := loop.FindAction[loop.BeginTurn](s.Actions); begins {
		if turn.Fresh && a.Policy.Session == loop.Hybrid && b.ContextPercent >= a.Policy.HandoverAt && a.Policy.HandoverAt > 0 {
			lines = append(lines, fmt.Sprintf("the session's context is %d %% full, a fresh one begins at %d %%", b.ContextPercent, a.Policy.HandoverAt))
		}
		if b.Next.Retry {
			lines = append(lines, "the turn was cut off, so it is begun again and counts once")
		}
	}
	return lines
}

// limits are what is used of them when a turn begins, or one was reached.
func (s Step) limits() []string {
	if _, begins := loop.FindAction[loop.BeginTurn](s.Actions); !begins && s.After.Stop.Limit == s.Before.Stop.Limit {
		return nil
	}
	st, l := s.After, s.After.Policy.Limits
	var parts []string
	if l.Iterations > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", st.Iteration, figure.Count(l.Iterations, "iteration")))
	}
	if l.Duration > 0 {
		parts = append(parts, figure.Duration(st.Elapsed())+" of "+figure.Chosen(l.Duration))
	}
	if l.CostUSD > 0 {
		parts = append(parts, figure.Cost(st.Usage.CostUSD, st.CostUnknown())+" of "+figure.Money(l.CostUSD))
	}
	if l.Tokens > 0 {
		parts = append(parts, figure.Tokens(st.Usage.Tokens())+" of "+figure.Tokens(l.Tokens)+" tokens")
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"limits: " + strings.Join(parts, ", ")}
}

// outcome: the counts that name the end.
func (s Step) outcome() []string {
	if s.After.Outcome == "" || s.Before.Outcome != "" {
		return nil
	}
	by := map[loop.TaskStatus]int{}
	unproven := len(s.After.UnprovenTasks())
	for _, t := range s.After.Tasks {
		by[t.Status]++
	}
	done := fmt.Sprintf("tasks: %d done", by[loop.Done])
	if unproven > 0 {
		done += fmt.Sprintf(" (%d with less evidence than wanted)", unproven)
	}
	parts := []string{done}
	for _, status := range []loop.TaskStatus{loop.Open, loop.Skipped, loop.Blocked, loop.Unchanged} {
		if n := by[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	line := strings.Join(parts, ", ")
	if s.After.Policy.Gates {
		line += map[bool]string{true: "; all gates pass", false: "; the gates do not all pass"}[s.After.Gates.Green]
	}
	return []string{line}
}

// few are the first of some names.
func few(names []string) string {
	return plan.OneLine(plan.Few(names, 3), 300)
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + plan.OneLine(text, 300)
}

func words(s string) string { return strings.ReplaceAll(s, "_", " ") }
