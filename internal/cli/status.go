package cli

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
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

type statusCmd struct {
	loopArg
	JSON bool `name:"json" help:"print a JSON object (docs/reference/status.schema.json)"`
}

// Run shows how a loop stands.
func (c *statusCmd) Run(ctx context.Context, a *app, s *subject) error {
	if c.JSON {
		sum := s.summary()
		return a.printJSON(record.NewStatus(sum, s.memory.State, doing(s, sum, time.Now())))
	}
	a.printf("%s", statusText(ctx, s, time.Now()))
	return nil
}

// statusText is a headline and what there is to know behind it.
func statusText(ctx context.Context, s *subject, now time.Time) string {
	var b strings.Builder
	st, sum := s.memory.State, s.summary()
	fmt.Fprintf(&b, "%s  %s\n", s.ID, headline(s, sum, now))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s  %s\n", name, fmt.Sprintf(format, args...))
	}
	line("goal", "%s", s.spec.Goal())
	if words := narrate.Kind(s.spec.Policy); words != "" {
		line("kind", "%s", words)
	}
	if sum.CountsTasks() {
		line("tasks", "%s", narrate.TaskCount(sum.Tasks))
	}
	rows(line, "", taskLines(st, sum.State == "running"))
	for _, g := range s.memory.Results {
		line("gate", "%s  %s", plan.OneLine(g.Gate, 60), narrate.GateResult(g))
	}
	if st.Isolated != nil {
		line("try", "%s", narrate.Try(*st.Isolated))
	}
	rows(line, "sandbox", s.sandboxLines())
	line("spent", "%s", narrate.Spent(st))
	if left := narrate.Left(st); left != "" {
		line("left", "%s", left)
	}
	if s.spec.Branch != "" && !s.spec.NoCommit && (sum.Commits > 0 || !s.hasEnded()) {
		line("branch", "%s, %s", s.spec.Branch, strings.TrimSuffix(figure.Count(sum.Commits, "commit")+", "+s.branchFate(ctx), ", "))
	}
	if s.spec.UsesWorktree {
		line("worktree", "%s", s.spec.WorkTree(s.Loop))
	}
	if st.Merge != nil {
		line("asks", "to be merged: %s", plan.OneLine(st.Merge.Summary, 100))
		if words := s.memory.PullRequest.Text(); words != "" {
			line("", "%s", plan.OneLine(words, 200))
		}
	}
	rows(line, "not made", s.editsNotMade())
	rows(line, "told", narrate.Messages(st.Conversation))
	s.questions(line)
	for _, ask := range st.TestRequests {
		line("asks", "to change %s%s", plan.OneLine(plan.Few(ask.Paths, 4), 200), narrate.Because(plan.OneLine(ask.Why, 160)))
		line("", "%s", s.answers(ask))
	}
	if len(st.Approved) > 0 {
		line("approved", "the agent may change %s", plan.OneLine(narrate.Tests(st.Approved), 200))
	}
	if st.Reason != "" {
		line("why", "%s", plan.OneLine(st.Reason, 0))
	}
	line("next", "%s", nextSteps(s, sum.State))
	return b.String()
}

