package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/attribution"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
)

// scopeGate is the gate name in the result of a claim that changed files out of scope.
const scopeGate = "scope"

// checkScope returns a failed result if a claim changed files that its tasks may not change,
// or nil. The guard denies the agent's own edits there, but not what programs write.
func (r *Runner) checkScope(ctx context.Context, tasks []string, m memory.ActionContext) (*loop.Gates, error) {
	found, err := r.OutOfScope(ctx, tasks, m)
	if err != nil {
		return nil, err
	}
	if len(found.ByUser) > 0 {
		r.enqueueNote(ctx, loop.Info, "changed outside the task's scope, not by a known tool call; kept: "+plan.Few(found.ByUser, 5))
	}
	if len(found.ByAgent) == 0 {
		return nil, nil
	}
	res := gate.Result{
		Gate: scopeGate, Status: gate.Fail, ExitCode: -1, Tree: found.Tree, Reason: "changed outside the task's scope: " + plan.Few(found.ByAgent, 5),
		Tail: found.Advice(),
	}
	return &loop.Gates{
		Tree: found.Tree, Status: gate.Fail, Reason: truncate(res.Reason, maxReasonBytes), Results: []gate.Result{res},
		Failures: loop.Failures{Fingerprint: gate.Fingerprint(found.Tree, []gate.Result{res})},
	}, nil
}

// OutOfScopeFiles are changed files that the task may not change, relative to the root, with
// slashes.
type OutOfScopeFiles struct {
	ByAgent []string // changed by the agent or its commands
	ByUser  []string // attributed to the user
	Tree    string   // tree with these changes
}

// Advice returns what the agent is to do about its changes.
func (s OutOfScopeFiles) Advice() string {
	return "The task must not change these files: restore them, or end with <blocked>reason</blocked> if the task needs the changes.\n" +
		strings.Join(firstN(s.ByAgent, maxFailing), "\n")
}

// OutOfScope returns the changes for which a claim of these tasks would be refused. It leaves
// out files that the guard lets the agent edit at one of the tasks, commits of the user, and
// files that Pawl writes.
func (r *Runner) OutOfScope(ctx context.Context, tasks []string, m memory.ActionContext) (OutOfScopeFiles, error) {
	var found OutOfScopeFiles
	free := func(id string) bool { return len(r.spec().Scopes[id]) == 0 }
	if len(tasks) == 0 || slices.ContainsFunc(tasks, free) {
		return found, nil
	}
	var err error
	if found.Tree, _, err = r.Repo.Snapshot(ctx); err != nil {
		return found, fmt.Errorf("take the tree to check: %w", err)
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
	calls, err := attribution.TaskCalls(r.Loop, m)
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
		case calls.MayHaveChanged(path):
			found.ByAgent = append(found.ByAgent, c.Path)
		default:
			found.ByUser = append(found.ByUser, c.Path)
		}
	}
	return found, nil
}

// isInScope reports whether a file is in the scope of a task. If the guard asks about it, the
// user of an interactive session has approved it.
func (r *Runner) isInScope(path, task string, m memory.ActionContext) bool {
	rules := r.spec().GuardRules(r.guardDirs(), record.TurnScope{Task: task, Approved: m.Approved})
	d := guard.CheckScope(path, rules)
	return d == guard.Allow || d == guard.Ask && m.InSession && !r.Spec.Unattended
}
