package launch

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// newSpec builds the frozen spec from goal and settings.
func newSpec(g Goal, s config.Settings) record.Spec {
	spec := record.Spec{
		Name: s.Name, Prompt: g.Prompt, Plan: g.Path, Gates: s.Gates, Promise: s.Promise,
		TurnTimeout: s.TurnTimeout, IdleTimeout: s.IdleTimeout, Warm: s.Warm, KeepAgentCommits: !s.Squash, NoRatchet: !s.Ratchet,
		Setup: s.Worktree.Setup, GateEnv: s.GateVars(), Tests: s.Tests, Work: s.Work, Protect: s.Protect, TestChangeTasks: s.AllowTestChanges,
		Confine: string(s.Confine), ConfineHosts: s.ConfineHosts, Notify: notice.Settings(s.Notify), DetachOnHangup: s.OnHangup == config.DetachOnHangup,
		Agent: record.Agent{Name: s.Agent, Command: s.AgentCommand, Model: s.Model, Args: s.AgentArgs, Env: s.AgentEnv},
	}
	if s.Set("mutation_time") {
		spec.MutationTime = &s.MutationTime
	}
	spec.Scopes = planScopes(g)
	if statefile.PlanLoop(g.Path) {
		spec.Format = statefile.PlanLoopName
	}
	spec.Tasks, spec.WantedEvidence = newTasks(g, s), s.Evidence.Default
	if g.Plan != nil {
		for _, t := range g.Plan.Plan().Tasks {
			if t.AllowTestChanges {
				spec.TestChangeTasks = append(slices.Clip(spec.TestChangeTasks), t.ID)
			}
		}
	}
	open := 0
	for _, t := range spec.Tasks {
		if t.Status == loop.Open {
			open++
		}
	}
	spec.Policy = loop.Policy{
		Kind: s.Kind,
		Limits: loop.Limits{
			Iterations: s.MaxIterations.For(open), Duration: s.MaxDuration,
			CostUSD: float64(s.MaxCost), Tokens: s.MaxTokens,
		},
		Session: s.Session, HandoverAt: int(s.HandoverAt), Restore: s.OnFailure == config.Restore,
		EveryTurn: s.GatesWhen == config.EveryTurn, Every: s.Every, Gates: len(spec.Gates) > 0,
	}
	if len(gate.Reviews(spec.Gates)) > 0 {
		spec.Policy.Reviews, spec.Policy.ReviewRounds = true, int(s.ReviewRounds)
	}
	return spec
}

// newTasks returns the plan's tasks, or the single task of a prompt.
func newTasks(g Goal, s config.Settings) []loop.Task {
	if g.Plan == nil {
		return []loop.Task{{
			ID: record.GoalTask, Title: plan.OneLine(g.Prompt, 72), Status: loop.Open, Wanted: s.Evidence.For(record.GoalTask),
		}}
	}
	var tasks []loop.Task
	for _, t := range g.Plan.Plan().Tasks {
		task := loop.Task{
			ID: t.ID, Title: plan.OneLine(t.Title, 100), Priority: t.Priority, DependsOn: t.DependsOn,
			Wanted: s.Evidence.For(t.ID), Status: loop.Open,
		}
		if _, typed := s.Evidence.Tasks[t.ID]; !typed && t.Evidence != "" {
			task.Wanted = gate.Evidence(t.Evidence)
		}
		if t.Done {
			task.Status, task.Earlier = loop.Done, true
		}
		tasks = append(tasks, task)
	}
	return tasks
}
