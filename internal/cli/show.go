package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/verify"
)

// show prints what the runner reports. It decides nothing, and remembers only what was shown.
type show struct {
	out        term.Printer
	spec       record.Spec
	id         string
	stateDir   string     // folder of Pawl's state
	state      loop.State // the state after the last step
	usage      loop.Usage
	context    int // context usage of the current turn, in percent
	tasksBegun int // number of tasks begun in this run

	userCommit          string   // the commit of the user's changes from before the loop
	uncommitted         []string // the agent's files that are in no commit
	unsigned            memory.Unsigned
	excludedFiles       []string       // new files of others
	possibleUserChanges []string       // changes taken as the agent's that may be the user's
	iterations          map[string]int // number of iterations by task
}

// Stepped shows a step of the loop.
func (s *show) Stepped(now loop.State, e loop.Event, acts []loop.Action) {
	before := s.state
	s.state = now
	s.countIterations(before, now)
	switch p := e.Payload.(type) {
	case loop.TurnEnded:
		s.usage = loop.Usage{} // the state includes it now
	case loop.TreeInspected:
		s.showInspection(now, p.Inspection)
	case loop.GatesFinished:
		s.showGates(before, now, p.Gates)
	case loop.AgentFailed:
		s.usage = loop.Usage{}
		if now.Phase != loop.Waiting && now.Outcome == "" && now.Phase != loop.HandingOver && now.Stop.Cause == "" && now.Stop.Limit == "" {
			s.note(term.Warn, "the turn was cut off: "+p.Failure.Message)
		}
	case loop.MessageArrived, loop.PlanEditRequested, loop.PlanEdited, loop.Answered, loop.MergeRequested, loop.Approved, loop.Rejected, loop.Resumed, loop.HandoverRequested, loop.LimitsChanged:
		s.note(term.Info, narrate.Step{Before: before, After: now, Event: e, Actions: acts}.Sentence())
	case loop.Restored:
		s.showRestored(before, p.Unchanged)
	case loop.WorkReapplied:
		t, _ := now.Task(now.Current)
		s.note(term.Info, narrate.Name(t)+": its unfinished work is back in the tree")
	case loop.PauseRequested:
		if now.Phase != loop.Paused {
			s.note(term.Info, narrate.Pausing(now)+"; continue with  pawl resume")
		}
	case loop.TimerFired:
		s.showWaitOver(before, now)
	case loop.Cancelled:
		if before.Stop.Cause == "" { // else a message of the inbox says it again
			s.note(term.Info, narrate.Stopping(now)+"; the work is kept")
		}
	}
	if q, asked := now.NewQuestion(before); asked {
		s.note(term.Warn, fmt.Sprintf("%s   %s", plan.OneLine(q.Headline(), 300), q.Command(s.id)))
	}
	s.showEndedTasks(before, now)
	if now.Phase == loop.Paused && before.Phase != loop.Paused {
		s.note(term.Info, "paused; continue with  pawl resume "+s.id)
		s.showActivity("paused")
	}
	for _, a := range acts {
		s.showAction(now, a)
	}
}

// showAction shows what begins now.
func (s *show) showAction(now loop.State, a loop.Action) {
	switch a := a.Payload.(type) {
	case loop.Checkpoint:
		if now.After == loop.ThenBaseline {
			s.tasksBegun++
			t, _ := now.Task(a.Task)
			nth, of := now.TaskPosition(t.ID)
			s.out.Print(term.TaskStarted{ID: narrate.ID(t), Title: t.Title, Index: nth, Total: of})
		}
	case loop.BeginTurn:
		s.usage, s.context = loop.Usage{}, -1
		s.showActivity("thinking")
	case loop.RunGates:
		s.showActivity(cmp.Or(map[loop.Purpose]string{
			loop.ForBaseline: "running the gates before the work", loop.ForFinal: "running the gates on the final tree",
		}[a.Purpose], "running the gates"))
	case loop.Wait:
		s.out.Print(term.Waiting{Until: a.Until, Reason: a.Why})
	}
}

