package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
)

const (
	defaultTryCostUSD = 1.00 // limits of a try if the user set none
	defaultTryTimeout = 5 * time.Minute
	tryPrompt         = "isolated.md" // in the iteration's folder
	maxListedChanges  = 40            // changed files listed in the prompt of a try
)

// runIsolated runs an isolated try: a turn in a separate session beside the user's. Its prompt
// has the goal, what was tried and the changed files. Only its changes of the tree remain. If
// it cannot start, that is an event and not an error: the user's session continues.
func (r *Runner) runIsolated(ctx context.Context, a loop.BeginTurn, m memory.ActionContext) (_ loop.EventPayload, err error) {
	dir, err := r.Loop.IterationDir(a.Iteration)
	if err != nil {
		return nil, fmt.Errorf("make the iteration's folder: %w", err)
	}
	text, err := r.isolatedPrompt(ctx, a, m)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, tryPrompt), []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("keep the prompt: %w", err)
	}
	is, log := r.isolationLimits(m), filepath.Join(dir, "stream.jsonl.gz")
	o := r.sessionOptions(log)
	s, err := r.Agent.Start(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return loop.AgentFailed{Isolated: true, Failure: notStarted(err)}, nil
	}
	r.session = s
	defer func() { err = errors.Join(err, r.closeSession()) }()
	r.guard.newContext()
	if err := r.prepareTools(ctx, a, m, text); err != nil {
		return nil, err
	}
	watch, done := r.watchTurn(ctx, a.Iteration)
	defer done()
	res, err := s.Turn(ctx, agent.Turn{
		Prompt: text, Timeout: is.Timeout, IdleTimeout: r.Spec.IdleTimeout, MaxCostUSD: is.MaxCostUSD, LogPath: log,
	}, watch)
	if err != nil {
		return nil, fmt.Errorf("run an isolated try with %s: %w", r.Agent.Name(), err)
	}
	return r.turnEnd(a, res, nil), nil
}

// isolationLimits returns the limits of a try that begins now.
func (r *Runner) isolationLimits(m memory.ActionContext) record.Isolation {
	is := record.Isolation{MaxCostUSD: defaultTryCostUSD, Timeout: defaultTryTimeout}
	if r.Spec.Isolation != nil {
		is = *r.Spec.Isolation
	}
	if left := costLeft(m); left > 0 && (is.MaxCostUSD <= 0 || left < is.MaxCostUSD) {
		is.MaxCostUSD = left
	}
	return is
}

// isolatedPrompt returns the prompt of a try.
func (r *Runner) isolatedPrompt(ctx context.Context, a loop.BeginTurn, m memory.ActionContext) (string, error) {
	d := r.promptData(a, m)
	is := r.isolationLimits(m)
	if is.MaxCostUSD > 0 {
		d.Budget.CostUSD = is.MaxCostUSD
	}
	if is.Timeout > 0 && (d.Budget.Time == 0 || is.Timeout < d.Budget.Time) {
		d.Budget.Time = is.Timeout
	}
	var err error
	if d.Changes, err = r.changedFileLines(ctx, m); err != nil {
		return "", err
	}
	return r.render(r.promptKind(a), d)
}

// changedFileLines lists the files that differ from the task's start: "M main.go", with A for added
// and D for deleted.
func (r *Runner) changedFileLines(ctx context.Context, m memory.ActionContext) ([]string, error) {
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("take a snapshot of the work tree: %w", err)
	}
	start, err := r.startTreeWithEdits(ctx, m)
	if err != nil {
		return nil, err
	}
	diff, err := r.Repo.Diff(ctx, start, now)
	if err != nil {
		return nil, fmt.Errorf("compare the work tree with the task's start: %w", err)
	}
	var lines []string
	for i, c := range diff {
		if i == maxListedChanges {
			lines = append(lines, fmt.Sprintf("… and %d more", len(diff)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%c %s", c.Status, plan.OneLine(c.Path, 200)))
	}
	return lines, nil
}
