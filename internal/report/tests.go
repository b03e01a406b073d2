package report

import (
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
)

const (
	maxListedApprovals = 6
	maxListedChanges   = 12 // maximum number of changed tests of a task
	maxShownDiffLines  = 24 // maximum number of lines of their diff
)

// Approval is a user's approval of changed tests or of work. It shows that pawl approve was run, but
// not by whom: an agent of the same user can run it too.
type Approval struct {
	At    time.Time
	Paths []string // empty = all tests
	Tasks []string // tasks whose work is accepted; then Paths is empty
}

// Approvals returns the approvals in a loop's events, in order.
func Approvals(events iter.Seq[loop.Event]) []Approval {
	var approvals []Approval
	for e := range events {
		if a, approved := e.Payload.(loop.Approved); approved {
			approvals = append(approvals, Approval{At: e.At, Paths: a.Paths, Tasks: a.Tasks})
		}
	}
	return approvals
}

// approved lists the approvals that still apply, with their times.
func (p *page) approved() {
	approvals := p.Approvals
	if n := len(approvals) - maxListedApprovals; n > 0 {
		p.line("approved", "%s before these: pawl log %s", figure.Count(n, "approval"), p.ID)
		approvals = approvals[n:]
	}
	for _, g := range approvals {
		what := joinNames(g.Paths, 5)
		if len(g.Tasks) > 0 {
			what = "the work of " + joinNames(g.Tasks, 5)
		} else if len(g.Paths) == 0 || slices.Contains(g.Paths, loop.AllTests) {
			what = "any test"
		} else if !slices.ContainsFunc(g.Paths, func(path string) bool { return slices.Contains(p.State.Approved, path) }) {
			continue // rejected since
		}
		p.line("approved", "by pawl approve at %s, by whoever ran it: %s", g.At.In(p.Zone).Format("2006-01-02 15:04:05"), what)
	}
}

// changedTests lists changes of existing tests and other gate inputs. They come first, because the
// user must decide about them.
func (p *page) changedTests() {
	label := "tests changed"
	if slices.ContainsFunc(p.State.Tasks, func(t loop.Task) bool { return !t.DoneEarlier && changedInputs(t) }) {
		label = "gate inputs"
	}
	say := p.under(label)
	for _, t := range p.State.Tasks {
		if t.DoneEarlier || len(t.TestsChanged) == 0 && !slices.ContainsFunc(t.ChangedTests, isOfOldTest) {
			continue
		}
		say("%s %s%s", narrate.Name(t), p.inputsVerdict(t), p.showCommand(t))
		for i, c := range t.ChangedTests {
			if i == maxListedChanges {
				say("and %d more", len(t.ChangedTests)-i)
				break
			}
			say("%s", plan.OneLine(c.String(), 160))
		}
		lines := changedLines(p.Diffs[t.ID])
		for _, line := range lines[:min(len(lines), maxShownDiffLines)] {
			say("| %s", line)
		}
		if more := len(lines) - maxShownDiffLines; more > 0 {
			say("| and %d more lines", more)
		}
	}
	for _, a := range p.State.TestRequests {
		say("the agent asks to change %s%s  → pawl approve %s", joinNames(a.Paths, 5), reason(a.Why), p.ID)
	}
}

// isOfOldTest reports whether an existing test or another gate input was changed.
func isOfOldTest(c loop.TestChange) bool { return c.Input || c.Kind != loop.FileAdded }

// changedInputs reports whether a task changed gate inputs that are not tests.
func changedInputs(t loop.Task) bool {
	return slices.ContainsFunc(t.ChangedTests, func(c loop.TestChange) bool { return c.Input })
}

func reason(why string) string {
	if why == "" {
		return ""
	}
	return ": " + plan.OneLine(why, 160)
}

