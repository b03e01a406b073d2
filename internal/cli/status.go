package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/progress"
	"github.com/pawl-dev/pawl/internal/record"
)

type statusCmd struct {
	loopArg
	JSON bool `name:"json" help:"print a JSON object (docs/reference/status.schema.json)"`
}

func (statusCmd) Help() string {
	return `  pawl status
  pawl status brisk-otter --json | jq .state`
}

// Run shows how a loop stands.
func (c *statusCmd) Run(a *app) error {
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	if c.JSON {
		sum := s.summary()
		return a.printJSON(record.Detailed(sum, s.memory.State, doing(s, sum, time.Now())))
	}
	a.printf("%s", statusText(s, time.Now()))
	return nil
}

// statusText is a headline and what there is to know behind it.
func statusText(s *subject, now time.Time) string {
	var b strings.Builder
	st, sum := s.memory.State, s.summary()
	fmt.Fprintf(&b, "%s  %s\n", s.ID, headline(s, sum, now))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s  %s\n", name, fmt.Sprintf(format, args...))
	}
	line("goal", "%s", s.spec.Goal())
	if words := kindWords(s.spec.Policy); words != "" {
		line("kind", "%s", words)
	}
	if countsTasks(sum) {
		line("tasks", "%s", tasksLine(sum.Tasks))
	}
	for _, t := range st.Tasks {
		if t.ID != record.GoalTask {
			line("", "%s", taskLine(t, t.ID == st.Current && sum.State == "running"))
		}
	}
	for _, g := range s.memory.Results {
		line("gate", "%s  %s", plan.OneLine(g.Gate, 60), resultWords(g))
	}
	if st.Try != nil {
		line("try", "%s", tryWords(*st.Try))
	}
	rows(line, "sandbox", s.wallWords())
	line("spent", "%s", progress.Spent(st))
	if left := progress.Left(st); left != "" {
		line("left", "%s", left)
	}
	if s.spec.Branch != "" && !s.spec.NoCommit {
		line("branch", "%s, %s", s.spec.Branch, count(sum.Commits, "commit"))
	}
	if st.Merge != nil {
		line("asks", "to be merged: %s", plan.OneLine(st.Merge.Summary, 100))
		if words := s.memory.PullRequest.Text(); words != "" {
			line("", "%s", plan.OneLine(words, 200))
		}
	}
	rows(line, "told", progress.Messages(st))
	s.questions(line)
	for _, ask := range st.Asks {
		line("asks", "to change %s%s", plan.OneLine(some(ask.Paths), 200), because(plan.OneLine(ask.Why, 160)))
		line("", "%s", s.answers(ask))
	}
	if len(st.Approved) > 0 {
		line("approved", "the agent may change %s", plan.OneLine(testNames(st.Approved), 200))
	}
	if st.Reason != "" {
		line("why", "%s", plan.OneLine(st.Reason, 0))
	}
	line("next", "%s", nextSteps(s, sum.State))
	return b.String()
}

// questions are those of the agent's that wait for an answer, and how to give it.
func (s *subject) questions(line func(name, format string, args ...any)) {
	st := s.memory.State
	asked := st.Unanswered()
	for _, q := range asked {
		if st.Outcome != "" {
			return
		}
		line("asks", "%s%s", plan.OneLine(q.Text, 0), s.forTask(q))
		rows(line, "", q.Lines())
		if len(asked) > 1 {
			line("", "pawl answer %s --task %s \"…\"", s.ID, q.Task)
			continue
		}
		line("", "%s", q.Command(s.ID))
	}
}

// answers are the commands that answer a request. A file is named where pawl approve
// wants it named, or where it tells this request from others.
func (s *subject) answers(ask loop.Ask) string {
	files := ""
	if _, judges := s.unnamed(ask.Paths); len(judges) > 0 || len(s.memory.State.Asks) > 1 {
		files = " " + plan.OneLine(strings.Join(ask.Paths, " "), 400)
	}
	if s.hasEnded() {
		return "pawl approve " + s.ID + files
	}
	return fmt.Sprintf("pawl approve %s%s   or  pawl reject %[1]s%[2]s", s.ID, files)
}

