package launch

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/workplan"
)

// newSpec builds the frozen spec from goal and settings.
func newSpec(g Goal, s config.Settings) record.Spec {
	spec := record.Spec{
		Request:      record.Request{Name: s.Name, Prompt: g.Prompt, Plan: g.Path},
		Verification: record.Verification{Gates: s.Gates, NoRatchet: !s.Ratchet, GateEnv: s.GateVars(), Tests: s.Tests, Work: s.Work, TestChangeTasks: s.AllowTestChanges},
		TurnOptions:  record.TurnOptions{Promise: promise(g, s), IdleTimeout: s.IdleTimeout, Warm: warm(s)},
		Repository:   record.Repository{KeepAgentCommits: !s.Squash, CommitMessage: s.CommitMessage, MessageFromCLI: s.SetForRun("commit_message"), Setup: s.Worktree.Setup},
		Protection:   record.Protection{Protect: s.Protect, Confine: string(s.Confine), ConfineHosts: s.ConfineHosts},
		Observers:    record.Observers{Notify: notice.Settings(s.Notify), DetachOnHangup: s.OnHangup == config.DetachOnHangup, Telemetry: record.Telemetry(s.Telemetry)},
		Agent:        record.Agent{Name: s.Agent, Command: s.AgentCommand, Model: s.Model, Args: s.AgentArgs, Env: s.AgentEnv},
	}
	if s.Set("mutation_time") {
		spec.MutationTime = &s.MutationTime
	}
	if g.Plan != nil {
		spec.PlanSettings = record.PlanSettings{}.Follow(plan.Plan{}, g.Plan.Plan())
	}
	if statefile.IsPlanLoop(g.Path) {
		spec.CompatFormat = statefile.PlanLoopName
	}
	spec.Tasks, spec.LeftOut = newTasks(g, s)
	spec.OnlyTasks, spec.SkipOptional, spec.RequiredEvidence = s.Tasks, s.NoOptional, s.Evidence.Default
	open := spec.Tasks.Count(loop.Open)
	spec.Policy = loop.Policy{
		Kind: s.Kind,
		Limits: loop.Limits{
			Iterations: s.MaxIterations.For(open), Duration: s.MaxDuration,
			CostUSD: float64(s.MaxCost), Tokens: s.MaxTokens, Turn: s.TurnTimeout,
		},
		Session: s.Session, HandoverAt: int(s.HandoverAt), Restore: s.OnFailure == config.Restore,
		EveryTurn: s.GatesWhen == config.EveryTurn, Every: s.Every, AnswerWithin: s.AnswerWithin, Approve: s.Approve, Gates: len(spec.Gates) > 0,
		NoCost: spec.Agent.ReportsNoCost(),
	}
	if len(gate.Reviews(spec.Gates)) > 0 {
		spec.Policy.Reviews, spec.Policy.ReviewRounds = true, int(s.ReviewRounds)
	}
	return spec
}

// warm reports whether one process is used for several contexts. In a sandbox it is not,
// unless the user asks for it: a file that is replaced after the start is not protected there.
func warm(s config.Settings) bool {
	return s.Warm && (s.Confine == confine.Off || s.Set("warm"))
}

// newTasks returns the plan's tasks, or the single task of a prompt, and names the open
// tasks that the user leaves out.
func newTasks(g Goal, s config.Settings) (tasks []loop.Task, leftOut []string) {
	if g.Plan == nil {
		return []loop.Task{{
			ID: loop.GoalTask, Title: plan.OneLine(g.Prompt, 72), Status: loop.Open, Wanted: s.Evidence.For(loop.GoalTask),
		}}, nil
	}
	p := g.Plan.Plan()
	wanted := wantedTasks(p, s)
	for _, t := range p.Tasks {
		wants := s.Evidence.For(t.ID)
		if _, typed := s.Evidence.Tasks[t.ID]; !typed && t.Evidence != "" {
			wants = gate.Evidence(t.Evidence)
		}
		task := workplan.LoopTask(t, wants)
		switch {
		case t.Done:
		case !wanted[t.ID]:
			leftOut = append(leftOut, plan.OneLine(t.ID+" "+t.Title, 60))
			continue
		case len(s.Tasks) > 0: // the user chose them, so they need not wait for others
			task.DependsOn = slices.DeleteFunc(slices.Clone(t.DependsOn), func(id string) bool { return !wanted[id] })
		}
		tasks = append(tasks, task)
	}
	return tasks, leftOut
}

// wantedTasks returns the ids of the tasks that the user wants.
func wantedTasks(p plan.Plan, s config.Settings) map[string]bool {
	chosen := p.Tasks
	if s.NoOptional {
		chosen = p.WithoutOptional()
	}
	wanted := make(map[string]bool, len(chosen))
	for _, t := range chosen {
		wanted[t.ID] = len(s.Tasks) == 0
	}
	for _, id := range s.Tasks {
		wanted[id] = true
	}
	return wanted
}

// promise returns the text of the agent's claim to be done: what the settings say, else what the
// user's prompt asks for. A prompt written for another tool often names its own, and an agent
// that is asked for two would give the wrong one.
func promise(g Goal, s config.Settings) string {
	if asked := claim.PromiseIn(g.Prompt); asked != "" && !s.Set("promise") {
		return asked
	}
	return s.Promise
}