// showWaitOver says that a wait for a usage limit or an answer is over, which does not count for limits.
func (s *show) showWaitOver(before, now loop.State) {
	if before.Phase != loop.Waiting || before.AwayFrom.IsZero() {
		return
	}
	what := "the usage limit is over"
	if _, asked := before.AwaitedAnswer(); asked {
		what = "the time for an answer is over"
	}
	s.note(term.Info, what+": waited "+figure.Duration(now.Now.Sub(before.AwayFrom))+" (not counted)")
}

// showRestored says that the work on a task was undone, and how to get it back.
func (s *show) showRestored(before loop.State, unchanged bool) {
	t, _ := before.Task(before.Current)
	back := fmt.Sprintf("undone (get it back: pawl restore %s --task %s)", s.id, t.ID)
	switch {
	case before.PutsOthersAway():
		s.note(term.Info, "the restored work of other tasks is put away until they start")
	case before.SavesWork():
		s.note(term.Info, narrate.Name(t)+": waits for your answer; its unfinished work is saved until then")
	case unchanged && before.After == loop.ThenNext:
		s.note(term.Info, narrate.Name(t)+": skipped; it left no unfinished work")
	case unchanged:
		s.note(term.Info, narrate.Name(t)+": one more attempt in a fresh session; no work to undo")
	case before.After == loop.ThenNext:
		s.note(term.Info, narrate.Name(t)+": skipped; its unfinished work was "+back)
	default:
		s.note(term.Info, narrate.Name(t)+": its work was "+back+", for one more attempt in a fresh session")
	}
}

// countIterations counts the iterations of each task, which may have begun in an earlier run. A turn that
// crashed begins again as the same iteration.
func (s *show) countIterations(before, now loop.State) {
	if s.iterations == nil {
		s.iterations = map[string]int{}
		for _, t := range now.Tasks {
			s.iterations[t.ID] = t.Turns
		}
		if now.Phase == loop.Turning { // the loop was resumed during a turn
			s.iterations[now.Current]++
		}
		return
	}
	s.iterations[now.Current] += now.Iteration - before.Iteration
}

func (s *show) showInspection(now loop.State, found loop.Inspection) {
	if len(found.Tampered) > 0 {
		s.note(term.Warn, narrate.Violation(now.Violations, found.Tampered))
	} else if len(found.RejectedTests) > 0 {
		s.note(term.Warn, "the agent changed "+strings.Join(found.RejectedTests, ", ")+", which you rejected; Pawl restored it")
	} else if now.Next.Situation == loop.ClaimRefused && now.Phase == loop.Turning {
		s.showRefused(now.Failing.Reason)
	}
}

func (s *show) showGates(before, now loop.State, g loop.Gates) {
	switch {
	case g.Purpose == loop.ForBaseline:
		s.showBaseline(g)
	case g.Purpose == loop.ForClaim && now.Policy.Verify:
		s.note(term.Info, "gates after the turn: "+narrate.VerifyGates(g))
	case now.Violations > before.Violations:
		s.note(term.Warn, narrate.Violation(now.Violations, g.Tampered))
	case now.Refusals > before.Refusals:
		s.showRefused(narrate.Refusal(now, g))
	}
}

// showBaseline shows the gates' results before the work, for the first task only.
func (s *show) showBaseline(g loop.Gates) {
	if s.tasksBegun > 1 || g.Status == gate.Unknown {
		return
	}
	for _, r := range g.Results {
		text := "baseline: " + r.Gate + " passes" + narrate.TestCounts(r)
		if r.Status != gate.Pass {
			text = "baseline: " + r.Gate + " fails before the work" + narrate.TestCounts(r) + strings.TrimSuffix(" ("+plan.Few(r.Failing, 4)+")", " ()")
			if r.Reason != "" && (r.TimedOut || len(r.Failing) == 0) {
				text += ": " + r.Reason
			}
		}
		s.note(term.Info, text)
	}
}

