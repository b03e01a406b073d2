package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/view"
)

type checkpointsCmd struct {
	List checkpointsListCmd `cmd:"" default:"withargs" help:"list the checkpoints of a loop"`
	Diff checkpointsDiffCmd `cmd:"" help:"show what changed since a checkpoint, or between two"`
}

type checkpointsListCmd struct {
	loopArg
}

// Run lists a loop's checkpoints.
func (c *checkpointsListCmd) Run(ctx context.Context, a *app, s *view.Loop) error {
	repo, err := s.Origin(ctx)
	if err != nil {
		return err
	}
	all, err := repo.Checkpoints(ctx, s.ID)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		a.printf("%s made no checkpoint\n", s.ID)
		return nil
	}
	var lines []string
	for _, cp := range all {
		lines = append(lines, fmt.Sprintf("%d\t%s\t%.9s\t%s", cp.N, minute(cp.Time), cp.Commit, plan.OneLine(cp.Subject, 80)))
	}
	a.printTable(lines)
	return nil
}

// beforeRestore begins the subject of the checkpoint that each restore makes
// first, the runner's as well as a user's.
const beforeRestore = "before a restore"

// checkpoint is the one with that number.
func checkpoint(ctx context.Context, repo *git.Repo, s *view.Loop, n int) (goal, error) {
	all, err := repo.Checkpoints(ctx, s.ID)
	if err != nil {
		return goal{}, err
	}
	for _, cp := range all {
		if cp.N == n {
			return goal{Checkpoint: cp}, nil
		}
	}
	return goal{}, failure.New(failure.Usage, "pawl checkpoints "+s.ID+" lists them", "loop %s has no checkpoint %d", s.ID, n)
}

// lastRestore is the checkpoint from before the last restore.
func lastRestore(ctx context.Context, repo *git.Repo, s *view.Loop) (goal, error) {
	all, err := repo.Checkpoints(ctx, s.ID)
	if err != nil {
		return goal{}, err
	}
	for _, cp := range slices.Backward(all) {
		if strings.HasPrefix(cp.Subject, beforeRestore) {
			return goal{Checkpoint: cp}, nil
		}
	}
	return goal{}, failure.New(failure.Usage, "pawl checkpoints "+s.ID+" lists what can be restored", "nothing was restored in loop %s", s.ID)
}

// taskWork is the last half-done work of a task, from where the task began to the
// checkpoint that was made before the work was undone.
func taskWork(ctx context.Context, repo *git.Repo, s *view.Loop, task string) (goal, error) {
	all, err := repo.Checkpoints(ctx, s.ID)
	if err != nil {
		return goal{}, err
	}
	label := git.Trailer{Key: runner.TrailerTask, Value: plan.OneLine(task, 100)}
	var undone []git.Checkpoint // with what the task had come to, the newest first
	for _, cp := range slices.Backward(all) {
		trailers, err := repo.Trailers(ctx, cp.Commit)
		if err != nil {
			return goal{}, err
		}
		if !slices.Contains(trailers, label) {
			continue
		}
		if !strings.HasPrefix(cp.Subject, "before task ") {
			undone = append(undone, cp)
			continue
		}
		if i := slices.IndexFunc(undone, func(u git.Checkpoint) bool { return u.Tree != cp.Tree }); i >= 0 {
			return goal{Checkpoint: undone[i], base: cp.Tree, task: task}, nil
		}
		undone = nil
	}
	return goal{}, nothingUndone(s, task)
}

// nothingUndone says why there is no work of a task to restore.
func nothingUndone(s *view.Loop, task string) error {
	t, known := s.Memory.State.Task(task)
	switch {
	case !known:
		return failure.New(failure.Usage, "pawl status "+s.ID+" lists its tasks", "loop %s has no task %s", s.ID, term.Clean(task))
	case t.Commit != "":
		return failure.New(failure.Usage, "git show "+t.Commit[:min(12, len(t.Commit))]+" shows it", "task %s is done; its work is in a commit", term.Clean(task))
	}
	return failure.New(failure.Usage, "pawl checkpoints "+s.ID+" lists what is kept", "nothing of task %s was undone", term.Clean(task))
}

type checkpointsDiffCmd struct {
	loopWord
	From int      `arg:"" name:"n" help:"number of the checkpoint"`
	To   int      `arg:"" optional:"" name:"m" help:"number of a later one; default: the work tree"`
	File []string `sep:"none" placeholder:"PATH" help:"show only this file or folder; repeatable"`
}

// Run prints what changed since a checkpoint.
func (c *checkpointsDiffCmd) Run(ctx context.Context, a *app, s *view.Loop) error {
	paths, err := a.pathsOf(s, c.File)
	if err != nil {
		return err
	}
	open := s.Repo // only the loop's work tree can be compared with
	if c.To != 0 {
		open = s.Origin
	}
	repo, err := open(ctx)
	if err != nil {
		return err
	}
	from, err := checkpoint(ctx, repo, s, c.From)
	if err != nil {
		return err
	}
	to, err := c.target(ctx, repo, s)
	if err != nil {
		return err
	}
	diff, err := repo.DiffText(ctx, from.Tree, to, git.DiffOptions{Paths: paths})
	if err != nil {
		return err
	}
	if attended(a.Out) {
		diff = term.Clean(diff)
	}
	a.print(diff)
	return nil
}

// target is the tree to compare with.
func (c *checkpointsDiffCmd) target(ctx context.Context, repo *git.Repo, s *view.Loop) (string, error) {
	if c.To == 0 {
		tree, _, err := repo.Snapshot(ctx)
		return tree, err
	}
	to, err := checkpoint(ctx, repo, s, c.To)
	return to.Tree, err
}
