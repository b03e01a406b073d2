package loopinfo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// maxListedTasks is the maximum number of tasks of a kind in a list.
const maxListedTasks = 20

// Status returns a headline and details of the loop.
func (s *Loop) Status(ctx context.Context, now time.Time) string {
	var b strings.Builder
	st, sum := s.Memory.State, s.Summary()
	fmt.Fprintf(&b, "%s  %s\n", s.ID, s.Headline(sum, now))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s  %s\n", name, fmt.Sprintf(format, args...))
	}
	line("goal", "%s", s.Spec.Goal())
	Rows(line, "kind", narrate.Kind(s.Spec.Policy))
	if sum.CountsTasks() {
		words := fmt.Sprintf("%d done, %d open", sum.Tasks.Done, sum.Tasks.Open)
		if n := sum.Tasks.Skipped; n > 0 {
			words += fmt.Sprintf(", %d skipped", n)
		}
		line("tasks", "%s", words)
	}
	Rows(line, "", taskLines(st, sum.State == "running")...)
	for _, g := range s.Memory.Results {
		line("gate", "%s  %s", plan.OneLine(g.Gate, 60), narrate.GateResult(g))
	}
	if st.Isolated != nil {
		line("try", "%s", narrate.IsolatedTurn(*st.Isolated))
	}
	Rows(line, "sandbox", s.Sandbox()...)
	line("spent", "%s", narrate.Spending(st))
	Rows(line, "left", narrate.TimeLeft(st))
	if s.Spec.Branch != "" && !s.Spec.NoCommit && (sum.Commits > 0 || !s.HasEnded()) {
		line("branch", "%s, %s", s.Branch(ctx), strings.TrimSuffix(figure.Count(sum.Commits, "commit")+", "+s.BranchFate(ctx), ", "))
	}
	if s.Spec.UsesWorktree {
		line("worktree", "%s", s.Spec.WorkTree(s.Loop))
	}
	if st.Merge != nil {
		line("asks", "to be merged: %s", plan.OneLine(st.Merge.Summary, 100))
		Rows(line, "", plan.OneLine(s.Memory.PullRequest.Text(), 200))
	}
	Rows(line, "not made", s.editsNotMade()...)
	Rows(line, "told", narrate.Messages(st.Conversation)...)
	s.questions(line)
	for _, ask := range st.TestRequests {
		line("asks", "to change %s%s", plan.OneLine(plan.Few(ask.Paths, 4), 200), narrate.ReasonClause(plan.OneLine(ask.Why, 160)))
		line("", "%s", s.approvalCommands(ask))
	}
	if len(st.Approved) > 0 {
		line("approved", "the agent may change %s", plan.OneLine(narrate.TestFiles(st.Approved), 200))
	}
	Rows(line, "why", plan.OneLine(st.Reason, 0), s.failedStep())
	line("next", "%s", s.nextSteps(sum.State))
	return b.String()
}

// taskLines returns the lines of a plan's tasks. A long plan is shortened to the last done and the
// first open ones, with the number of hidden tasks.
func taskLines(st loop.State, running bool) (lines []string) {
	skip, open, hidden := st.Tasks.Count(loop.Done)-maxListedTasks, 0, 0
	flush := func() {
		if hidden > 0 {
			lines = append(lines, fmt.Sprintf("… and %d more", hidden))
		}
		hidden = 0
	}
	for _, t := range st.Tasks {
		switch {
		case t.ID == loop.GoalTask:
			continue
		case t.Status == loop.Done && skip > 0:
			skip--
			hidden++
			continue
		case t.Status == loop.Open && open >= maxListedTasks:
			hidden++
			continue
		case t.Status == loop.Open:
			open++
		}
		flush()
		lines = append(lines, narrate.PlanLine(st, t, running))
	}
	flush()
	return lines
}

// editsNotMade lists the pending edits of the plan, with those in the inbox, and what applies them.
func (s *Loop) editsNotMade() (lines []string) {
	st, how := s.Memory.State, ", before the next turn"
	if s.HasEnded() {
		how = "  → " + st.ResumeCommand(s.ID)
	}
	inbox, _ := record.PendingEdits(s.Loop) // the edits of an unreadable inbox are unknown
	for _, e := range inbox {
		if !slices.Contains(st.ReceivedIDs, e.ID) {
			st.Edits = append(slices.Clip(st.Edits), e)
		}
	}
	for _, e := range st.Edits {
		lines = append(lines, plan.OneLine(e.String(), 200)+how)
	}
	return lines
}

// questions prints the agent's open questions, and how to answer them.
func (s *Loop) questions(line func(name, format string, args ...any)) {
	st := s.Memory.State
	for _, q := range st.Unanswered() {
		if st.Outcome != "" {
			return
		}
		line("asks", "%s", plan.OneLine(q.Named(), 0))
		Rows(line, "", q.Lines()...)
		line("", "%s", q.Command(s.ID))
	}
}

// approvalCommands returns the commands that answer a request. It names the files if pawl approve needs them or
// if there are several requests.
func (s *Loop) approvalCommands(ask loop.TestChangeRequest) string {
	files := ""
	if _, inputs := s.SplitTests(ask.Paths); len(inputs) > 0 || len(s.Memory.State.TestRequests) > 1 {
		files = " " + plan.OneLine(strings.Join(ask.Paths, " "), 400)
	}
	if s.HasEnded() {
		return "pawl approve " + s.ID + files
	}
	return fmt.Sprintf("pawl approve %s%s   or  pawl reject %[1]s%[2]s", s.ID, files)
}

