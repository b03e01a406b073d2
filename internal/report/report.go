// Package report writes the summary of a loop: how it ended, what was done and its evidence, what was
// not done and why, what it cost, and what to type next.
//
//	fmt.Print(report.Text(report.Loop{ID: "brisk-otter-7f3a", State: state, Waits: report.Waits(events)}))
//
// All of it comes from the journal. The agent's own words appear only as the reason why it cannot
// continue, and as the result of a goal without changes. What the user must read (changed tests, work
// that no gate could decide) has separate lines, with the command that shows it.
package report

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Loop holds the data of a report.
type Loop struct {
	ID                  string
	Goal                string // the plan's path, or the prompt
	Status              string // state: running, waiting, paused, ended or orphaned
	Branch              string // branch of its commits
	From                string // branch or commit that it started from, for git diff; "" = none
	BranchFate          string // what happened to Branch after the loop's end, "" if it can be merged
	State               loop.State
	Gates               []gate.Result       // their last results
	Waits               []Wait              // see Waits
	LastMessages        []LastMessage       // see LastMessages
	Iterations          []Iteration         // see Iterations
	Approvals           []Approval          // see Approvals
	MergeResult         string              // result of the merge that the agent asked for, "" if there is none
	Diffs               map[string]string   // diff of changed tests, by task
	Signs               map[string][]string // what a reviewer should read in the commit, by task
	Denied              map[string]int      // number of tool calls that the guard denied, by rule
	Sandbox             []string            // the sandbox of agent and gates, in lines
	BlockedHosts        []string            // hosts that the sandbox blocked
	Untested            map[string][]string // changed functions that no test checks, by task; tasks that were not tested are missing
	MutationResults     []string            // for each commit, the functions that its tests prove
	LeftOut             []string            // open tasks of the plan that the user left out, "ID title"
	UntoldIssues        []string            // issues that do not have the loop's end yet
	UserCommit          string              // commit of the user's changes from before the loop, "" if there were none
	PossibleUserChanges []string            // changes taken as the agent's that may be the user's
	Uncommitted         []string            // the agent's files that are in no commit, with the reason
	LeftInCheckout      []string            // changes in the user's checkout that were in no commit at the loop's end
	Unsigned            string              // number of commits that are not signed, though the user wants that, and the reason
	NotSent             string              // which notifications failed, see notify.NotSent
	UserFiles           []string            // new files of the user or a gate, in no commit
	Orphans             []string            // processes that still run after the loop's end: PID COMMAND
	Now                 time.Time           // time of the report
	Zone                *time.Location
}

// Text returns the report as plain text.
func Text(l Loop) string {
	if l.Zone == nil {
		l.Zone = time.Local
	}
	p := &page{Loop: l}
	p.headline()
	p.approved()
	p.changedTests()
	p.reviews()
	p.tasks()
	p.list("tested", "%s", 0, p.MutationResults...)
	p.signs()
	p.acceptCommand()
	p.gates()
	p.list("sandbox", "%s", 0, p.Sandbox...)
	p.interventions()
	p.list("still running", "%s", 100, p.Orphans...)
	p.merge()
	if n := len(p.LeftOut); n > 0 {
		p.line("left out", "%s of the plan: %s", figure.Count(n, "open task"), plan.OneLine(strings.Join(p.LeftOut, ", "), 300))
	}
	if len(p.UntoldIssues) > 0 {
		p.line("not told", "%s the result: the tracker could not be reached  → pawl resume %s", plan.OneLine(joinNames(p.UntoldIssues, 5), 0), p.ID)
	}
	p.list("not sent", "%s; pawl notify test tries the receivers", 300, p.NotSent)
	if c := p.UserCommit; c != "" {
		p.line("yours", "commit %s has your earlier uncommitted changes; git cherry-pick -n %[1]s takes it to another branch", shortCommit(c))
	}
	p.list("yours?", "%s", 300, p.PossibleUserChanges...)
	p.uncommittedFiles()
	p.list("not applied", "an edit of the plan, kept in %s", 0, p.State.UnappliedEditFiles...)
	p.list("not made", "your edit of the plan: %s  → "+p.State.ResumeCommand(p.ID), 0, narrate.EditsNotMade(p.State)...)
	p.list("undelivered", "your message: %s  → "+p.State.ResumeCommand(p.ID), 0, narrate.NotDelivered(p.State)...)
	lesson := p.under("lessons")
	for _, l := range p.State.Lessons {
		lesson("%s", plan.OneLine(l.String(), 300))
	}
	p.cost()
	p.list("left", "%s", 0, narrate.TimeLeft(p.State))
	p.answer()
	p.lastMessages()
	if p.BranchFate != "" {
		p.line("branch", "%s, %s", p.Branch, p.BranchFate)
	}
	if next := p.nextCommands(); next != "" {
		p.line("next", "%s", next)
	}
	return p.out.String()
}

