package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
	"github.com/pawl-dev/pawl/internal/work"
)

// abandon ends a loop that could not start, so that it is not listed as orphaned. A new loop whose work
// tree another one took meanwhile is removed by Close: it would be the newest here, and never began.
func (d *Driver) abandon(cause error) error {
	d.setUpFailed = true
	if l := d.created; l != nil && store.IsHeld(cause) {
		remove := func() error { return l.Remove(context.Background(), func() error { return nil }) }
		d.closers = slices.Insert(d.closers, 0, remove)
		return cause
	}
	if d.Runner == nil || d.Owner == nil {
		return cause
	}
	return errors.Join(cause, d.Abandon(cause))
}

// undoIfFailed lets Close remove what was created for a loop that could not be set up,
// even if the user cancelled.
func (d *Driver) undoIfFailed(ctx context.Context, undo git.Undo) {
	d.closers = append(d.closers, func() error {
		if !d.setUpFailed {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		defer cancel()
		return undo(ctx)
	})
}

// undoTimeout bounds that removal.
const undoTimeout = time.Minute

// populateWorktree copies files that git does not have into a worktree of the loop's:
// those that .worktreeinclude names, and an untracked plan.
func (d *Driver) populateWorktree(ctx context.Context, tree *git.Repo) error {
	origin, err := git.Open(ctx, d.Spec.Root)
	if err != nil {
		return err
	}
	if _, err := origin.CopyIncluded(ctx, tree.Root()); err != nil {
		return fmt.Errorf("copy what .worktreeinclude names: %w", err)
	}
	if err := copyMissing(origin.Root(), tree.Root(), d.Spec.Plan); err != nil {
		return fmt.Errorf("copy the plan: %w", err)
	}
	return nil
}

// copyMissing copies a plan unless it exists.
func copyMissing(from, to, rel string) error {
	if rel == "" {
		return nil
	}
	target := filepath.Join(to, filepath.FromSlash(rel))
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	plan, err := planfile.Load(filepath.Join(from, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	return planfile.WriteBelow(to, rel, plan)
}

// setUpWorktree runs the setup commands in the loop's worktree, once; a marker file says
// that they succeeded. Without commands the dependencies installed in the user's checkout
// are copied.
func (d *Driver) setUpWorktree(ctx context.Context, l *store.Loop, v *verify.Verifier) error {
	marker := setUpMarker(l)
	if _, err := os.Lstat(marker); err == nil && (!d.beforeFirstTurn || len(d.Spec.Setup) > 0) {
		return nil
	}
	do := d.copyDependencies
	if len(d.Spec.Setup) > 0 {
		do = func(ctx context.Context) error { return v.SetUp(ctx, d.Repo.Root()) }
	}
	stopped, err := untilStop(ctx, l, do)
	if err != nil || stopped { // the runner ends a stopped loop before its first turn
		return err
	}
	return os.WriteFile(marker, nil, 0o600)
}

// untilStop calls do, and cancels it as soon as a user stops the loop: nobody wants to wait for
// a set-up whose loop ends with it.
func untilStop(ctx context.Context, l *store.Loop, do func(context.Context) error) (stopped bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		stopped, _ = Poll(ctx, setUpTimeout, func() (bool, error) { return record.StopWaits(l), nil })
		if stopped {
			cancel()
		}
	})
	err = do(ctx)
	cancel()
	watch.Wait()
	if stopped {
		err = nil
	}
	return stopped, err
}

// setUpTimeout is how long that is watched. Each command has a shorter limit of its own.
const setUpTimeout = 24 * time.Hour

// setUpMarker returns the marker file.
func setUpMarker(l *store.Loop) string { return filepath.Join(l.Dir, "set-up") }

// copyDependencies copies ignored dependency folders. Folders that are too large are
// skipped; the gates report what is missing.
func (d *Driver) copyDependencies(ctx context.Context) error {
	origin, err := git.Open(ctx, d.Spec.Root)
	if err != nil {
		return err
	}
	ignored, err := origin.Ignored(ctx)
	if err != nil {
		return err
	}
	c := deps.Copier{From: origin.Root(), To: d.Repo.Root()}
	for _, name := range ignored {
		folder, isFolder := strings.CutSuffix(name, "/")
		if !isFolder || !deps.IsFolder(path.Base(folder)) {
			continue
		}
		_, err := deps.Fingerprint(ctx, origin.Root(), folder)
		if errors.Is(err, deps.ErrTooLarge) {
			continue
		}
		if err == nil { // a copy that was cut off
			err = proc.RemoveAll(filepath.Join(c.To, filepath.FromSlash(folder)))
		}
		if err == nil {
			err = c.Copy(ctx, folder)
		}
		if err != nil {
			return fmt.Errorf("copy %s into the loop's worktree: %w", folder, err)
		}
	}
	return nil
}

// MissingDependencies returns dependencies that gates need and that are not installed. A
// worktree with setup commands has none.
func (p *Prepared) MissingDependencies() []deps.Missing {
	if p.Spec.UsesWorktree && len(p.Spec.Setup) > 0 {
		return nil
	}
	return deps.Find(p.root, p.Spec.Gates)
}

// Editable returns the editable installs of the project that gates use in a worktree of
// the loop's: they import the code of the user's checkout there, not the agent's.
func (p *Prepared) Editable() []deps.Editable {
	if !p.Spec.UsesWorktree || len(p.Spec.Setup) > 0 {
		return nil
	}
	active := ""
	for _, kv := range p.env.Vars {
		if venv, ok := strings.CutPrefix(kv, "VIRTUAL_ENV="); ok {
			active = venv
		}
	}
	return deps.EditableInstalls(p.root, active, p.Spec.Gates)
}

// historyCommits is how many commits are searched for the program's data.
const historyCommits = 300

// ProgramData returns gate inputs that seem to be data of the program: in the last commits they
// changed together with it. A repository without commits has none.
func (p *Prepared) ProgramData(ctx context.Context) []work.DataGlob {
	if p.Repo == nil {
		return nil
	}
	commits, err := p.Repo.History(ctx, historyCommits)
	if err != nil {
		return nil // only a hint needs it
	}
	return work.Rules{Globs: p.Spec.Work}.ProgramData(commits, func(file string) bool { return verify.IsTest(p.Spec.Tests, file) })
}

// commitUserChanges commits the user's changes first, as theirs, if the user allows it or changed only
// the plan. If the loop could not be set up at first, this includes later changes. It does not commit
// unfinished work of an earlier loop, not even in the plan.
func (d *Driver) commitUserChanges(ctx context.Context) error {
	if d.Spec.UsesWorktree {
		return nil
	}
	if !d.Spec.AllowDirty {
		status, err := d.Repo.Status(ctx)
		if err != nil {
			return fmt.Errorf("read status of work tree: %w", err)
		}
		if d.Spec.UnfinishedWork != nil || !onlyPlan(d.Spec.Plan, status.Dirty) {
			return d.refuseChanges(status.Dirty)
		}
	}
	commit, err := d.Repo.CommitUserChanges(ctx, d.Loop.ID, "Work in progress before loop "+d.Loop.ID)
	if err != nil {
		return fmt.Errorf("commit your changes first: %w", err)
	}
	if commit == "" {
		return nil
	}
	d.UserCommit = commit
	note := memory.Note{Level: loop.Info, Text: "your uncommitted changes are committed first, under your name: " + commit[:min(len(commit), 7)], UserCommit: commit}
	if err := record.AppendNote(d.Owner, note, d.Redact.String); err != nil {
		return err
	}
	return d.SetStartCommit(commit)
}

// refuseChanges refuses to begin over uncommitted changes, which would be attributed to
// the agent.
func (d *Driver) refuseChanges(dirty []string) error {
	if d.inspected {
		return nil
	}
	dirty = slices.DeleteFunc(dirty, func(path string) bool {
		return d.Spec.UnfinishedWork != nil && slices.Contains(d.Spec.UnfinishedWork.Paths, path)
	})
	if len(dirty) == 0 {
		return nil
	}
	return failure.New(failure.Usage, fmt.Sprintf("commit or stash them, then  pawl resume %s", d.Loop.ID),
		"the work tree has changes that are not committed (%s)", plan.Few(dirty, 5))
}