// inputsVerdict says how the work is rated with and without the changes.
func (p *page) inputsVerdict(t loop.Task) string {
	approved := !slices.ContainsFunc(t.ChangedTests, func(c loop.TestChange) bool { return !p.State.MayChange(c.Path) })
	what := "existing tests"
	if changedInputs(t) {
		what = "gate inputs"
	}
	switch {
	case len(t.TestsChanged) > 0:
		return plan.OneLine(narrate.PassesOnlyWith(t), 400) + "; if that is right:  " + p.approveCommand(t)
	case len(t.Approved) > 0:
		return "changed " + what + ", which a review accepts: " + joinNames(t.Approved, 5)
	case t.OriginalsNotRun() && t.IfApproved.Evidence == gate.EvidenceUnknown:
		return "changed " + what + ", and it is unknown whether the originals pass"
	case t.IfApproved != nil:
		return "changed " + what + ", and it is unknown whether the originals pass" + reason(t.Why) + "; if the changes are right:  " + p.approveCommand(t)
	case !slices.ContainsFunc(t.ChangedTests, func(c loop.TestChange) bool { return !c.Asked && isOfOldTest(c) }):
		return "changed " + what + " as the task asks"
	case approved:
		return "changed " + what + ", which were approved"
	}
	return "changed " + what + "; the originals pass too, or the change was allowed"
}

// changedLines returns the removed and added lines of a diff, with the names of their files.
func changedLines(diff string) []string {
	var lines []string
	for _, l := range DiffLines(diff, math.MaxInt) {
		switch {
		case l.Kind == "add", l.Kind == "del":
			lines = append(lines, l.Text)
		case l.Kind == "file" && strings.HasPrefix(l.Text, "+++ /dev/null"):
			lines = append(lines, "--- "+plan.OneLine(l.File, 0))
		case l.Kind == "file" && strings.HasPrefix(l.Text, "+++ "):
			lines = append(lines, "+++ "+plan.OneLine(l.File, 0))
		}
	}
	return lines
}

// maxListedSigns is the maximum number of signs listed for a task; the commit shows all.
const maxListedSigns = 8

// signs lists what a reviewer should read first in the commits.
func (p *page) signs() {
	say := p.under("look at")
	for _, t := range p.State.Tasks {
		signs := p.Signs[t.ID]
		for _, s := range signs[:min(len(signs), maxListedSigns)] {
			say("%s", plan.OneLine(s, 160))
		}
		if more := len(signs) - maxListedSigns; more > 0 {
			p.line("", "and %d more in %s  → git show %.7s", more, narrate.Name(t), t.Commit)
		}
	}
}

// reviews lists the work that no review passed, with the findings of the last review: the user must
// decide between reviewer and agent.
func (p *page) reviews() {
	say := p.under("review")
	for _, t := range p.State.Tasks {
		switch {
		case t.DoneEarlier || t.Status != loop.Done:
			continue
		case t.Reviewed == loop.ReviewDisagreed:
			say("disagrees with %s, which is kept%s", narrate.Name(t), p.showCommand(t))
		case t.Reviewed == loop.ReviewNone:
			why := ""
			if _, said, ok := strings.Cut(t.Why, ": "); ok && !p.isReasonShown(t.Why) { // after the words that no review passed it
				why = ": " + plan.OneLine(said, 160)
			}
			say("none passed %s%s%s", narrate.Name(t), why, p.showCommand(t))
		}
		if t.Reviewed != loop.ReviewPassed {
			for _, f := range t.Findings {
				say("  %s", plan.OneLine(f, 200))
			}
		}
	}
	at, _ := p.State.Task(p.State.Current)
	if f := p.State.Failing; f != nil && f.Review && at.Status == loop.Open && p.State.Phase == loop.Ended {
		say("failed the last claim: %s", plan.OneLine(f.Reason, 200))
	}
}

// approveCommand returns the command that approves only the changes of this task.
func (p *page) approveCommand(t loop.Task) string {
	command := "pawl approve " + p.ID
	waiting := p.State.Unapproved()
	if t.IfApproved == nil {
		return command
	}
	isOfTask := func(path string) bool { return slices.Contains(t.IfApproved.Paths, path) }
	own := slices.DeleteFunc(slices.Clone(waiting), func(path string) bool { return !isOfTask(path) })
	if len(own) == len(waiting) {
		return command
	}
	return command + " " + shell.QuoteCommand(own)
}
