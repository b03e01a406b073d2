package runner

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/prompt"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// turnPrompt returns the prompt of a turn.
func (r *Runner) turnPrompt(a loop.BeginTurn, m memory.ActionContext) (string, error) {
	if a.Situation == loop.NoClaim && r.Spec.MayLackGoal(m.Turns) {
		a.Situation = loop.FirstTurn
	}
	return r.render(r.promptKind(a), r.promptData(a, m))
}

// continuePrompt returns the prompt for the turn after one without a claim. It is written in
// advance, so it has neither iteration nor budget.
func (r *Runner) continuePrompt(a loop.BeginTurn) (string, error) {
	a.Situation, a.Notes = loop.NoClaim, nil
	d := r.promptData(a, r.mem.ActionContext())
	d.Budget, d.Reason, d.Failed, d.Tested, d.Recap, d.Lessons = prompt.Budget{}, "", nil, "", nil, nil
	return r.render(r.promptKind(a), d)
}

// goalPath returns the file for a goal that is too long to repeat in each turn of a user's
// session, or "".
func (r *Runner) goalPath() string {
	if !r.inSession || len(r.goal()) <= prompt.MaxGoalInSession {
		return ""
	}
	return filepath.Join(r.Loop.Dir, "goal.md")
}

func (r *Runner) render(k prompt.Kind, d prompt.Data) (string, error) {
	set, err := prompt.New(r.Spec.Templates)
	if err != nil {
		return "", fmt.Errorf("read the templates of this loop: %w", err)
	}
	text, err := set.Render(k, d)
	if err != nil {
		return "", fmt.Errorf("write the prompt: %w", err)
	}
	return text, nil
}

func (r *Runner) promptKind(a loop.BeginTurn) prompt.Kind {
	switch {
	case a.Isolated:
		return prompt.Isolated
	case a.Situation == loop.Violation: // whatever the goal is
		return prompt.Violation
	}
	switch r.Spec.Policy.Kind {
	case loop.Answer:
		return prompt.Answer
	case loop.Explore:
		return prompt.Explore
	case loop.Periodic:
		return prompt.Periodic
	}
	if r.Spec.Policy.Verify {
		return prompt.Verify
	}
	switch a.Situation {
	case loop.FirstTurn:
		return prompt.First
	case loop.NextTask:
		return prompt.Next
	case loop.NoClaim:
		return prompt.Continue
	case loop.GatesFailed:
		return prompt.GateFailed
	case loop.ClaimRefused:
		return prompt.Refused
	case loop.WasRestored:
		return prompt.Restored
	case loop.FreshRecap:
		return prompt.Fresh
	case loop.Violation:
		return prompt.Violation
	case loop.Interruption:
		return prompt.Resumed
	}
	return prompt.First
}

// messageTaskDetail is the task's detail in the turn for a message that came after the last task.
const messageTaskDetail = "All other tasks are done. The agent has not read this message of the user yet. Do what it asks for. If it asks for no change, change no file and end the turn."

func (r *Runner) promptData(a loop.BeginTurn, m memory.ActionContext) prompt.Data {
	d := prompt.Data{
		Loop: r.Loop.ID, Goal: r.goal(), Gates: r.Spec.Gates, Promise: r.Spec.Promise,
		Lessons: r.lessons(m.Lessons), Notes: a.Notes, Recap: prompt.Recap(m.History), Budget: budget(m),
		// Other tools repeat the goal, and such a loop may have begun without a prompt of the user.
		Retell:   r.Spec.CompatFile != "",
		NoCommit: r.Spec.NoCommit,
	}
	if r.Spec.Tracker != nil {
		d.Source = "issues of " + r.Spec.Tracker.From
	}
	r.addOwner(&d, a, m)
	if task, ok := m.Tasks.Task(a.Task); ok {
		d.Evidence = task.Wanted
		if task.ID != loop.GoalTask {
			d.Task = plan.Task{ID: task.ID, Title: task.Title}
		}
		if task.ForMessage {
			d.Task.Detail = messageTaskDetail
		}
	}
	if d.Evidence == "" {
		d.Evidence = gate.Proven
	}
	p := r.plan.Current()
	d.Overview = p.Overview
	if t, ok := p.Task(a.Task); ok {
		d.Task = planfile.WithRelated(r.plan.Path(), p, t)
	}
	d.Task.Scope = r.spec().Scopes[a.Task]
	for _, t := range m.Tasks {
		if t.Status == loop.Open && t.ID != a.Task {
			d.Open++
		}
	}
	if f := m.Failing; f != nil {
		d.Reason, d.Signs, d.Enough, d.Needed, d.OnlyText = f.Reason, f.Signs, f.Remedy, f.NeededInputs, f.OnlyText
	}
	d.Failed = r.failedGate(a, m)
	if t := m.LastTestRun; t.Red() && !namesTests(d.Failed) {
		d.Tested = t.String()
	}
	return d
}

