package narrate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Decided lists the actions that the machine decided on, one in a line.
func (t Step) Decided() []string {
	lines := []string{}
	for _, a := range t.Actions {
		if line := t.action(a); line != "" {
			lines = append(lines, line)
		}
	}
	if t.After.Phase != t.Before.Phase {
		switch t.After.Phase {
		case loop.Paused:
			lines = append(lines, "pause the loop")
		case loop.Ended:
			lines = append(lines, "nothing more: the loop has ended")
		default:
		}
	}
	return lines
}

func (t Step) action(a loop.Action) string {
	switch a := a.Payload.(type) {
	case loop.Checkpoint:
		return "make a checkpoint of the work tree" + withColon(a.Subject)
	case loop.RunGates:
		return "run the gates: " + map[loop.Purpose]string{
			loop.ForBaseline: "before the work, as the baseline", loop.ForClaim: "to check the claim", loop.ForTurn: "after a turn without a claim",
			loop.ForLimit: "at the limit, since the last work was not checked", loop.ForFinal: "on the final tree", loop.ForReview: "reviews of the claim",
		}[a.Purpose]
	case loop.BeginTurn:
		session := "in the same session"
		if a.Fresh {
			session = "in a fresh session"
		}
		return fmt.Sprintf("start iteration %d on task %s, %s (%s)", a.Iteration, a.Task, session, strings.ReplaceAll(string(a.Situation), "_", " "))
	case loop.Inspect:
		if a.Deep {
			return "inspect the work tree, compared with the task's start"
		}
		return "inspect the work tree, protected files only"
	case loop.Commit:
		return "commit " + strings.Join(a.Tasks, ", ") + " as " + cmp.Or(string(a.Evidence), "done")
	case loop.Restore:
		return "restore the work tree to where the task started"
	case loop.ReapplyWork:
		return "bring back the work on task " + a.Task
	case loop.Wait:
		if a.Until.IsZero() {
			return "wait: " + a.Why
		}
		return "wait " + figure.Duration(a.Until.Sub(t.After.Now)) + ": " + a.Why
	case loop.EditPlan:
		return fmt.Sprintf("edit the plan (%s)", figure.Count(len(a.Edits), "edit"))
	case loop.HandOver:
		return "hand over the loop to a " + string(a.To) + withColon(a.Why)
	case loop.Interrupt:
		return "interrupt the turn"
	case loop.Deliver:
		return "give the turn " + figure.Count(len(a.Messages), "message")
	case loop.RestoreFiles:
		return "restore the protected files: " + strings.Join(a.Paths, ", ")
	case loop.Finish:
		return "end the loop as " + string(t.After.Outcome) + withColon(t.After.Reason)
	}
	return "" // the log shows the other actions
}

// Because returns the numbers behind the decision, a sentence each.
func (t Step) Because() []string {
	lines := []string{}
	for _, part := range []func(Step) []string{Step.whyTurn, Step.whyChanged, Step.whyGates, Step.whyAttempt, Step.whyFailure, Step.whyCounts, Step.whyLimits, Step.whyOutcome} {
		lines = append(lines, part(t)...)
	}
	return lines
}

// whyTurn explains how the turn's result decides what is inspected.
func (t Step) whyTurn() []string {
	e, ok := t.Event.Payload.(loop.TurnEnded)
	if !ok {
		return nil
	}
	switch c := e.Turn.Claim; {
	case e.Turn.ByUser:
		return []string{"you started this turn yourself: it is not counted and not checked"}
	case c != nil && c.Blocked:
		return []string{"the agent says that it cannot do the task: there is nothing to check"}
	case c != nil:
		return []string{"a claim is checked against the files at the task's start"}
	case e.Turn.ToolCalls == 0:
		return []string{fmt.Sprintf("turns in a row without a tool call: %d of %d", t.After.Ladder.IdleTurns, t.After.Bounds().Idle)}
	}
	return []string{"no claim: there is nothing to check yet"}
}

// whyChanged says whether files changed: a claim without changes does not reach the gates.
func (t Step) whyChanged() []string {
	switch e, ok := t.Event.Payload.(loop.TreeInspected); {
	case !ok || e.Inspection.Shallow || t.Before.Claim == nil || t.Before.Claim.Blocked:
		return nil
	case e.Inspection.Changed:
		return []string{"files changed since the task started"}
	}
	return []string{"no file changed since the task started"}
}