func (s *show) showRefused(reason string) {
	t, _ := s.state.Task(s.state.Current)
	s.out.Print(term.ClaimRefused{ID: narrate.ID(t), Title: t.Title, Reason: plan.OneLine(reason, 200)})
}

// showEndedTasks shows each task that ended in this step.
func (s *show) showEndedTasks(before, now loop.State) {
	if before.Phase == "" {
		return
	}
	more := 0 // tasks that ended earlier in this step
	for _, t := range now.ChangedTasks(before) {
		if t.Status == loop.Open {
			continue
		}
		nth, of := before.TaskPosition(t.ID)
		s.out.Print(term.TaskEnded{
			ID: narrate.ID(t), Title: t.Title, Index: nth + more, Total: of, Result: narrate.Result(t), Review: t.Unproven(), Iterations: s.iterations[t.ID],
			Duration: term.Span(t.Took), Evidence: narrate.Evidence(t), Commit: t.Commit[:min(7, len(t.Commit))],
		})
		more++
	}
}

// Agent shows an event of the current turn.
func (s *show) Agent(e agent.Event) {
	switch e.Kind {
	case agent.KindTool:
		s.showActivity(e.Detail)
	case agent.KindUsage:
		s.usage = e.Usage
	case agent.KindContext:
		s.context = e.ContextPercent
	case agent.KindDenied:
		_, why, _ := strings.Cut(e.Text, ": ") // the reason follows the call
		s.note(term.Info, "denied: "+cmp.Or(e.Detail, e.Tool)+": "+cmp.Or(why, e.Text))
	case agent.KindRetry:
		s.showActivity("the client retries: " + e.Text)
	}
}

func (s *show) showActivity(doing string) {
	if doing == "" {
		doing = "working"
	}
	iteration := s.state.Iteration
	if s.state.Phase == loop.Baseline || iteration == 0 { // the turn starts next
		iteration++
	}
	u := s.state.Usage
	tokens := u.Tokens() + s.usage.Input + s.usage.Output + s.usage.CacheRead + s.usage.CacheWrite
	s.out.Print(term.TurnActivity{
		Iteration: iteration, MaxIterations: s.state.Policy.Limits.Iterations, Doing: plan.OneLine(doing, 120),
		ContextPercent: s.context, Tokens: tokens, CostUSD: u.CostUSD + s.usage.CostUSD,
	})
}

// Gate shows that a gate begins, or its result if it checks the agent's work.
func (s *show) Gate(p verify.Progress) {
	switch {
	case p.Result == nil:
		s.showActivity("gate " + p.Gate + narrate.Probe(p.Probe))
	case s.state.Phase == loop.Judging && p.Probe == "" && !p.Result.Cached:
		r := p.Result
		s.out.Print(term.GateFinished{
			Gate: r.Gate, Result: string(r.Status), Duration: term.Span(r.Duration), Cached: r.Cached, Clean: p.Clean, Summary: plan.OneLine(r.Reason, 160),
		})
	}
}

// Note shows a note.
func (s *show) Note(n memory.Note) {
	s.excludedFiles = append(s.excludedFiles, n.ExcludedFiles()...)
	s.uncommitted = n.UncommittedAfter(s.uncommitted)
	s.unsigned = s.unsigned.With(n)
	if n.PossibleUserChange != "" && !slices.Contains(s.possibleUserChanges, n.PossibleUserChange) {
		s.possibleUserChanges = append(s.possibleUserChanges, n.PossibleUserChange)
	}
	level := term.Info
	if n.Level != loop.Info {
		level = term.Warn
	}
	s.note(level, n.Text)
}

func (s *show) note(level term.Level, text string) {
	s.out.Print(term.Note{Level: level, Text: plan.OneLine(text, 300)})
}

