package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

type restoreCmd struct {
	loopWord
	Checkpoint int `arg:"" name:"n" help:"number of the checkpoint"`
}

func (restoreCmd) Help() string {
	return `Files that no checkpoint holds (ignored or very large ones) stay as they are, and so do the index, the
branch and its commits. pawl undo takes a restore back.

  pawl restore brisk-otter 3`
}

// Run restores a checkpoint.
func (c *restoreCmd) Run(a *app) error {
	if err := a.byPerson("restore a checkpoint"); err != nil {
		return err
	}
	return a.restores(c.Loop, func(ctx context.Context, repo *git.Repo, s *subject) (git.Checkpoint, error) {
		return checkpoint(ctx, repo, s, c.Checkpoint)
	})
}

type undoCmd struct {
	loopArg
}

func (undoCmd) Help() string {
	return `An undo is itself a restore: a second one takes the first back.

  pawl undo brisk-otter`
}

// Run goes back to where the work tree was before the last restore.
func (c *undoCmd) Run(a *app) error {
	if err := a.byPerson("restore a checkpoint"); err != nil {
		return err
	}
	return a.restores(c.Loop, lastRestore)
}

// finder finds the checkpoint that is meant.
type finder func(ctx context.Context, repo *git.Repo, s *subject) (git.Checkpoint, error)

// restores is a command of a person's that restores a checkpoint of the loop.
func (a *app) restores(ref string, wanted finder) error {
	ctx, cancel := untilSignal()
	defer cancel()
	s, err := a.find(ref)
	if err != nil {
		return err
	}
	return ended(ctx, a.restore(ctx, s, wanted))
}

// restore makes the loop's work tree what the wanted checkpoint holds, after a
// checkpoint of what it is now. While it works it owns the loop and the work
// tree, so that nobody else acts on them.
func (a *app) restore(ctx context.Context, s *subject, wanted finder) (err error) {
	repo, err := s.repo(ctx)
	if err != nil {
		return err
	}
	target, err := wanted(ctx, repo, s)
	if err != nil {
		return err
	}
	owner, release, err := a.own(ctx, s, repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	subject := fmt.Sprintf("%s of checkpoint %d, by a person", beforeRestore, target.N)
	was, err := repo.Checkpoint(ctx, s.ID, 0, subject)
	if err != nil {
		return fmt.Errorf("keep the work tree as it is: %w", err)
	}
	// From here a Ctrl-C waits: half a restore helps nobody. A second one ends it.
	done, err := repo.Restore(context.WithoutCancel(ctx), target.Commit, nil)
	if err != nil {
		return failure.New(failure.Error, "run it again to finish, or pawl undo "+s.ID, "restore checkpoint %d: %w", target.N, err)
	}
	note := record.Note{Level: loop.Info, Text: fmt.Sprintf("a person restored checkpoint %d", target.N)}
	if _, err := owner.Append(journal.Entry{Type: record.TypeNote, Data: note}); err != nil {
		return fmt.Errorf("journal the restore: %w", err)
	}
	a.tellRestored(s, target, was, done)
	return nil
}

func (a *app) tellRestored(s *subject, target, was git.Checkpoint, done git.Restored) {
	changed := "no file had to change"
	if n := len(done.Changed); n > 0 {
		changed = count(n, "file") + " changed"
	}
	a.printf("restored checkpoint %d (%s): %s\n", target.N, plan.OneLine(target.Subject, 80), changed)
	for _, left := range done.Left {
		a.printf("  left as it is: %s (%s)\n", plan.OneLine(left.Path, 0), left.Reason)
	}
	a.printf("the tree as it was is checkpoint %d; pawl undo %s goes back to it\n", was.N, s.ID)
}

// own takes the loop and its work tree, or says who has them.
func (a *app) own(ctx context.Context, s *subject, repo *git.Repo) (*store.Owner, func() error, error) {
	unlock, err := a.store.LockWorktree(ctx, repo, s.ID)
	if err != nil {
		return nil, nil, busy(err)
	}
	owner, err := s.own(ctx)
	if err != nil {
		return nil, nil, errors.Join(busy(err), unlock())
	}
	return owner, func() error { return errors.Join(owner.Close(), unlock()) }, nil
}

// own makes us the loop's owner. A session's hooks stay that of theirs: a restore
// between two of them is as good as one of them.
func (s *subject) own(ctx context.Context) (*store.Owner, error) {
	if s.inSession() {
		return s.Rejoin(ctx, s.holder.Epoch)
	}
	return s.Own(ctx)
}

// busy says of a work tree that is held what to do about it.
func busy(err error) error {
	var held *store.HeldError
	if !errors.As(err, &held) {
		return err
	}
	hint := "wait for it"
	if held.Loop != "" {
		hint = strings.ReplaceAll("pawl stop LOOP first; its work is kept", "LOOP", held.Loop)
	}
	return failure.New(failure.Usage, hint, "%w", held)
}
