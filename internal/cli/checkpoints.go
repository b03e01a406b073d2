package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/restore"
	"github.com/pawl-dev/pawl/internal/term"
)

type checkpointsCmd struct {
	List checkpointsListCmd `cmd:"" default:"withargs" help:"list the checkpoints of a loop"`
	Diff checkpointsDiffCmd `cmd:"" help:"show what changed since a checkpoint, or between two"`
}

type checkpointsListCmd struct {
	loopArg
	JSON bool `name:"json" help:"print a JSON array (docs/reference/checkpoints.schema.json)"`
}

// Run lists a loop's checkpoints.
func (c *checkpointsListCmd) Run(ctx context.Context, a *app, s *loopinfo.Loop) error {
	repo, err := s.Origin(ctx)
	if err != nil {
		return err
	}
	all, err := repo.Checkpoints(ctx, s.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(append([]git.Checkpoint{}, all...)) // never null
	}
	if len(all) == 0 {
		a.printf("%s has no checkpoint\n", s.ID)
		return nil
	}
	var lines []string
	for _, cp := range all {
		lines = append(lines, fmt.Sprintf("%d\t%s\t%.9s\t%s", cp.N, formatMinute(cp.Time), cp.Commit, plan.OneLine(cp.Subject, 80)))
	}
	a.printTable(lines)
	return nil
}

type checkpointsDiffCmd struct {
	requiredLoopArg
	From int      `arg:"" name:"n" help:"number of the checkpoint"`
	To   int      `arg:"" optional:"" name:"m" help:"number of a later one; default: the work tree"`
	File []string `sep:"none" placeholder:"PATH" help:"show only this file or folder; repeatable"`
}

// Run prints what changed since a checkpoint.
func (c *checkpointsDiffCmd) Run(ctx context.Context, a *app, s *loopinfo.Loop) error {
	paths, err := a.pathsOf(s, c.File)
	if err != nil {
		return err
	}
	open := s.Repo // the work tree to compare with is the loop's
	if c.To != 0 {
		open = s.Origin
	}
	repo, err := open(ctx)
	if err != nil {
		return err
	}
	from, err := restore.ByNumber(c.From)(ctx, repo, s)
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
	a.print(diff)
	if diff == "" && len(paths) > 0 { // a mistyped path looks the same
		term.Hintf(a.Err, "both have the same %s, or neither has it", term.Clean(strings.Join(paths, ", ")))
	}
	return nil
}

// target returns the tree to compare with.
func (c *checkpointsDiffCmd) target(ctx context.Context, repo *git.Repo, s *loopinfo.Loop) (string, error) {
	if c.To == 0 {
		tree, _, err := repo.Snapshot(ctx)
		return tree, err
	}
	to, err := restore.ByNumber(c.To)(ctx, repo, s)
	return to.Tree, err
}
