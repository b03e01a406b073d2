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

// group is the tasks that ended in one way.
type group struct {
	name    string
	meaning string // of tasks that have it in common
	each    bool   // every task needs a line: a user must look at it
	short   bool   // ids are enough
	why     bool   // each says why it could not be done, whatever the goal
	tasks   []loop.Task
}

// tasks lists them by how they ended: what needs the user leads.
func (p *page) tasks() {
	for _, g := range p.groups() {
		if p.isAnswer() && !g.why {
			continue
		}
		label := fmt.Sprintf("%d %s", len(g.tasks), g.name)
		if !g.each && (g.short || len(g.tasks) > mostTitles) {
			p.line(label, "%s  %s", ids(g.tasks), g.meaning)
			continue
		}
		for _, t := range g.tasks {
			words := p.taskLine(t, g.meaning)
			if !g.each {
				words = name(t) + "  " + green(t, g.meaning)
			}
			p.line(label, "%s", words)
			label = ""
		}
	}
}

// acceptable says how to accept work that is done, and that a user has read.
func (p *page) acceptable() {
	weak := slices.DeleteFunc(p.State.UnprovenTasks(), func(id string) bool {
		t, _ := p.State.Task(id)
		return t.IfApproved != nil
	})
	if p.State.Phase == loop.Ended && len(weak) > 0 && !p.isAnswer() {
		p.line("accept", "when you have read it:  pawl approve %s --task %s", p.ID, strings.Join(weak[:min(len(weak), 5)], " --task "))
	}
}

// isAnswer: the goal is not a change of the tree. What came of it is what was
// said; there is nothing that is done or not.
func (p *page) isAnswer() bool {
	kind, tasks := p.State.Policy.Kind, p.State.Tasks
	return kind != "" && kind != loop.Change && len(tasks) == 1 && tasks[0].ID == theGoal
}

// mostTitles bounds the tasks of a group that are listed with their titles where nothing is
// asked of the user.
const mostTitles = 12

// green is what turned green with a task, or what its group means.
func green(t loop.Task, meaning string) string {
	if len(t.Flipped) > 0 && !t.DoneEarlier {
		return "failed before, passes now: " + list(t.Flipped, 5)
	}
	return meaning
}

func (p *page) taskLine(t loop.Task, meaning string) string {
	words := name(t)
	if why := p.because(t, meaning); why != "" {
		words += "  " + why
	}
	return words + p.show(t) + p.bringBack(t)
}

// because is what there is to say of one task: its own reason, else the group's.
func (p *page) because(t loop.Task, meaning string) string {
	if t.LeftOut {
		return meaning
	}
	if t.Accepted {
		return narrate.Evidence(t)
	}
	if (t.Status == loop.Skipped || t.Status == loop.Blocked) && (len(p.State.Tasks) > 1 || !p.toldWhy(t.Why)) {
		return meaning + ": " + plan.OneLine(t.Why, 160)
	}
	if t.Status == loop.Open && t.Why != "" {
		return "open again: " + plan.OneLine(t.Why, 400)
	}
	if t.Status == loop.Open && t.ID == p.State.Current && p.started(t) {
		return p.notDone(meaning)
	}
	if t.Status == loop.Done && t.Evidence == gate.EvidenceUnknown && t.Why != "" && !p.toldWhy(t.Why) {
		return meaning + ": " + plan.OneLine(t.Why, 400)
	}
	if t.Status == loop.Done && t.Evidence == gate.Unproven {
		return p.unproven(t)
	}
	return meaning
}

// notDone says why the task that the loop is at, or ended at, was not accepted.
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
		return meaning + ": the agent did not say that it is done"
	}
	return meaning
}

// unproven says of work that no test proves which of its functions no test checks, or what
// was seen of it.
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
	return "no test checks " + list(untested, 8) + ": please review"
}

// show is the command that shows a task's commit.
func (p *page) show(t loop.Task) string {
	if t.Commit == "" {
		return ""
	}
	return "  → git show " + short(t.Commit)
}

// bringBack is the command that brings a task's undone work back.
func (p *page) bringBack(t loop.Task) string {
	if !t.Restorable() {
		return ""
	}
	return fmt.Sprintf("  → pawl restore %s --task %s", p.ID, plan.OneLine(t.ID, 40))
}

func (p *page) groups() []group {
	all := []group{
		{name: "skipped", meaning: "failed after all attempts", each: true, why: true},
		{name: "blocked", meaning: "the agent says that it cannot", each: true, why: true},
		{name: "unchanged", meaning: "claimed done, but changed no files", each: true},
		{name: narrate.ToApprove, meaning: "waits for your approval", each: true},
		{name: "unknown", meaning: "no gate could decide: please review", each: true},
		{name: "unproven", each: true},
		{name: "reviewed", meaning: "an independent review passed"},
		{name: "proven", meaning: "a test failed before and passes now"},
		{name: "started", meaning: "not done", each: true},
		{name: "open", meaning: "not started", short: true},
		{name: "earlier", meaning: "done before this loop", short: true},
		{name: "left out", meaning: "skipped by a user", short: true},
		{name: narrate.Approved, each: true},
	}
	for _, t := range p.State.Tasks {
		i := p.groupOf(t)
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

// groupOf is a task's place in groups.
func (p *page) groupOf(t loop.Task) int {
	switch {
	case t.LeftOut:
		return 11
	case t.DoneEarlier:
		return 10
	case t.Status == loop.Open && p.started(t):
		return 8
	case t.Status == loop.Open:
		return 9
	case t.Status == loop.Skipped:
		return 0
	case t.Status == loop.Blocked:
		return 1
	case t.Status == loop.Unchanged:
		return 2
	case len(t.TestsChanged) > 0 && t.Accepted:
		return 12
	case len(t.TestsChanged) > 0:
		return 3
	}
	switch t.Evidence {
	case gate.Proven:
		return 7
	case gate.Reviewed:
		return 6
	case gate.Unproven:
		return 5
	}
	return 4
}

// started reports whether the loop is at an open task, ended at it, or has tried it.
func (p *page) started(t loop.Task) bool {
	return t.ID == p.State.Current && p.State.Iteration > 0 || t.Turns > 0 || t.Why != ""
}

// ids names tasks in a line; one alone with its title.
func ids(tasks []loop.Task) string {
	if len(tasks) == 1 {
		return name(tasks[0])
	}
	out := make([]string, len(tasks))
	for i, t := range tasks {
		out[i] = plan.OneLine(t.ID, 40)
	}
	return "tasks " + list(out, 20)
}

// theGoal is the id of the one task that a prompt without a plan is.
const theGoal = "goal"

// name is a task's id and title; the title alone where nobody gave it an id.
func name(t loop.Task) string {
	if t.ID == theGoal && t.Title != "" {
		return plan.OneLine(t.Title, 80)
	}
	return strings.TrimSpace(plan.OneLine(t.ID, 40) + " " + plan.OneLine(t.Title, 80))
}

// list joins words that may be the agent's (names of files and of tests), the end
// of a long list left out.
func list(words []string, most int) string {
	shown := make([]string, min(len(words), most))
	for i := range shown {
		shown[i] = plan.OneLine(words[i], 0)
	}
	text := strings.Join(shown, " ")
	if more := len(words) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
