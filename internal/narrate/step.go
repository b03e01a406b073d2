// Package narrate describes a loop in words: its events, its state and its tasks, why a claim was
// refused, and what a user can do next. Every surface (screen, log, report, hook, tools of the agent,
// notices) takes words and figures from here, so that all say the same.
//
//	narrate.Task(t)       "done, proven · 2 attempts, 3m12s, $0.40 · 1a2b3c4"
//	narrate.TimeLeft(s)       "about 6m20s, $0.90 (3 tasks; the median of 2 so far: 2m10s, $0.30)"
//	narrate.StepOf(r, s)  a step, whose Lines are those of `pawl log`
package narrate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Step is one step of the machine.
type Step struct {
	Before, After loop.State
	Event         loop.Event
	Actions       []loop.Action
}

// StepOf applies a record to the machine if it is an event. before is the state so far.
func StepOf(r journal.Record, before loop.State) Step {
	t := Step{Before: before, After: before}
	if r.Type == memory.TypeEvent && json.Unmarshal(r.Data, &t.Event) == nil {
		t.After, t.Actions = loop.Step(before, t.Event)
	}
	return t
}

// Lines describes a record: what happened, then what was decided.
func (t Step) Lines(r journal.Record) []string {
	switch r.Type {
	case memory.TypeEvent:
		var lines []string
		for _, line := range append([]string{t.Sentence()}, t.consequences()...) {
			if line != "" {
				lines = append(lines, line)
			}
		}
		return lines
	case store.TypeOwnerTaken:
		var h store.Holder
		if json.Unmarshal(r.Data, &h) == nil {
			return []string{fmt.Sprintf("process %d on %s runs the loop", h.PID, h.Host)}
		}
	case journal.TornType:
		var torn journal.TornData
		if json.Unmarshal(r.Data, &torn) == nil {
			return []string{fmt.Sprintf("a crash left %d bytes of a record; they are kept in %s", torn.Bytes, torn.File)}
		}
	case memory.TypeNote:
		var n memory.Note
		if json.Unmarshal(r.Data, &n) == nil {
			return []string{string(n.Level) + ": " + n.Text}
		}
	case memory.TypeReceipt:
		var rec verify.Receipt
		if json.Unmarshal(r.Data, &rec) == nil {
			if rec.Kind == gate.ByReview {
				return []string{fmt.Sprintf("%s: %s (%s) receipt %s", plan.OneLine(rec.Command, 100), rec.Status, figure.Duration(rec.Duration), rec.ID)}
			}
			return []string{fmt.Sprintf("gate %s: %s (exit %d, %s) receipt %s", rec.Gate, rec.Status, rec.ExitCode, figure.Duration(rec.Duration), rec.ID)}
		}
	}
	return nil // a record for the runner only
}

// IsTrouble reports whether the record shows a problem or needs the user. Examples are a failed turn, a
// refused claim, a violation, a restore, a skipped task, a question and a warning. Gates that fail
// before the work do not count.
func (t Step) IsTrouble(r journal.Record) bool {
	if r.Type == memory.TypeNote {
		var n memory.Note
		return json.Unmarshal(r.Data, &n) == nil && n.Level != loop.Info
	}
	switch t.Event.Kind() {
	case loop.KindAgentFailed, loop.KindRestored, loop.KindLimitHit, loop.KindFaulted, loop.KindOwnerChanged, loop.KindQuestionAsked, loop.KindTestChangeRequested, loop.KindRejected:
		return r.Type == memory.TypeEvent
	}
	given := slices.ContainsFunc(t.After.ChangedTasks(t.Before), func(k loop.Task) bool { return k.Status != loop.Open && k.Status != loop.Done })
	return given || t.After.Refusals > t.Before.Refusals || t.After.Violations > t.Before.Violations
}

// Sentence describes the event.
func (t Step) Sentence() string {
	switch e := t.Event.Payload.(type) {
	case loop.Started:
		return fmt.Sprintf("the loop starts: %s, %d open", figure.Count(len(t.After.Tasks), "task"), t.After.Tasks.Count(loop.Open))
	case loop.Checkpointed:
		return fmt.Sprintf("checkpoint of the work tree made (%.7s)", e.Tree)
	case loop.GatesFinished:
		return t.gates(e.Gates)
	case loop.TurnEnded:
		return t.turn(e)
	case loop.AgentFailed:
		what := "the turn"
		if e.Isolated {
			what = "the try in an isolated session"
		}
		return fmt.Sprintf("%s died: %s (%s)", what, e.Failure.Message, strings.ReplaceAll(string(e.Failure.Class), "_", " "))
	case loop.TreeInspected:
		return inspectionText(e.Inspection)
	case loop.Committed:
		return t.committed(e.Commit)
	case loop.Restored:
		if t.Before.PutsOthersAway() {
			return "the restored work of other tasks was put away until they start"
		}
		return fmt.Sprintf("the work tree was restored to where %s started (%.7s)", TaskOf(t.Before, t.Before.Current), e.Tree)
	case loop.WorkReapplied:
		return fmt.Sprintf("the unfinished work on %s is back in the work tree (%.7s)", TaskOf(t.Before, t.Before.Current), e.Tree)
	case loop.TimerFired:
		return "the wait has ended"
	case loop.PauseRequested:
		return "pause requested"
	case loop.Resumed:
		return "resumed"
	case loop.Cancelled:
		return "cancelled (" + e.Cause + ")"
	case loop.OwnerChanged:
		return "a new process took over the loop"
	case loop.Reopened:
		return "reopened: unfinished tasks are open again"
	case loop.Faulted:
		return "failed: " + e.Error
	case loop.HandoverRequested:
		return "asked to continue " + OwnerPlace(e.To) + ReasonClause(e.Why)
	case loop.HandedOver:
		if e.Failed {
			return "stays in its session" + ReasonClause(e.Why)
		}
		return "continues " + OwnerPlace(e.To) + ReasonClause(e.Why)
	case loop.Concluded:
		return "cleanup after the end is finished"
	case loop.PlanEdited:
		if made := editText(e.Edits); made != "" {
			return "the plan was edited: " + made
		}
		return "the plan does not change"
	}
	return t.requestText()
}