// kindWords says what a goal is that is no change of the tree, "" for one.
func kindWords(p loop.Policy) string {
	switch p.Kind {
	case loop.Answer:
		return "answer: the result is text"
	case loop.Explore:
		return "explore: its limit is its end, there is nothing to claim"
	case loop.Periodic:
		return fmt.Sprintf("periodic: again every %s, until its limit or a stop", figure.Chosen(p.Every))
	case loop.Change:
	}
	return ""
}

// tryWords says what the last isolated try came to.
func tryWords(t loop.Try) string {
	what := fmt.Sprintf("iteration %d, in a session of its own", t.Iteration)
	if t.Took == 0 && t.Usage == (loop.Usage{}) {
		return what + ": at work"
	}
	u := t.Usage
	what += fmt.Sprintf(": %s, %s, %s tokens (%s from the cache)", figure.Money(u.CostUSD), figure.Duration(t.Took),
		figure.Tokens(u.Tokens()), figure.Tokens(u.CacheRead))
	if t.Rounds > 0 {
		what += ", " + count(t.Rounds, "request")
	}
	if t.Died != "" {
		what += "; cut off: " + plan.OneLine(t.Died, 100)
	}
	return what
}

// taskLine is a task of the plan, and how it stands.
func taskLine(t loop.Task, current bool) string {
	words := progress.Task(t)
	if current {
		words = "at work, " + words
	}
	if why := plan.OneLine(t.Why, 120); why != "" && t.NeedsUser() {
		words += " · " + why
	}
	return strings.TrimSpace(plan.OneLine(t.ID, 40)+"  "+plan.OneLine(t.Title, 80)) + ": " + words
}