// page is a report that is being written.
type page struct {
	Loop
	out bytes.Buffer
}

// labelWidth is the width of the left column.
const labelWidth = 13

// line writes a label and a text. Further lines have no label.
func (p *page) line(label, format string, args ...any) {
	fmt.Fprintf(&p.out, "  %-*s %s\n", labelWidth, label, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// under returns a function that prints lines below a label, which only the first of them shows.
func (p *page) under(label string) func(format string, args ...any) {
	return func(format string, args ...any) {
		p.line(label, format, args...)
		label = ""
	}
}

// list prints texts below a label, each in the format and as one line of at most most characters
// (0: unlimited). It omits empty texts.
func (p *page) list(label, format string, most int, texts ...string) {
	say := p.under(label)
	for _, text := range texts {
		if text != "" {
			say(format, plan.OneLine(text, most))
		}
	}
}

func (p *page) headline() {
	s := p.State
	p.out.WriteString(p.endHeadline())
	if waited := p.waitedText(); waited != "" {
		fmt.Fprintf(&p.out, " (%s)", waited)
	}
	p.out.WriteByte('\n')
	if p.Goal != "" {
		p.line("goal", "%s", plan.OneLine(p.Goal, 100))
	}
	if progress := s.Progress(); progress != "" && s.Phase != loop.Ended {
		p.line("so far", "%s", progress)
	}
	for _, q := range s.Unanswered() {
		if s.Outcome != "" {
			break
		}
		p.line("asks", "%s  → %s", plan.OneLine(q.Named(), 0), q.Command(p.ID))
	}
	if s.Reason != "" {
		p.line("why", "%s", plan.OneLine(s.Reason, 0))
	}
	if s.Hint != "" {
		p.line("hint", "%s", plan.OneLine(s.Hint, 0))
	}
}

// endHeadline says how the loop ended, or its state.
func (p *page) endHeadline() string {
	s := p.State
	if s.Phase == loop.Ended {
		return s.Headline(p.ID) + " after " + figure.Duration(s.Took())
	}
	if s.StartedAt.IsZero() {
		return p.ID + " has NOT STARTED"
	}
	if p.Status == "orphaned" {
		return fmt.Sprintf("%s has NOT ENDED: its process is gone; last record after %s", p.ID, figure.Duration(s.Age(s.Now)))
	}
	return fmt.Sprintf("%s has NOT ENDED: it is %s, for %s", p.ID, p.Status, figure.Duration(s.Age(p.Now)))
}

func (p *page) gates() {
	say := p.under("gates")
	for _, g := range p.Gates {
		words := narrate.GateStatus(g)
		if len(g.Failing) > 0 {
			words += ": " + joinNames(g.Failing, 4)
		}
		if g.Status != gate.Pass && !p.isReasonShown(g.Reason) {
			words += ": " + plan.OneLine(g.Reason, 120)
		}
		if g.Warning != "" {
			words += ", but " + plan.OneLine(g.Warning, 200)
		}
		say("%s  %s", plan.OneLine(g.Gate, 60), words)
	}
}

// isReasonShown reports whether the reason is empty or is already in the report.
func (p *page) isReasonShown(why string) bool { return strings.Contains(p.State.Reason, why) }

// interventions prints what Pawl refused, undid, denied or blocked.
func (p *page) interventions() {
	s := p.State
	var parts []string
	if s.Refusals > 0 {
		parts = append(parts, figure.Count(s.Refusals, "claim")+" refused")
	}
	if s.Restores > 0 {
		parts = append(parts, fmt.Sprintf("undone %s (get a task's work back: pawl restore %s --task ID)", figure.Count(s.Restores, "time"), p.ID))
	}
	if s.Violations > 0 {
		parts = append(parts, figure.Count(s.Violations, "violation")+" (changed protected files)")
	}
	if n := p.denied(); n > 0 {
		parts = append(parts, fmt.Sprintf("%s denied by the guard (%s)", figure.Count(n, "tool call"), strings.Join(slices.Sorted(maps.Keys(p.Denied)), ", ")))
	}
	if n := len(p.BlockedHosts); n > 0 {
		hosts, more := p.BlockedHosts[:min(n, 5)], ""
		if n > 5 {
			more = ", …"
		}
		parts = append(parts, fmt.Sprintf("%s blocked by the sandbox (%s%s)", figure.Count(n, "host"), strings.Join(hosts, ", "), more))
	}
	if len(parts) > 0 {
		p.line("caught", "%s", strings.Join(parts, " · "))
	}
}

// merge prints the agent's request to merge, in its own words.
func (p *page) merge() {
	if m := p.State.Merge; m != nil {
		p.line("asks", "to be merged: %s", plan.OneLine(m.Summary, 200))
		if p.MergeResult != "" {
			p.line("", "%s", plan.OneLine(p.MergeResult, 300))
		}
	}
}

func (p *page) denied() (n int) {
	for _, calls := range p.Denied {
		n += calls
	}
	return n
}

// cost prints the money, the tokens and the time. The client of a user's session does not report the
// first two; Pawl's own runs beside it count.
func (p *page) cost() {
	s := p.State
	iterations, work := figure.Count(s.Iteration, "iteration"), figure.Duration(s.Elapsed())+" of work"
	if s.Tested > 0 {
		work += ", then " + figure.Duration(s.Tested) + " of mutation testing"
	}
	if s.InSession && s.CostUnknown() {
		p.line("took", "%s, %s", iterations, work)
		return
	}
	if s.CostUnknown() {
		p.line("cost", "unknown, %s, %s", iterations, work)
		return
	}
	money := figure.Money(s.Usage.CostUSD)
	if n := s.Reviews.Runs; n > 0 {
		money += fmt.Sprintf(" (%s for %s)", figure.Money(s.Reviews.CostUSD), figure.Count(n, "review"))
	}
	p.line("cost", "%s, %s, %s tokens, %s", money, iterations, figure.Tokens(s.Usage.Tokens()), work)
}

// claimTag matches the tag by which the agent claims its answer.
var claimTag = regex.New(`(?is)<promise\b[^>]*>.*?</promise>`)

func (p *page) answer() {
	if p.State.Answer == "" {
		return
	}
	p.out.WriteString("\n")
	for line := range strings.Lines(strings.TrimSpace(claimTag.ReplaceAllString(p.State.Answer, ""))) {
		text := strings.TrimLeftFunc(line, unicode.IsSpace)
		indent := strings.ReplaceAll(strings.TrimRight(line[:len(line)-len(text)], "\r\n"), "\t", "    ")
		fmt.Fprintf(&p.out, "%s%s\n", indent, plan.OneLine(text, 0)) // without terminal control characters
	}
	p.out.WriteString("\n")
}

// nextCommands returns the commands to type next.
func (p *page) nextCommands() string {
	var next []string
	committed := false
	for _, t := range p.State.Tasks {
		committed = committed || t.Commit != ""
	}
	if committed && p.Branch != "" && p.From != "" && p.From != p.Branch && p.BranchFate == "" {
		next = append(next, fmt.Sprintf("git diff %s...%s", p.From, p.Branch))
	}
	if t, ok := p.leastProven(); ok {
		next = append(next, "pawl audit "+shortCommit(t.Commit))
	}
	switch {
	case p.State.Phase != loop.Ended:
		next = append(next, "pawl status "+p.ID)
		if p.Status == "orphaned" || p.Status == "paused" {
			next = append(next, "pawl resume "+p.ID)
		}
	case p.State.Outcome != loop.Verified && p.State.Outcome != loop.Finished:
		next = append(next, "pawl log "+p.ID)
		if p.State.StartedAt.IsZero() || slices.ContainsFunc(p.State.Tasks, func(t loop.Task) bool { return t.Status != loop.Done }) {
			next = append(next, p.State.ResumeCommand(p.ID))
		}
	}
	return strings.Join(next, "     ")
}

// leastProven returns the task whose commit to audit first: the one with the least evidence.
func (p *page) leastProven() (loop.Task, bool) {
	var worst loop.Task
	for _, t := range p.State.Tasks {
		if t.Commit != "" && t.Receipt != "" && !t.DoneEarlier && (worst.Commit == "" || !t.Evidence.Satisfies(worst.Evidence)) {
			worst = t
		}
	}
	return worst, worst.Commit != ""
}

// uncommittedFiles lists files that are in no commit: the agent's, and new ones of others.
func (p *page) uncommittedFiles() {
	p.list("uncommitted", "%s: the branch lacks it", 300, p.Uncommitted...)
	if n := len(p.LeftInCheckout); n > 0 && p.State.Phase == loop.Ended {
		p.line("uncommitted", "%s: no commit has it; look for it in your checkout", plan.Few(p.LeftInCheckout, 5))
	}
	if p.Unsigned != "" {
		p.line("unsigned", "%s", p.Unsigned)
	}
	if len(p.UserFiles) > 0 {
		p.line("left alone", "%s (not the agent's, not in the loop's commits)", plan.OneLine(strings.Join(p.UserFiles, ", "), 300))
	}
}
