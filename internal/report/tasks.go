package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/narrate"
)

// group holds the tasks that ended in the same way.
type group struct {
	name    string
	meaning string // the reason that its tasks have in common
	each    bool   // each task gets a line, because the user must read it
	short   bool   // list only the ids
	why     bool   // show the reasons also for goals without changes
	tasks   []loop.Task
}

// tasks lists the tasks by result. Those that need the user come first.
func (p *page) tasks() {
	for _, g := range p.groups() {
		if p.isAnswer() && !g.why {
			continue
		}
		say := p.under(fmt.Sprintf("%d %s", len(g.tasks), g.name))
		if !g.each && (g.short || len(g.tasks) > maxTitles) {
			say("%s  %s", taskIDs(g.tasks), g.meaning)
			continue
		}
		for _, t := range g.tasks {
			words := p.taskLine(t, g.meaning)
			if !g.each {
				words = narrate.Name(t) + "  " + flippedTests(t, g.meaning)
			}
			say("%s", words)
		}
	}
}

// acceptCommand says how to accept work without proof that the user has read.
func (p *page) acceptCommand() {
	weak := slices.DeleteFunc(p.State.UnprovenTasks(), func(id string) bool {
		t, _ := p.State.Task(id)
		return t.IfApproved != nil
	})
	if p.State.Phase == loop.Ended && len(weak) > 0 && !p.isAnswer() {
		p.line("accept", "after reading it:  pawl approve %s --task %s", p.ID, strings.Join(weak[:min(len(weak), 5)], " --task "))
	}
}

// isAnswer reports whether the goal is not a change of the work tree. Its result is the agent's text,
// and its task is neither done nor open.
func (p *page) isAnswer() bool {
	kind, tasks := p.State.Policy.Kind, p.State.Tasks
	return kind != "" && kind != loop.Change && len(tasks) == 1 && tasks[0].ID == loop.GoalTask
}

// maxTitles is the maximum number of tasks listed with titles in a group that needs no user.
const maxTitles = 12

// flippedTests returns the tests that a task made pass, or what else proves it, or else its
// group's meaning.
func flippedTests(t loop.Task, meaning string) string {
	switch {
	case len(t.Flipped) > 0 && !t.DoneEarlier:
		return "failed before, passes now: " + joinNames(t.Flipped, 5)
	case t.Evidence == gate.Proven && t.Why != "" && !t.DoneEarlier && !t.Accepted:
		return plan.OneLine(t.Why, 400)
	}
	return meaning
}

func (p *page) taskLine(t loop.Task, meaning string) string {
	words := narrate.Name(t)
	if why := p.taskReason(t, meaning); why != "" {
		words += "  " + why
	}
	words += p.showCommand(t)
	if t.Restorable() {
		words += fmt.Sprintf("  → pawl restore %s --task %s", p.ID, plan.OneLine(t.ID, 40))
	}
	return words
}

// taskReason returns the reason of one task, or else its group's meaning.
func (p *page) taskReason(t loop.Task, meaning string) string {
	if t.LeftOut {
		return meaning
	}
	if t.Accepted {
		return narrate.Evidence(t)
	}
	if (t.Status == loop.Skipped || t.Status == loop.Blocked) && (len(p.State.Tasks) > 1 || !p.isReasonShown(t.Why)) {
		return meaning + ": " + plan.OneLine(t.Why, 160)
	}
	if t.Status == loop.Open && t.Why != "" {
		return "open again: " + plan.OneLine(t.Why, 400)
	}
	if t.Status == loop.Open && t.ID == p.State.Current && p.wasTried(t) {
		return p.notDone(meaning)
	}
	if needed := p.unfinishedDependencies(t); t.Status == loop.Open && len(needed) > 0 {
		return "not started: it needs " + joinNames(needed, 5)
	}
	if t.Status == loop.Done && t.Evidence == gate.EvidenceUnknown && t.Why != "" && !p.isReasonShown(t.Why) {
		return meaning + ": " + plan.OneLine(t.Why, 400)
	}
	if t.Status == loop.Done && t.Evidence == gate.Unproven {
		return p.unproven(t)
	}
	return meaning
}

// notDone says why the current or last task was not accepted.
func (p *page) notDone(meaning string) string {
	f := p.State.Failing
	switch o := p.State.Outcome; {
	case f != nil && f.Reason != "":
		why := f.Reason
		if f.FirstError != "" && !strings.Contains(why, f.FirstError) {
			why += " (" + f.FirstError + ")"
		}
		return meaning + ": " + plan.OneLine(why, 300)
	case f == nil && p.State.Trouble.ExternalCause != "":
		return meaning + ": " + plan.OneLine(p.State.Trouble.ExternalCause, 300)
	case f == nil && (o == loop.Iterations || o == loop.Duration || o == loop.Budget):
		return meaning + ": the agent did not claim it"
	}
	return meaning
}