// Doing says what a loop does now, "" if it has ended.
func (s *Loop) Doing(sum record.Summary, now time.Time) string {
	switch {
	case sum.Closed:
		return "waiting: its session is closed"
	case sum.Capped:
		return narrate.Capped
	case sum.State == "running":
		return narrate.Doing(s.Memory.State)
	case sum.State == "waiting":
		return narrate.Waiting(s.Memory.State, now)
	case sum.State == "paused":
		return narrate.Paused(s.Memory.State, now)
	}
	return ""
}

// Headline describes the loop's state in one line.
func (s *Loop) Headline(sum record.Summary, now time.Time) string {
	st := s.Memory.State
	turn := fmt.Sprintf("iteration %d", st.Iteration)
	if n := st.Policy.Limits.Iterations; n > 0 {
		turn += fmt.Sprintf(" of %d", n)
	}
	if sum.Closed {
		how := "continue with  claude --resume " + sum.Session
		if st.Pause || st.Phase == loop.Paused {
			how = "paused: pawl resume " + s.ID + ", then  claude --resume " + sum.Session
		}
		return fmt.Sprintf("waiting: its session is closed · %s · %s", turn, how)
	}
	if sum.Capped {
		return fmt.Sprintf("%s · %s · type anything in session %s, or  pawl handover %s", narrate.Capped, turn, sum.Session[:min(8, len(sum.Session))], s.ID)
	}
	switch sum.State {
	case "ended":
		return narrate.Ended(st)
	case Orphaned:
		if s.CannotContinue() {
			return "damaged: its journal is only partly readable; pawl log shows where"
		}
		if s.IsReleased() {
			return fmt.Sprintf("waiting for a session to take it; otherwise process %d continues it (%s)", s.Driver.PID, turn)
		}
		return fmt.Sprintf("orphaned: %s (%s)", s.LastOwner(), turn)
	case "paused":
		return narrate.Paused(st, now) + s.locationText(sum) + " · " + turn
	case "waiting":
		return narrate.Waiting(st, now) + s.locationText(sum) + " · " + turn
	}
	words := "running" + s.locationText(sum) + " · " + turn + " · " + narrate.Doing(st)
	if st.Pause {
		words += " · " + narrate.Pausing(st)
	}
	return words
}

// locationText says where a loop runs that was in a session before.
func (s *Loop) locationText(sum record.Summary) string {
	if !s.InSession() && (s.Spec.Policy.InSession || s.Memory.Bound.Session != "") {
		return fmt.Sprintf(" in fresh sessions, process %d", s.Driver.PID)
	}
	return SessionText(sum)
}

// LastOwner says what happened to the last process that drove the loop.
func (s *Loop) LastOwner() string {
	if s.Driver.PID == 0 {
		return "it never started"
	}
	if why := s.LastError(store.RunnerLog, s.Driver.Since); why != "" {
		return fmt.Sprintf("process %d failed: %s", s.Driver.PID, plan.OneLine(why, 300))
	}
	return fmt.Sprintf("process %d is gone", s.Driver.PID)
}

// failedStep says why the loop's next step in its session failed, "" if it did not.
func (s *Loop) failedStep() string {
	if !s.InSession() || s.Alive || !s.Memory.State.Phase.OwnerActs() {
		return ""
	}
	why := s.LastError(store.DriverLog, s.Driver.Since)
	if why == "" {
		return ""
	}
	return plan.OneLine(why, 300) + "; Pawl tries again when the next turn ends"
}

// nextSteps returns the commands to type now.
func (s *Loop) nextSteps(state string) string {
	if s.InSession() && s.DiedLeavingSession() {
		return fmt.Sprintf("pawl handover %s   pawl resume %[1]s   pawl stop %[1]s", s.ID)
	}
	approve := s.Memory.State.ApproveCommand(s.ID)
	if approve != "" {
		approve = "   " + approve
	}
	switch state {
	case "ended":
		if t := s.Summary().Tasks; t.Open+t.Skipped > 0 || s.Memory.State.StartedAt.IsZero() { // it has no tasks before its start
			return "pawl report " + s.ID + approve + "   " + s.Memory.State.ResumeCommand(s.ID)
		}
		return "pawl report " + s.ID + approve
	case Orphaned, "paused":
		if s.CannotContinue() {
			return fmt.Sprintf("pawl stop %s   pawl log %[1]s", s.ID)
		}
		if s.IsReleased() {
			return fmt.Sprintf("in Claude Code:  ! pawl start --take %s   pawl resume %[1]s", s.ID)
		}
		return "pawl resume " + s.ID + approve
	}
	return fmt.Sprintf("pawl log %s --follow"+approve+"   pawl tell %[1]s \"…\"   pawl stop %[1]s", s.ID)
}

// Rows prints several lines with one label, which comes before the first. It omits empty texts.
func Rows(line func(label, format string, args ...any), label string, texts ...string) {
	for _, text := range texts {
		if text != "" {
			line(label, "%s", text)
			label = ""
		}
	}
}

// SplitTests separates the paths that an approval without names covers: tests, and files that work was
// found to need. Others are gate inputs, and must be named.
func (s *Loop) SplitTests(paths []string) (tests, others []string) {
	for _, path := range paths {
		needed := slices.ContainsFunc(s.Memory.State.Tasks, func(t loop.Task) bool {
			return t.IfApproved != nil && slices.Contains(t.IfApproved.Paths, path)
		})
		if needed || verify.IsTest(s.Spec.Tests, path) {
			tests = append(tests, path)
		} else {
			others = append(others, path)
		}
	}
	return tests, others
}
