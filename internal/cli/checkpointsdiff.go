package cli

import (
	"context"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/term"
)

type checkpointsDiffCmd struct {
	loopWord
	From int      `arg:"" name:"n" help:"number of the checkpoint"`
	To   int      `arg:"" optional:"" name:"m" help:"number of a later one; default: the working tree"`
	File []string `sep:"none" placeholder:"PATH" help:"show only this file or folder; repeatable"`
}

func (checkpointsDiffCmd) Help() string {
	return `Pawl prints a unified diff, and changes nothing. New files that git does not track yet are in it.

  pawl checkpoints diff brisk-otter 3
  pawl checkpoints diff brisk-otter 3 5 --file src/app.ts`
}

// Run prints what changed since a checkpoint.
func (c *checkpointsDiffCmd) Run(ctx context.Context, a *app, s *subject) error {
	paths, err := s.pathsOf(a, c.File)
	if err != nil {
		return err
	}
	open := s.repo // only the loop's work tree can be compared with
	if c.To != 0 {
		open = s.origin
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
func (c *checkpointsDiffCmd) target(ctx context.Context, repo *git.Repo, s *subject) (string, error) {
	if c.To == 0 {
		tree, _, err := repo.Snapshot(ctx)
		return tree, err
	}
	to, err := checkpoint(ctx, repo, s, c.To)
	return to.Tree, err
}