// whyGates says what the gates found and what evidence the task wants.
func (t Step) whyGates() []string {
	e, ok := t.Event.Payload.(loop.GatesFinished)
	if !ok {
		return nil
	}
	g := e.Gates
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if g.Status == gate.Unknown {
		add("a gate gave no clear result, run %d of %d: %s", max(1, t.After.Trouble.UnknownResults), t.After.MaxReruns(g), g.Reason)
		return lines
	}
	if g.Purpose == loop.ForBaseline {
		switch n := len(g.Red()); {
		case n > 0:
			add("failed before the work: %s; only new failures refuse a claim", figure.Count(n, "failure"))
		case g.Status == gate.Pass:
			add("all gates pass before the work, so a claim needs a test that fails without the work")
		}
		return lines
	}
	if n := len(g.Failing); g.Status == gate.Fail && n > 0 {
		add("did not fail when the task started: %d (%s)", n, firstNames(g.Failing))
	} else if g.Status == gate.Pass {
		add("everything that passed when the task started still passes")
	}
	if n := len(g.Flipped); n > 0 {
		add("failed before, passes now: %d (%s)", n, firstNames(g.Flipped))
	}
	if g.Purpose != loop.ForClaim || g.Status != gate.Pass {
		return lines
	}
	for _, task := range t.Before.Tasks {
		if task.ID == t.Before.Current {
			add("evidence: found %s, task %s wants %s", cmp.Or(g.Evidence, "none"), task.ID, cmp.Or(task.Wanted, gate.Proven))
		}
	}
	if t.After.Refusals > t.Before.Refusals && t.After.Ladder.HasRefused(loop.LacksEvidence) {
		add("a claim without enough evidence is refused once, without counting as a failed try; the next one is kept as %s", cmp.Or(g.Evidence, gate.Unproven))
	}
	return lines
}

// whyAttempt says how often a task failed, and which attempt follows.
func (t Step) whyAttempt() []string {
	was, is, b := t.Before.Ladder, t.After.Ladder, t.After.Bounds()
	attempts := loop.AttemptNames()
	name := func(i int) string { return attempts[max(0, min(i, len(attempts)-1))] }
	if t.Before.Current != t.After.Current {
		return nil
	}
	switch {
	case is.Attempt > was.Attempt:
		why := fmt.Sprintf("failed tries: %d of %d", min(was.Tries+1, b.Tries), b.Tries)
		if was.Attempt > 0 {
			why = "the only try there failed"
		} else if is.SameFailures > was.SameFailures && was.Tries+1 < b.Tries {
			why = "the same failure twice in a row ends the tries early"
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

// whyFailure says how often the agent failed, and why.
func (t Step) whyFailure() []string {
	e, ok := t.Event.Payload.(loop.AgentFailed)
	if !ok {
		return nil
	}
	f := e.Failure
	a, b := t.After, t.After.Bounds()
	switch {
	case a.Trouble.UsageLimits > t.Before.Trouble.UsageLimits && f.Until.IsZero():
		return []string{fmt.Sprintf("usage limits since a turn last ended: %d; the message gives no reset time, so the wait doubles each time", a.Trouble.UsageLimits)}
	case a.Trouble.UsageLimits > t.Before.Trouble.UsageLimits:
		return []string{fmt.Sprintf("usage limits since a turn last ended: %d; the message names %s as the reset; the wait is not counted", a.Trouble.UsageLimits, f.Until.Local().Format("15:04:05"))}
	case a.Trouble.Failures > t.Before.Trouble.Failures:
		return []string{fmt.Sprintf("turns in a row that failed this way: %d of %d; the wait doubles each time, the iteration counts once", a.Trouble.Failures, b.Failures)}
	case a.Trouble.Crashes > t.Before.Trouble.Crashes:
		return []string{fmt.Sprintf("turns in a row in which the client crashed: %d of %d", a.Trouble.Crashes, b.Crashes)}
	case f.Class == loop.Login || f.Class == loop.Billing:
		return []string{"trying again cannot help: it needs you"}
	}
	return nil
}

// whyCounts explains the other counters that changed.
func (t Step) whyCounts() []string {
	var lines []string
	a, b := t.After, t.Before
	if a.Violations > b.Violations {
		second := "; the second begins a fresh session, the last ends the loop"
		if a.InSession { // Pawl does not replace a user's session
			second = "; the last ends the loop"
		}
		lines = append(lines, fmt.Sprintf("changes of protected files: %d of %d%s", a.Violations, a.Bounds().Violations, second))
	}
	if turn, begins := loop.FindAction[loop.BeginTurn](t.Actions); begins {
		if turn.Fresh && a.Policy.Session == loop.Hybrid && b.ContextFull() {
			lines = append(lines, fmt.Sprintf("the session's context is %d %% full, a fresh session starts at %d %%", b.ContextPercent, a.Policy.HandoverAt))
		}
		if b.Next.Retry {
			lines = append(lines, "the turn was cut off, so it starts again and counts once")
		}
	}
	return lines
}

// whyLimits says how much of each limit is used, when a turn starts or a limit is reached.
func (t Step) whyLimits() []string {
	if _, begins := loop.FindAction[loop.BeginTurn](t.Actions); !begins && t.After.Stop.Limit == t.Before.Stop.Limit {
		return nil
	}
	st, l := t.After, t.After.Policy.Limits
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

// whyOutcome returns the counts that decided the outcome.
func (t Step) whyOutcome() []string {
	if t.After.Outcome == "" || t.Before.Outcome != "" {
		return nil
	}
	by := map[loop.TaskStatus]int{}
	unproven := len(t.After.UnprovenTasks())
	for _, t := range t.After.Tasks {
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
	if t.After.Policy.Gates {
		line += map[bool]string{true: "; all gates pass", false: "; not all gates pass"}[t.After.Gates.Green]
	}
	return []string{line}
}

// firstNames returns the first of some names.
func firstNames(names []string) string {
	return plan.OneLine(plan.Few(names, 3), 300)
}

func withColon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + plan.OneLine(text, 300)
}
