package launch

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/workplan"
)

// newSpec builds the frozen spec from goal and settings.
func newSpec(g Goal, s config.Settings) record.Spec {
	// A prompt written for another tool often names its own text for a claim, and an agent that is
	// asked for two would give the wrong one.
	promise := s.Promise
	if asked := claim.PromiseIn(g.Prompt); asked != "" && !s.Set("promise") {
		promise = asked
	}
	// A file that is replaced after the start of a process is not protected in its sandbox.
	warm := s.Warm && (s.Confine == confine.Off || s.Set("warm"))
	spec := record.Spec{
		Request:      record.Request{Name: s.Name, Prompt: g.Prompt, Plan: g.Path},
		Verification: record.Verification{Gates: s.Gates, NoRatchet: !s.Ratchet, GateEnv: s.GateVars(), Tests: s.Tests, Work: s.Work, TestChangeTasks: s.AllowTestChanges},
		TurnOptions:  record.TurnOptions{Promise: promise, IdleTimeout: s.IdleTimeout, Warm: warm},
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

// specInSession builds the spec of a loop in a session, which keeps its context, work
// tree and branch.
func (p *Prepared) specInSession(ctx context.Context, q SessionRequest) error {
	if !p.Settings.Set("max_iterations") {
		p.Settings.MaxIterations = DefaultIterations
	}
	if q.File != "" && p.Settings.MaxIterations == 0 && !p.Settings.Set("max_duration") {
		p.Settings.MaxDuration = 0 // no limit, as in that tool
	}
	if err := p.buildSpec(ctx); err != nil {
		return err
	}
	s := &p.Spec
	s.NoCommit, s.Shadow, s.Unattended = !q.Commit, p.Repo == nil, q.Session.Unattended
	s.Tools = q.Session.Responder == "plugin"
	s.Policy.InSession, s.Policy.Restore, s.Policy.IterationsBefore = true, false, q.CountedIterations
	p.adoptUnfinishedWork()
	s.Branch, s.HiddenFiles, s.Untracked = p.Status.Branch, p.Status.Hidden, p.untracked()
	if err := p.verifyPolicy(q); err != nil {
		return err
	}
	if err := p.sessionPolicy(q); err != nil {
		return err
	}
	p.setStateFile(q.File, q.Format)
	return nil
}

// verifyPolicy sets how a loop tries to make a command succeed.
func (p *Prepared) verifyPolicy(q SessionRequest) error {
	s, wanted := &p.Spec, p.Settings.Verify
	_, typed := q.Flags["verify"].(map[string]any)
	s.Policy.Verify = q.Verify != "" || q.VerifyGates
	switch {
	case !s.Policy.Verify && typed && p.Settings.Set("verify.isolate"):
		return failure.New(failure.Usage, "leave --isolate out, or name the command:  --verify 'go test ./...'",
			"--isolate is for loops whose goal is that a command succeeds")
	case !s.Policy.Verify && typed:
		s.Policy.Tries = int(wanted.Tries)
		return nil
	case !s.Policy.Verify:
		return nil
	case s.Policy.Kind != loop.Change:
		return failure.New(failure.Usage, "leave one of them out", "--verify needs a goal of kind change, and this one is of kind %s", s.Policy.Kind)
	case len(gate.Commands(s.Gates)) == 0:
		return failure.New(failure.Usage, "name the command:  --verify 'go test ./...'", "no command to succeed was given")
	}
	s.Isolation = q.Isolation
	if q.File == "" {
		s.Isolation = &record.Isolation{MaxCostUSD: float64(wanted.IsolatedCost), Timeout: wanted.IsolatedTimeout}
	}
	if !wanted.Isolate {
		s.Isolation = nil
	}
	s.Policy.Isolate, s.Policy.Tries = s.Isolation != nil, cmp.Or(q.Tries, int(wanted.Tries))
	return nil
}

// sessionPolicy sets whether the loop may leave the session for fresh ones, and the limits in the
// session. A session has one context, so only fresh sessions can have one per task or turn.
func (p *Prepared) sessionPolicy(q SessionRequest) error {
	mode, _ := q.Flags["session"].(string)
	policy := &p.Spec.Policy
	policy.Handover = q.Handover || mode == string(loop.Hybrid)
	switch {
	case mode != "" && !policy.Handover && policy.Session != loop.Continue:
		return failure.New(failure.Usage, "add --handover: then fresh sessions continue it; or --session hybrid",
			"--session %s needs fresh contexts, and this session has only one", mode)
	case mode != "":
	case policy.Handover:
		policy.Session = loop.Hybrid
	default:
		policy.Session = loop.Continue
	}
	if policy.Handover || policy.Isolate || policy.Reviews { // Pawl knows the cost of these
		return nil
	}
	// The client reports neither cost nor tokens of a turn to its hooks.
	policy.Limits.CostUSD, policy.Limits.Tokens = 0, 0
	if _, typed := q.Flags["max_cost"]; typed {
		return failure.New(failure.Usage, "leave it out; with --handover it applies in the fresh sessions",
			"--max-cost has no effect in a session: its client does not report costs")
	}
	return nil
}

// setStateFile sets another tool's state file. If the tool has a plan instead, the plan
// is enough.
func (p *Prepared) setStateFile(path, format string) {
	s := &p.Spec
	if format == statefile.FeatureListName {
		s.Guard.TickOnly = "" // its agent claims by checkboxes, and may write them freely
	}
	if s.CompatFormat != "" || path == "" {
		s.CompatFormat = cmp.Or(s.CompatFormat, format)
		return
	}
	s.CompatFormat, s.CompatFile = format, filepath.ToSlash(record.ResolvePath(path))
	if rel, inside := relativeTo(p.root, path); inside {
		s.CompatFile = rel
		if format == statefile.RalphLoopName || format == statefile.VerifyActiveName {
			s.Guard.StateFile = s.CompatFile
		}
		if !slices.Contains(s.Untracked, s.CompatFile) {
			s.Untracked = append(s.Untracked, s.CompatFile)
		}
	}
}

// verifyGate sets timeout and folder of the command that is to succeed. A command that a
// file names must be trusted.
func (p *Prepared) verifyGate(q SessionRequest) error {
	i := slices.IndexFunc(p.Settings.Gates, func(g gate.Gate) bool { return g.Command == q.Verify })
	if i < 0 || q.Verify == "" {
		return nil
	}
	g, root := &p.Settings.Gates[i], record.ResolvePath(p.root)
	if q.VerifyTimeout > 0 {
		g.Timeout = q.VerifyTimeout
	}
	if q.VerifyFrom == "" {
		return nil
	}
	dir := record.ResolvePath(cmp.Or(q.VerifyDir, root))
	rel, inside := relativeTo(root, dir)
	if !inside {
		return failure.New(failure.Usage, "start it in a session of that folder", "the command of %s runs in %s, which is outside %s", q.VerifyFrom, dir, root)
	}
	if g.Dir = rel; g.Dir == "." {
		g.Dir = ""
	}
	strange, err := config.OpenTrust(p.Home).Untrusted(p.root, []config.Command{config.VerifyCommand(root, record.ResolvePath(q.VerifyFrom), dir, q.Verify)})
	p.Untrusted = append(p.Untrusted, strange...)
	return err
}
