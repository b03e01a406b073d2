package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
)

// scopeGate stands where a gate's name does, of a claim that the scope fails.
const scopeGate = "scope"

// checkScope fails a claim whose work lies outside of what its tasks may change,
// nil if it does not. The guard stops the agent's own calls there, and nothing of
// what a program writes that they start.
func (r *Runner) checkScope(ctx context.Context, tasks []string, m memory.ActionContext) (*loop.Gates, error) {
	found, err := r.OutOfScope(ctx, tasks, m)
	if err != nil {
		return nil, err
	}
	if len(found.ByUser) > 0 {
		r.enqueueNote(ctx, loop.Info, "changed outside of the task's scope, by no call of the agent's that tells: kept: "+plan.Few(found.ByUser, 5))
	}
	if len(found.ByAgent) == 0 {
		return nil, nil
	}
	res := gate.Result{
		Gate: scopeGate, Status: gate.Fail, ExitCode: -1, Tree: found.Tree, Reason: "changed outside of the task's scope: " + plan.Few(found.ByAgent, 5),
		Tail: found.Advice(),
	}
	return &loop.Gates{
		Tree: found.Tree, Status: gate.Fail, Reason: truncate(res.Reason, maxReasonBytes), Results: []gate.Result{res},
		Failures: loop.Failures{Fingerprint: gate.Fingerprint(found.Tree, []gate.Result{res})},
	}, nil
}

// OutOfScopeFiles are files that were changed since a task began, and that it may not
// change; relative to the root, slashes.
type OutOfScopeFiles struct {
	ByAgent []string // by the agent, or by what it ran
	ByUser  []string // by nothing that it is known to have done: the user's
	Tree    string   // that holds them
}

// Advice tells the agent what to do about its own.
func (s OutOfScopeFiles) Advice() string {
	return "Not the task's to change: put them back as they were, or end with <blocked>reason</blocked> if it cannot be done without.\n" +
		strings.Join(firstN(s.ByAgent, maxFailing), "\n")
}

// OutOfScope finds what a claim of these tasks together would be refused for. What
// the guard would let the agent edit at one of them is none of it, nor what the
// person has committed meanwhile, nor Pawl's own marks.
func (r *Runner) OutOfScope(ctx context.Context, tasks []string, m memory.ActionContext) (OutOfScopeFiles, error) {
	var found OutOfScopeFiles
	free := func(id string) bool { return len(r.Spec.Scopes[id]) == 0 }
	if len(tasks) == 0 || slices.ContainsFunc(tasks, free) {
		return found, nil
	}
	var err error
	if found.Tree, _, err = r.Repo.Snapshot(ctx); err != nil {
		return found, fmt.Errorf("take the tree to judge: %w", err)
	}
	base, err := r.startTreeWithEdits(ctx, m)
	if err == nil {
		base, err = r.withUserCommits(ctx, base, m.Base)
	}
	if err != nil {
		return found, err
	}
	diff, err := r.Repo.Diff(ctx, base, found.Tree)
	if err != nil {
		return found, fmt.Errorf("compare the work tree with the task's start: %w", err)
	}
	all, err := r.taskCalls(m)
	if err != nil {
		return found, err
	}
	marks := r.OwnFiles()
	for _, c := range diff {
		path := filepath.Join(r.Repo.Root(), filepath.FromSlash(c.Path))
		within := func(id string) bool { return r.isInScope(path, id, m) }
		switch {
		case slices.Contains(marks, c.Path), slices.ContainsFunc(tasks, within):
		case slices.Contains(m.ExcludedFiles(), c.Path):
			found.ByUser = append(found.ByUser, c.Path)
		case all.MayHaveChanged(path):
			found.ByAgent = append(found.ByAgent, c.Path)
		default:
			found.ByUser = append(found.ByUser, c.Path)
		}
	}
	return found, nil
}

// isInScope tells whether the guard lets the agent edit a file at a task, as far as
// its scope goes. What it asks about, a user who sits there has answered.
func (r *Runner) isInScope(path, task string, m memory.ActionContext) bool {
	rules := r.Spec.GuardRules(r.guardDirs(), record.TurnScope{Task: task, Approved: m.Approved})
	d := guard.Scoped(path, rules)
	return d == guard.Allow || d == guard.Ask && m.Attended && !r.Spec.Unattended
}

// taskCalls returns all calls since the task began, also those whose changes were
// attributed.
func (r *Runner) taskCalls(m memory.ActionContext) (*authorship.Calls, error) {
	session, _, err := readCallsBetween(record.ToolCallsPath(r.Loop), m.TaskCallsOffset, m.Attribution.ClosedAt-1)
	if err != nil {
		return nil, err
	}
	own, _, err := readCallsBetween(record.RunnerCallsPath(r.Loop), 0, -1)
	if err != nil {
		return nil, err
	}
	all := &authorship.Calls{Resolve: record.PathNames}
	addCalls(session)(all)
	for _, c := range own {
		all.Add(c, m.Attended)
	}
	return all, nil
}
