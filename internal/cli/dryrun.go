package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

// dryRun prints what a run would do, and what prevents it: goal, tasks, gates, limits and branch.
// Titles come from a plan, so they are cleaned.
func (a *app) dryRun(ctx context.Context, p *launch.Prepared) error {
	line := func(name, format string, args ...any) {
		a.print(a.text(fmt.Sprintf("%-10s %s\n", name, term.Clean(fmt.Sprintf(format, args...)))))
	}
	s := p.Spec
	line("goal", "%s (%s)", p.Goal.Title(), s.Policy.Kind)
	dryTasks(line, s)
	if p.Goal.Plan != nil {
		for _, odd := range p.Goal.Plan.Warnings() {
			line("note", "%s:%d: %s", p.Goal.Path, odd.Line, odd.Message)
		}
	}
	dryGates(line, p)
	line("agent", "%s %s", s.Agent.Name, s.Agent.Model)
	line("limits", "%s", limits(s.Policy.Limits))
	if s.Promise != p.Settings.Promise {
		line("promise", "<promise>%s</promise>, as the prompt asks for it", s.Promise)
	}
	loopinfo.Rows(line, "sandbox", p.Sandbox(ctx).Lines(false)...)
	if len(s.ConfineHosts) > 0 && s.Confine != string(confine.Strict) {
		line("note", "confine_hosts (%s) has no effect here: it needs --confine strict", p.Settings.Sources["confine_hosts"])
	}
	branch := s.Branch
	if branch == "" {
		branch = "pawl/<loop>, made at " + s.StartCommit[:min(7, len(s.StartCommit))]
	}
	if s.UsesWorktree {
		branch += ", in a separate worktree"
	}
	switch end, ok := p.EndsAtOnce(); {
	case ok && end.Outcome == "":
		line("ends", "at once: every task was done before; the gates decide the exit code (0, 1 or 3)")
	case ok:
		line("ends", "at once, %s (exit %d): %s", end.Outcome, end.Outcome.ExitCode(""), end.Reason)
	default:
		line("commits", "go to %s", branch)
	}
	loopinfo.Rows(line, "", checkoutWords(s))
	if n := len(p.CommittedFirst()); n > 0 {
		line("first", "your changes are committed under your name (%s)", figure.Count(n, "file"))
	}
	for _, t := range s.Tasks {
		if why, option := taskOutlook(p, t); why != "" {
			line("note", "%s %s. Add  %s  to accept that", narrate.TaskInSentence(t.ID, t.Title), why, option)
		}
	}
	for _, e := range p.Settings.Explain() {
		if e.Source != "default" && e.Source != "flags" {
			line("from", "%s = %s (%s)", e.Key, e.Value, e.Source)
		}
	}
	obstacles := p.AllRefusals(ctx)
	loopinfo.Rows(line, "but", obstacleLines(obstacles)...)
	line("changed", "nothing: this was a dry run")
	return dryRunExit(obstacles)
}

// taskOutlook returns the outlook of a task (see plan.Task.Outlook) with the user's options.
func taskOutlook(p *launch.Prepared, t loop.Task) (why, option string) {
	if t.Status != loop.Open {
		return "", ""
	}
	task := plan.Task{ID: t.ID, Title: t.Title}
	if p.Goal.Plan != nil {
		all := p.Goal.Plan.Plan().Tasks
		if i := slices.IndexFunc(all, func(of plan.Task) bool { return of.ID == t.ID }); i >= 0 {
			task = all[i]
		}
	}
	task.AllowTestChanges = p.Spec.MayChangeTests([]string{t.ID})
	why, option = task.Outlook(t.Wanted == gate.Proven)
	if t.ID == loop.GoalTask { // the options need no task id
		option = strings.NewReplacer(t.ID+"=", "", "="+t.ID, "").Replace(option)
	}
	return why, option
}

// obstacleLines lists each reason why a loop would not begin, with its hint.
func obstacleLines(obstacles []error) []string {
	var lines []string
	for _, err := range obstacles {
		lines = append(lines, fmt.Sprintf("the loop would not start: %v", err))
		if hint := failure.Hint(err); hint != "" {
			lines = append(lines, "  "+hint)
		}
	}
	return lines
}

// dryRunExit returns the exit code of a dry run as an error, or nil without obstacles.
func dryRunExit(obstacles []error) error {
	if len(obstacles) > 0 {
		return exitCode(failure.Usage)
	}
	return nil
}

// checkoutWords says how the user's checkout moves to the loop's branch, "" if it does not.
func checkoutWords(s record.Spec) string {
	if s.UsesWorktree || s.NoCommit || s.AllDone() || s.Branch != "" && s.Branch == s.StartBranch {
		return ""
	}
	here := cmp.Or(s.StartBranch, s.StartCommit[:min(7, len(s.StartCommit))])
	words := "your checkout switches from " + here + " to " + cmp.Or(s.Branch, record.DefaultLoopBranch("<loop>"))
	if s.AllowDirty {
		return words + "; it switches back if nothing is committed, your own changes included"
	}
	return words + "; it switches back if nothing is committed"
}

// dryTasks lists the tasks and the files that each may change.
func dryTasks(line func(string, string, ...any), s record.Spec) {
	for _, t := range s.Tasks {
		title := t.Title
		if t.Optional {
			title += " (optional)"
		}
		line("", "%s %s %s", checkbox(t.Status == loop.Done), narrate.ID(t), title)
		if globs := s.Scopes[t.ID]; len(globs) > 0 {
			line("", "    may change %s", strings.Join(globs, ", "))
		}
	}
}

func dryGates(line func(string, string, ...any), p *launch.Prepared) {
	for _, g := range p.Spec.Gates {
		line("gate", "%s", displayGate(g).Name)
	}
	if len(gate.Commands(p.Spec.Gates)) > 0 && !p.Spec.Policy.Verify {
		line("", "if a gate already fails for another reason: fix it first, allow it (baseline = \"allow\" for the gate in pawl.toml), or leave it out")
	}
	if p.OnlyReviews() {
		line("", "%s:", reviewsAlone)
		line("", "%s", reviewsHint)
	}
	if len(p.Spec.Gates) == 0 {
		words := noGate
		if kind := p.Spec.Policy.Kind; kind == loop.Explore || kind == loop.Periodic {
			words = "none: nothing checks the work; it ends as finished at its limit"
		}
		line("gate", "%s", words)
	}
	if len(p.Spec.Gates) == 0 || p.OnlyReviews() {
		for _, c := range p.Suggested {
			line("", "the files here suggest  --gate '%s'", c)
		}
	}
}

func limits(l loop.Limits) string { return cmp.Or(narrate.Limits(l), "none, as you chose") }