// showEnd shows the summary of a loop that ended.
func (s *show) showEnd(now loop.State) {
	sum := record.Summarize(s.spec, memory.Memory{State: now})
	end := term.LoopEnded{
		Loop: s.id, Progress: now.Progress(), Outcome: string(now.Outcome), ExitCode: now.Outcome.ExitCode(now.Stop.Cause), Reason: now.Reason,
		Duration: term.Span(now.Took()), Tested: term.Span(now.Tested), Waited: term.Span(now.TimeAway(now.EndedAt)), Iterations: now.Iteration,
		Tasks: tallies(now), Commits: sum.Commits, Branch: commitBranch(s.spec.Repository), Tokens: now.Usage.Tokens(), CostUSD: now.Usage.CostUSD, CostUnknown: now.CostUnknown(),
		LeftOut: s.spec.LeftOut, LeftAlone: s.excludedFiles, Uncommitted: s.uncommitted, Unsigned: loopinfo.UnsignedText(s.unsigned), UserCommit: s.userCommit, PossibleUserChanges: s.possibleUserChanges, UnappliedEdits: now.UnappliedEditFiles,
		EditsNotMade: narrate.EditsNotMade(now), NotDelivered: narrate.NotDelivered(now), Look: []string{"pawl report " + s.id}, Next: s.nextSteps(now, sum.Commits),
	}
	if now.Hint != "" {
		end.Next = append([]string{now.Hint}, end.Next...)
	}
	s.out.Print(end)
}

// tallies returns the tasks grouped by result.
func tallies(s loop.State) []term.Tally {
	var out []term.Tally
	notes := map[string]string{
		"proven":   "a test failed before and passes now",
		"reviewed": "an independent review passed, but no test failed before and passes now",
		"unknown":  "nothing could tell",

		narrate.ToApprove: "waits for your approval",
	}
	for _, t := range s.Tasks {
		word := narrate.Result(t)
		judged := s.Policy.Kind == "" || s.Policy.Kind == loop.Change || t.Status == loop.Blocked || t.ID != loop.GoalTask
		if t.DoneEarlier || !judged {
			continue
		}
		i := slices.IndexFunc(out, func(x term.Tally) bool { return x.Result == word })
		if i < 0 {
			i, out = len(out), append(out, term.Tally{Result: word})
		}
		out[i].Note, out[i].Tasks = notes[word], append(out[i].Tasks, cmp.Or(narrate.ID(t), narrate.Name(t)))
		out[i].Each = append(out[i].Each, tallyLine(t, word, notes[word]))
	}
	for i, tally := range out {
		if tally.Result == string(gate.Proven) && len(tally.Tasks) > maxDescribedTasks {
			out[i].Each = nil // the user need not read them
		} else if more := len(tally.Each) - maxListedTasks; more > 1 {
			out[i].Each = slices.Concat(tally.Each[:maxListedTasks], []string{fmt.Sprintf("and %d more", more)})
		}
	}
	return out
}

// maxDescribedTasks is the maximum number of proven tasks that a summary describes.
const maxDescribedTasks = 10

// maxListedTasks is the maximum number of other tasks with the same result that a summary lists.
const maxListedTasks = 20

// tallyLine returns the line of a task that ended, with a reason if the user must look at it.
func tallyLine(t loop.Task, word, note string) string {
	why := note
	switch {
	case t.Status == loop.Done && (t.Evidence == gate.Unproven || t.Accepted || len(t.Flipped) > 0):
		why = narrate.Evidence(t)
	case t.Status == loop.Done && (word == "unknown" || word == narrate.ToApprove), t.Status == loop.Skipped, t.Status == loop.Blocked:
		why = cmp.Or(plan.OneLine(t.Why, 160), note)
	}
	return strings.TrimSuffix(narrate.Name(t)+": "+why, ": ")
}

var _ runner.Observer = (*show)(nil)