// requestText describes a request or a message of the user or the agent.
func (t Step) requestText() string {
	switch e := t.Event.Payload.(type) {
	case loop.LimitHit:
		return "limit reached: " + string(e.Limit)
	case loop.LimitsChanged:
		return LimitsChanged(t.Before, t.After)
	case loop.MessageArrived:
		if e.Now {
			return "message from a user, for this turn: " + e.Text
		}
		return "message from a user: " + e.Text
	case loop.Delivered:
		return figure.Count(len(e.MessageIDs), "message") + " delivered into the turn"
	case loop.QuestionAsked:
		return questionText(e.Question)
	case loop.Answered:
		return "answer of a user: " + e.Answer
	case loop.TestChangeRequested:
		return "the agent asks to change tests: " + strings.Join(e.Paths, ", ") + ReasonClause(e.Why)
	case loop.Approved:
		if len(e.Tasks) > 0 {
			return "pawl approve: the work of " + strings.Join(e.Tasks, ", ") + " is accepted"
		}
		return "pawl approve: the agent may change " + TestFiles(e.Paths)
	case loop.Rejected:
		return "pawl reject: the agent may not change " + TestFiles(e.Paths)
	case loop.LessonLearned:
		return "lesson added: " + e.Lesson
	case loop.LessonForgotten:
		return "lesson removed: " + e.Lesson
	case loop.PlanEditRequested:
		return "the user edits the plan: " + editText(e.Edits)
	case loop.MergeRequested:
		return "the agent asks to merge its work: " + e.Summary
	case loop.CheckpointRestored:
		return e.Summary
	}
	return string(t.Event.Kind())
}

// OwnerPlace says where an owner works.
func OwnerPlace(o loop.Owner) string {
	if o == loop.OwnerSession {
		return "in a user's session"
	}
	return "in fresh sessions"
}