// namesTests reports whether a result names the failing tests.
func namesTests(failed []gate.Result) bool {
	return slices.ContainsFunc(failed, func(r gate.Result) bool { return len(r.Failing) > 0 })
}

// lessons returns the lessons of the project and of the loop.
func (r *Runner) lessons(learnt []loop.Lesson) []string {
	texts := slices.Clone(r.Spec.Lessons)
	for _, l := range learnt {
		texts = append(texts, l.String())
	}
	return texts
}

// hasTools reports whether an agent that the runner starts has Pawl's tools.
func (r *Runner) hasTools() bool {
	_, mounts := r.Agent.(agent.Mounts)
	return mounts && r.Tools != nil
}

// addOwner adds the data that depends on where the turn runs, and on the tool whose file the
// loop keeps up to date.
func (r *Runner) addOwner(d *prompt.Data, a loop.BeginTurn, m memory.ActionContext) {
	d.InSession = r.inSession && !a.Isolated
	d.Alone = !d.InSession || r.Spec.Unattended
	d.MayAsk = !d.InSession || !r.Spec.Unattended
	if d.Tools = r.hasTools(); d.InSession {
		d.Tools = r.Spec.Tools
	}
	d.Again = assumesMemory(a.Situation)
	if d.InSession {
		d.GoalFile = r.goalPath()
	}
	if a.Situation == loop.FreshRecap && !a.Isolated && (d.InSession || r.Spec.Policy.InSession) {
		d.Moved = cmp.Or(m.HandoverWhy, "a user asked for it")
	}
	switch r.Spec.CompatFormat {
	case statefile.FeatureListName:
		d.Marks = r.Spec.Plan
	case statefile.VerifyActiveName:
		if r.heading != "" {
			d.Heading = "## " + r.heading
		}
	}
}

// failedGate returns the gate that failed last, or the commit hook that refused, or nil if
// something else must be fixed. If passing gates are the goal, it returns a failing one from
// the first turn.
func (r *Runner) failedGate(a loop.BeginTurn, m memory.ActionContext) []gate.Result {
	f, green := m.Failing, r.Spec.Policy.Verify
	if a.Situation == loop.ClaimRefused || a.Situation == loop.Violation || f == nil && !green {
		return nil
	}
	res := gate.Result{Gate: "commit hook", Status: gate.Fail, ExitCode: 1}
	byReview := f != nil && f.Review
	i := slices.IndexFunc(m.Results, func(res gate.Result) bool { return res.Status == gate.Fail && (res.Kind == gate.ByReview) == byReview })
	if i >= 0 {
		res = m.Results[i]
	}
	told := f != nil && (len(f.Tests) > 0 || f.FirstError != "")
	if !told && (i < 0 || !green && !strings.Contains(f.Reason, res.Gate)) {
		return nil
	}
	if f != nil {
		res.Reason = f.Reason
	}
	if told {
		res.Failing, res.FirstError = f.Tests, f.FirstError
	}
	return []gate.Result{res}
}

func budget(m memory.ActionContext) prompt.Budget {
	l := m.Limits
	b := prompt.Budget{Iteration: m.Iteration, MaxIterations: l.Iterations}
	if l.Duration > 0 {
		b.Time = max(l.Duration-m.Elapsed, time.Second)
	}
	if l.CostUSD > 0 {
		b.CostUSD = max(l.CostUSD-m.Usage.CostUSD, 0)
	}
	return b
}