// taskLines are the lines of a plan's tasks: of a long plan those of the last that are done and
// of the first that are open, with how many are left out.
func taskLines(st loop.State, running bool) (lines []string) {
	skip, open, hidden := -mostListed, 0, 0
	for _, t := range st.Tasks {
		if t.Status == loop.Done {
			skip++
		}
	}
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
		case t.Status == loop.Open && open >= mostListed:
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

// editsNotMade are the edits of the plan that wait, those in the inbox too, and what makes them.
func (s *subject) editsNotMade() (lines []string) {
	st, how := s.memory.State, ", before the next turn"
	if s.hasEnded() {
		how = "  → " + st.ResumeCommand(s.ID)
	}
	inbox, _ := record.PendingEdits(s.Loop) // those of an unreadable one are not known
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

// questions are those of the agent's that wait for an answer, and how to give it.
func (s *subject) questions(line func(name, format string, args ...any)) {
	st := s.memory.State
	for _, q := range st.Unanswered() {
		if st.Outcome != "" {
			return
		}
		line("asks", "%s", plan.OneLine(q.Named(), 0))
		rows(line, "", q.Lines())
		line("", "%s", q.Command(s.ID))
	}
}

// answers are the commands that answer a request. A file is named where pawl approve
// wants it named, or where it tells this request from others.
func (s *subject) answers(ask loop.TestChangeRequest) string {
	files := ""
	if _, judges := s.unnamed(ask.Paths); len(judges) > 0 || len(s.memory.State.TestRequests) > 1 {
		files = " " + plan.OneLine(strings.Join(ask.Paths, " "), 400)
	}
	if s.hasEnded() {
		return "pawl approve " + s.ID + files
	}
	return fmt.Sprintf("pawl approve %s%s   or  pawl reject %[1]s%[2]s", s.ID, files)
}

// doing is what a loop does now, "" if it has ended.
func doing(s *subject, sum record.Summary, now time.Time) string {
	switch {
	case sum.Closed:
		return "waiting: its session is closed"
	case sum.Capped:
		return narrate.Capped
	case sum.State == "running":
		return narrate.Doing(s.memory.State)
	case sum.State == "waiting":
		return narrate.Waiting(s.memory.State, now)
	case sum.State == "paused":
		return narrate.Paused(s.memory.State, now)
	}
	return ""
}

// headline says what the loop is doing.
func headline(s *subject, sum record.Summary, now time.Time) string {
	st := s.memory.State
	turn := fmt.Sprintf("iteration %d", st.Iteration)
	if n := st.Policy.Limits.Iterations; n > 0 {
		turn += fmt.Sprintf(" of %d", n)
	}
	if sum.Closed {
		return fmt.Sprintf("waiting: its session is closed · %s · continue with  claude --resume %s", turn, sum.Session)
	}
	if sum.Capped {
		return fmt.Sprintf("%s · %s · type anything in session %s, or  pawl handover %s", narrate.Capped, turn, sum.Session[:min(8, len(sum.Session))], s.ID)
	}
	switch sum.State {
	case "ended":
		return narrate.Ended(st)
	case orphaned:
		if s.isStranded() {
			return "damaged: its journal cannot be read in full, so that nothing can go on with it"
		}
		if s.letGo() {
			return fmt.Sprintf("released for a session to take over; otherwise process %d continues it (%s)", s.holder.PID, turn)
		}
		return fmt.Sprintf("orphaned: %s (%s)", lastOwner(s), turn)
	case "paused":
		return narrate.Paused(st, now) + livesWords(s, sum) + " · " + turn
	case "waiting":
		return narrate.Waiting(st, now) + livesWords(s, sum) + " · " + turn
	}
	words := "running" + livesWords(s, sum) + " · " + turn + " · " + narrate.Doing(st)
	if st.Pause {
		words += " · " + narrate.Pausing(st)
	}
	return words
}

// livesWords says where a loop lives that has lived in a session.
func livesWords(s *subject, sum record.Summary) string {
	if !s.inSession() && (s.spec.Policy.Attended || s.memory.Bound.Session != "") {
		return fmt.Sprintf(" in fresh sessions, process %d", s.holder.PID)
	}
	return sessionWords(sum)
}

// letGo: its runner waits for the session that is to take it, see takeBack.
func (s *subject) letGo() bool {
	handover, asked := loop.FindAction[loop.HandOver](s.memory.State.Pending)
	return s.memory.State.Phase == loop.HandingOver && asked && handover.To == loop.OwnerSession && proc.Alive(s.holder.PID)
}

func lastOwner(s *subject) string {
	if s.holder.PID == 0 {
		return "it never began"
	}
	if why := s.lastError(); why != "" {
		return fmt.Sprintf("process %d failed: %s", s.holder.PID, why)
	}
	return fmt.Sprintf("process %d is gone", s.holder.PID)
}

// nextSteps is what a user may type now.
func nextSteps(s *subject, state string) string {
	if s.inSession() && s.adrift() {
		return fmt.Sprintf("pawl handover %s   pawl resume %[1]s   pawl stop %[1]s", s.ID)
	}
	approve := s.memory.State.ApproveCommand(s.ID)
	if approve != "" {
		approve = "   " + approve
	}
	switch state {
	case "ended":
		if t := s.summary().Tasks; t.Open+t.Skipped > 0 {
			return "pawl report " + s.ID + approve + "   " + s.memory.State.ResumeCommand(s.ID)
		}
		return "pawl report " + s.ID + approve
	case orphaned, "paused":
		if s.isStranded() {
			return fmt.Sprintf("pawl stop %s   pawl log %[1]s", s.ID)
		}
		if s.letGo() {
			return fmt.Sprintf("in Claude Code:  ! pawl start --take %s   pawl resume %[1]s", s.ID)
		}
		return "pawl resume " + s.ID + approve
	}
	return fmt.Sprintf("pawl log %s --follow"+approve+"   pawl tell %[1]s \"…\"   pawl stop %[1]s", s.ID)
}

// rows are several lines of one label, which stands before the first.
func rows(line func(label, format string, args ...any), label string, texts []string) {
	for _, text := range texts {
		line(label, "%s", text)
		label = ""
	}
}