// ReasonClause returns a reason to append to a sentence, "" if there is none.
func ReasonClause(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func (t Step) turn(e loop.TurnEnded) string {
	turn := e.Turn
	cost := figure.Count(turn.ToolCalls, "tool call")
	if turn.Usage != (loop.Usage{}) { // otherwise cost and tokens are unknown
		cost += fmt.Sprintf(", %s, %s tokens", figure.Money(turn.Usage.CostUSD), figure.Tokens(t.After.Usage.Tokens()-t.Before.Usage.Tokens()))
	}
	what, last := "ended without a claim", ""
	if o := turn.OtherPromise; o != nil {
		what = fmt.Sprintf("ended with <promise>%s</promise>, which is no claim: this loop expects <promise>%s</promise>", o.Said, o.Asked)
	}
	if kind := t.Before.Policy.Kind; kind == loop.Explore || kind == loop.Periodic {
		what, last = "ended", ReasonClause(t.After.LastAgentLine) // such a goal has no claim
	}
	switch c := turn.Claim; {
	case turn.ByUser:
		what = "was the user's own turn: not counted"
	case c == nil:
	case c.Blocked:
		what = "ended: the agent says that it is blocked: " + c.Reason
	case len(c.Tasks) > 0:
		what = "ended: the agent claims " + strings.Join(c.Tasks, ", ") + " done"
	default:
		what = "ended: the agent claims to be done"
	}
	if e.Isolated {
		what = "in an isolated session " + what
	}
	if turn.Question != nil {
		last += "; " + questionText(*turn.Question)
	}
	if turn.Test != nil {
		last += "; its last test run, " + turn.Test.String()
	}
	return fmt.Sprintf("iteration %d %s (%s)%s", t.Before.Iteration, what, cost, last)
}

func (t Step) gates(g loop.Gates) string {
	if g.Purpose == loop.ForClaim && t.Before.Policy.Verify {
		return "gates after the turn: " + VerifyGates(g)
	}
	what := map[loop.Purpose]string{
		loop.ForBaseline: "gates before the work",
		loop.ForClaim:    "gates on the claim",
		loop.ForTurn:     "gates after the turn",
		loop.ForLimit:    "gates at the limit",
		loop.ForFinal:    "gates on the final tree",
		loop.ForReview:   "review of the claim",
	}[g.Purpose]
	line := what + ": " + string(g.Status)
	if (g.Purpose == loop.ForClaim || g.Purpose == loop.ForLimit) && g.Status == gate.Pass && len(g.Red()) > 0 {
		line = what + ": fails as before the task"
		if g.Evidence == gate.Proven {
			line = what + ": fails less than before the task"
		}
	}
	line += allowedFailures(g.Results)
	if g.Evidence != "" {
		line += ", evidence " + string(g.Evidence)
	}
	switch {
	case len(g.Flipped) > 0:
		line += "; failed before, passes now: " + strings.Join(g.Flipped, ", ")
	case g.Reason != "":
		line += "; " + g.Reason
	}
	if len(g.Signs) > 0 && g.Evidence != gate.Proven {
		line += "; look at: " + strings.Join(g.Signs, "; ")
	}
	return line
}

func inspectionText(s loop.Inspection) string {
	var parts []string
	if len(s.TickedByAgent) > 0 {
		parts = append(parts, "the agent ticked "+strings.Join(s.TickedByAgent, ", ")+": taken as a claim")
	}
	if len(s.Tampered) > 0 {
		parts = append(parts, "the agent changed protected files: "+strings.Join(s.Tampered, ", "))
	}
	for _, t := range s.Added {
		parts = append(parts, "task "+t.ID+" was added to the plan: "+t.Title)
	}
	if s.UnappliedEditFile != "" {
		parts = append(parts, "an edit of the plan was not applied; it is kept in "+s.UnappliedEditFile)
	}
	if len(s.RejectedTests) > 0 {
		parts = append(parts, "the agent changed tests that you rejected: "+strings.Join(s.RejectedTests, ", "))
	}
	return strings.Join(parts, "; ")
}

func (t Step) committed(commit string) string {
	var names []string
	for _, task := range t.After.ChangedTasks(t.Before) {
		if task.Status == loop.Done {
			names = append(names, Name(task))
		}
	}
	tasks := strings.Join(names, ", ")
	if commit == "" {
		return "done: " + tasks
	}
	return fmt.Sprintf("committed %.7s: %s", commit, tasks)
}

// consequences lists the consequences of the event that a user wants to know.
func (t Step) consequences() []string {
	var lines []string
	if t.After.Refusals > t.Before.Refusals && t.After.Failing != nil {
		lines = append(lines, "claim refused: "+t.After.Failing.Reason)
	}
	if t.After.Violations > t.Before.Violations {
		lines = append(lines, fmt.Sprintf("violation %s: %s", loop.ViolationRatio(t.After.Violations), afterViolation(t.Before.InSession, t.After.Outcome != "")))
	}
	if n := countDelivered(t.Before, t.After); n > 0 {
		lines = append(lines, "the turn had "+figure.Count(n, "message")+" of the user")
	}
	if t.After.Phase == loop.Paused && t.Before.Phase != loop.Paused {
		lines = append(lines, "paused")
	}
	for _, a := range t.Actions {
		switch a := a.Payload.(type) { // other actions are described by their results; a notice has a record of its own
		case loop.BeginTurn:
			lines = append(lines, turnBegins(t.After, a))
		case loop.Wait:
			lines = append(lines, fmt.Sprintf("waits until %s: %s", clock(a.Until, t.Event.At), a.Why))
		case loop.HandOver:
			lines = append(lines, "will continue "+OwnerPlace(a.To)+ReasonClause(a.Why))
		case loop.Finish:
			lines = append(lines, t.finish())
		}
	}
	return lines
}

// afterViolation says what happens to a protected file that the agent changed. In a user's session,
// Pawl restores nothing by itself.
func afterViolation(inSession, ended bool) string {
	switch {
	case !inSession:
		return "Pawl restored the files"
	case ended:
		return "in your session, Pawl restores no files itself"
	}
	return "Pawl told the agent to restore them"
}

func turnBegins(s loop.State, a loop.BeginTurn) string {
	session := "the same session"
	if a.Fresh {
		session = "a fresh session"
	}
	if a.Isolated {
		session += " beside the user's"
	}
	return fmt.Sprintf("iteration %d starts: %s, %s (%s)", a.Iteration, TaskOf(s, a.Task), session, strings.ReplaceAll(string(a.Situation), "_", " "))
}

// TaskOf returns the id and title of a task of a plan.
func TaskOf(s loop.State, taskID string) string {
	if t, ok := s.Task(taskID); ok && t.Title != "" && ID(t) != "" {
		return TaskInSentence(t.ID, t.Title)
	}
	return "task " + taskID
}

func (t Step) finish() string {
	line := "the loop ends " + string(t.After.Outcome)
	if p := t.After.Progress(); p != "" {
		line = p + "; " + line
	}
	if t.After.Reason != "" {
		line += ": " + t.After.Reason
	}
	return line
}