// unproven says of work without proof which of its functions no test checks, or what was found.
func (p *page) unproven(t loop.Task) string {
	untested, tried := p.Untested[t.ID]
	switch {
	case !tried && t.Why != "" && len(t.StillRed) == 0:
		return "please review: " + plan.OneLine(t.Why, 300)
	case !tried:
		return loop.UnprovenSummary(t) + ": please review"
	case len(untested) == 0:
		return "no new test proves it; tests check each function that it changed"
	}
	return "no test checks " + joinNames(untested, 8) + ": please review"
}

// showCommand returns the command that shows a task's commit.
func (p *page) showCommand(t loop.Task) string {
	if t.Commit == "" {
		return ""
	}
	return "  → git show " + shortCommit(t.Commit)
}

func (p *page) groups() []group {
	all := []group{
		{name: "skipped", meaning: "failed after all attempts", each: true, why: true},
		{name: "blocked", meaning: "the agent says that it is blocked", each: true, why: true},
		{name: "unchanged", meaning: "claimed done, but changed no files", each: true},
		{name: narrate.ToApprove, meaning: "waits for your approval", each: true},
		{name: "unknown", meaning: "no gate could decide: please review", each: true},
		{name: "unproven", each: true},
		{name: "reviewed", meaning: "an independent review passed"},
		{name: "proven", meaning: "a test failed before and passes now"},
		{name: "started", meaning: "not done", each: true},
		{name: "waiting", each: true},
		{name: "open", meaning: "not started", short: true},
		{name: "earlier", meaning: "done before this loop", short: true},
		{name: "left out", meaning: "skipped by a user", short: true},
		{name: narrate.Approved, each: true},
	}
	for _, t := range p.State.Tasks {
		name := p.groupOf(t)
		i := slices.IndexFunc(all, func(g group) bool { return g.name == name })
		all[i].tasks = append(all[i].tasks, t)
	}
	var out []group
	for _, g := range all {
		if len(g.tasks) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// groupOf returns the name of a task's group in groups.
func (p *page) groupOf(t loop.Task) string {
	switch {
	case t.LeftOut:
		return "left out"
	case t.DoneEarlier:
		return "earlier"
	case t.Status == loop.Open && p.wasTried(t):
		return "started"
	case t.Status == loop.Open && len(p.unfinishedDependencies(t)) > 0:
		return "waiting"
	case t.Status == loop.Open:
		return "open"
	case t.Status == loop.Skipped:
		return "skipped"
	case t.Status == loop.Blocked:
		return "blocked"
	case t.Status == loop.Unchanged:
		return "unchanged"
	case len(t.TestsChanged) > 0 && t.Accepted:
		return narrate.Approved
	case len(t.TestsChanged) > 0:
		return narrate.ToApprove
	}
	switch t.Evidence {
	case gate.Proven:
		return "proven"
	case gate.Reviewed:
		return "reviewed"
	case gate.Unproven:
		return "unproven"
	}
	return "unknown"
}

// unfinishedDependencies returns the tasks that an open task needs and that were tried and are not
// done, or wait for such a task themselves.
func (p *page) unfinishedDependencies(t loop.Task) []string { return p.unfinishedBelow(t, nil) }

// unfinishedBelow is unfinishedDependencies of a task that these tasks need, each the one before.
func (p *page) unfinishedBelow(t loop.Task, above []string) []string {
	above = append(slices.Clone(above), t.ID)
	return slices.DeleteFunc(slices.Clone(t.DependsOn), func(id string) bool {
		needed, ok := p.State.Task(id)
		if !ok || needed.Status == loop.Done || needed.LeftOut || slices.Contains(above, id) {
			return true
		}
		return needed.Status == loop.Open && !p.wasTried(needed) && len(p.unfinishedBelow(needed, above)) == 0
	})
}

// wasTried reports whether the loop is at an open task, ended at it, or has tried it.
func (p *page) wasTried(t loop.Task) bool {
	return t.ID == p.State.Current && p.State.Iteration > 0 || t.Turns > 0 || t.Why != ""
}

// taskIDs lists tasks in one line. A single task is listed with its title.
func taskIDs(tasks []loop.Task) string {
	if len(tasks) == 1 {
		return narrate.Name(tasks[0])
	}
	out := make([]string, len(tasks))
	for i, t := range tasks {
		out[i] = plan.OneLine(t.ID, 40)
	}
	return "tasks " + joinNames(out, 20)
}

// joinNames joins words, such as the agent's file and test names. It shortens a long list.
func joinNames(words []string, most int) string {
	shown := make([]string, min(len(words), most))
	for i := range shown {
		shown[i] = plan.OneLine(words[i], 0)
	}
	text := strings.Join(shown, ", ")
	if more := len(words) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func shortCommit(commit string) string { return commit[:min(len(commit), 7)] }