// doing is what a loop does now, "" if it has ended.
func doing(s *subject, sum record.Summary, now time.Time) string {
	switch {
	case sum.Closed:
		return "waiting: its session is closed"
	case sum.State == "running":
		return phaseWords(s.memory.State)
	case sum.State == "waiting":
		return waitingWords(s.memory.State, now)
	case sum.State == "paused":
		return "paused"
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
	switch sum.State {
	case "ended":
		return endedWords(st)
	case orphaned:
		if s.letGo() {
			return fmt.Sprintf("released for a session to take over; otherwise process %d continues it (%s)", s.holder.PID, turn)
		}
		return fmt.Sprintf("orphaned: %s (%s)", lastOwner(s), turn)
	case "paused":
		return "paused" + sinceWords(st, now) + livesWords(s, sum) + " · " + turn
	case "waiting":
		return waitingWords(st, now) + livesWords(s, sum) + " · " + turn
	}
	words := "running" + livesWords(s, sum) + " · " + turn + " · " + phaseWords(st)
	if st.Pause {
		words += " · " + pausingWords(st)
	}
	return words
}

// sinceWords says when a pause took effect.
func sinceWords(st loop.State, now time.Time) string {
	if st.AwayFrom.IsZero() {
		return ""
	}
	return " since " + clock(st.AwayFrom, now)
}

// pausingWords says when a pause that is asked for begins.
func pausingWords(st loop.State) string {
	if st.Phase == loop.Turning || st.Phase == loop.Trying {
		return "pausing after this turn"
	}
	return "pausing before the next turn"
}

// endedWords say what was done, and how it ended.
func endedWords(st loop.State) string {
	words := fmt.Sprintf("ended %s after %s", st.Outcome, count(st.Iteration, "iteration"))
	if st.Outcome == loop.Iterations {
		words = fmt.Sprintf("ended %s: its limit of %s", st.Outcome, count(st.Iteration, "iteration"))
	}
	if p := st.Progress(); p != "" {
		return p + " · " + words
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
	to, asked := s.memory.State.Asked(loop.HandOver)
	return s.memory.State.Phase == loop.HandingOver && asked && to.Owner == loop.OwnerSession && proc.Alive(s.holder.PID)
}

func lastOwner(s *subject) string {
	if s.holder.PID == 0 {
		return "it never began"
	}
	return fmt.Sprintf("process %d is gone", s.holder.PID)
}

func waitingWords(st loop.State, now time.Time) string {
	if q, asked := st.AwaitedAnswer(); asked {
		if q.Approve != "" {
			return plan.OneLine(q.Headline(), 160)
		}
		return "waiting for your answer: " + plan.OneLine(q.Text, 120)
	}
	wait, ok := st.Asked(loop.Wait)
	if !ok {
		return "waiting"
	}
	left := "any moment now"
	if d := wait.Until.Sub(now); d > 0 {
		left = "for another " + figure.Duration(d)
	}
	return fmt.Sprintf("waiting %s (%s)", left, plan.OneLine(wait.Text, 80))
}

func phaseWords(st loop.State) string {
	switch st.Phase {
	case loop.Checkpointing:
		return "making a checkpoint"
	case loop.Baseline:
		return "running the gates before the work"
	case loop.Turning:
		if st.HandOver == loop.OwnerRunner && st.Attended {
			return "the agent works; then it continues in fresh sessions"
		}
		return "the agent works"
	case loop.Looking:
		return "looking at what changed"
	case loop.Judging:
		return "running the gates"
	case loop.Committing:
		return "committing"
	case loop.Restoring:
		return "restoring"
	case loop.Trying:
		return "a session of its own tries"
	case loop.HandingOver:
		to, _ := st.Asked(loop.HandOver)
		if to.Owner == loop.OwnerSession {
			return "waiting for a session to take it: " + plan.OneLine(to.Text, 80)
		}
		return "handing over to a runner: " + plan.OneLine(to.Text, 80)
	case loop.Editing:
		return "editing the plan"
	case loop.Finishing:
		return "ending"
	case loop.New, loop.Waiting, loop.Paused, loop.Ended:
	}
	return "starting"
}

// countsTasks: a goal that is no change of the tree is not done or open.
func countsTasks(sum record.Summary) bool {
	t := sum.Tasks
	return sum.Kind == "" || sum.Kind == loop.Change || t.Done+t.Open+t.Skipped > 1 || t.Skipped > 0
}

func tasksLine(t record.TaskCount) string {
	line := fmt.Sprintf("%d done, %d open", t.Done, t.Open)
	if t.Skipped > 0 {
		line += fmt.Sprintf(", %d skipped", t.Skipped)
	}
	return line
}

func resultWords(r gate.Result) string {
	switch {
	case r.Status == gate.Pass && r.Warning != "":
		return "pass, but " + r.Warning
	case r.Status == gate.Pass:
		return "pass"
	case r.Reason != "":
		return string(r.Status) + ": " + plan.OneLine(r.Reason, 100)
	}
	return fmt.Sprintf("%s (exit %d)", r.Status, r.ExitCode)
}

// nextSteps is what a user may type now.
func nextSteps(s *subject, state string) string {
	if s.inSession() && s.adrift() {
		return fmt.Sprintf("pawl handover %s   pawl resume %[1]s   pawl stop %[1]s", s.ID)
	}
	approve := ""
	if st := s.memory.State; len(st.Unapproved()) > 0 && !slices.ContainsFunc(st.Tasks, loop.Task.OriginalsUnseen) {
		approve = "   pawl approve " + s.ID
	}
	switch state {
	case "ended":
		if t := s.summary().Tasks; t.Open+t.Skipped > 0 {
			return "pawl report " + s.ID + approve + "   " + resumeWith(s.ID, s.memory.State)
		}
		return "pawl report " + s.ID + approve
	case orphaned, "paused":
		if s.letGo() {
			return fmt.Sprintf("in Claude Code:  ! pawl start --take %s   pawl resume %[1]s", s.ID)
		}
		return "pawl resume " + s.ID + approve
	}
	return fmt.Sprintf("pawl log %s --follow"+approve+"   pawl tell %[1]s \"…\"   pawl stop %[1]s", s.ID)
}

// count is a number with its noun.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
