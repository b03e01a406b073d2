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
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
	"github.com/pawl-dev/pawl/internal/work"
)

// abandon ends a loop that could not begin, so that no list shows it as lost.
func (d *Drive) abandon(cause error) error {
	d.failed = true
	if d.Runner == nil || d.Owner == nil {
		return cause
	}
	return errors.Join(cause, d.Abandon(cause))
}

// undoIfFailed has Close take back what was made for a loop that could not be set
// up. That is done though the user cancelled, within a bound.
func (d *Drive) undoIfFailed(ctx context.Context, undo git.Undo) {
	d.close = append(d.close, func() error {
		if !d.failed {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
		defer cancel()
		return undo(ctx)
	})
}

// undoPatience bounds what is taken back of a loop that could not be set up.
const undoPatience = time.Minute

// furnish brings what git does not hold into a worktree of the loop's own: the
// files that .worktreeinclude names, and the plan if it is untracked.
func (d *Drive) furnish(ctx context.Context, l *store.Loop, tree *git.Repo) error {
	kept, err := l.Spec()
	if err != nil {
		return err
	}
	origin, err := git.Open(ctx, kept.Root)
	if err != nil {
		return err
	}
	if _, err := origin.CopyIncluded(ctx, tree.Root()); err != nil {
		return fmt.Errorf("copy what .worktreeinclude names: %w", err)
	}
	if err := copyMissing(kept.Root, tree.Root(), d.Spec.Plan); err != nil {
		return fmt.Errorf("copy the plan: %w", err)
	}
	return nil
}

func copyMissing(from, to, rel string) error {
	if rel == "" {
		return nil
	}
	target := filepath.Join(to, filepath.FromSlash(rel))
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	data, err := atomicfile.Read(filepath.Join(from, filepath.FromSlash(rel)), planfile.MaxSize)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(target, data, 0o644)
}

// setUp makes the loop's worktree ready, once: a marker says that it was done to its
// end. Where the project has no set-up, what is installed in the user's checkout is
// copied.
func (d *Drive) setUp(ctx context.Context, l *store.Loop, v *verify.Verifier) error {
	marker := setUpMarker(l)
	if _, err := os.Lstat(marker); err == nil && (!d.unturned || len(d.Spec.Setup) > 0) {
		return nil
	}
	do := d.copyDependencies
	if len(d.Spec.Setup) > 0 {
		do = func(ctx context.Context, _ *store.Loop) error { return v.SetUp(ctx, d.Repo.Root()) }
	}
	if err := do(ctx, l); err != nil {
		return err
	}
	return os.WriteFile(marker, nil, 0o600)
}

// setUpMarker is the file that says that the loop's worktree is made ready.
func setUpMarker(l *store.Loop) string { return filepath.Join(l.Dir, "set-up") }

// copyDependencies copies the folders of dependencies that git ignores. One that is
// too large is left out: the gates tell what they lack.
func (d *Drive) copyDependencies(ctx context.Context, l *store.Loop) error {
	kept, err := l.Spec()
	if err != nil {
		return err
	}
	origin, err := git.Open(ctx, kept.Root)
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

// Missing names the dependencies that gates need and that are not installed. A
// worktree of the loop's own gets its copy of those that are, or its set-up.
func (p *Prepared) Missing() []deps.Missing {
	if p.Spec.OwnWorktree && len(p.Spec.Setup) > 0 {
		return nil
	}
	return deps.Find(p.root, p.Spec.Gates)
}

// Editable returns the editable installs of the project that gates use in a worktree of
// the loop's: they import the code of the user's checkout there, not the agent's.
func (p *Prepared) Editable() []deps.Editable {
	if !p.Spec.OwnWorktree || len(p.Spec.Setup) > 0 {
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

// historyCommits are those in which data of the program is looked for.
const historyCommits = 300

// Data returns the files that count as gate inputs and seem to be data of the program: in
// the last commits they changed together with it. A repository without commits has none.
func (p *Prepared) Data(ctx context.Context) []work.Data {
	if p.Repo == nil {
		return nil
	}
	commits, err := p.Repo.History(ctx, historyCommits)
	if err != nil {
		return nil // it is a hint: the loop begins all the same
	}
	return work.Rules{Globs: p.Spec.Work}.ProductData(commits, func(file string) bool { return verify.IsTest(p.Spec.Tests, file) })
}

// keepChanges commits the user's own changes first, as theirs. A loop that could not
// be set up at first finds those that were made since.
func (d *Drive) keepChanges(ctx context.Context) error {
	if d.Spec.OwnWorktree {
		return nil
	}
	if !d.Spec.AllowDirty {
		return d.refuseChanges(ctx)
	}
	commit, err := d.Repo.CommitUserChanges(ctx, d.Loop.ID, "Work in progress before loop "+d.Loop.ID)
	if err != nil {
		return fmt.Errorf("commit your changes first: %w", err)
	}
	if commit == "" {
		return nil
	}
	return d.StartFrom(commit)
}

// refuseChanges refuses to begin over changes that are not committed: they would be
// taken for the agent's.
func (d *Drive) refuseChanges(ctx context.Context) error {
	if !d.Resumed {
		return nil // Begin looked
	}
	status, err := d.Repo.Status(ctx)
	if err != nil {
		return fmt.Errorf("look at the work tree: %w", err)
	}
	dirty := slices.DeleteFunc(status.Dirty, func(path string) bool {
		return d.Spec.LeftWork != nil && slices.Contains(d.Spec.LeftWork.Paths, path)
	})
	if len(dirty) == 0 {
		return nil
	}
	return failure.New(failure.Usage, fmt.Sprintf("commit or stash them, then  pawl resume %s", d.Loop.ID),
		"the work tree has changes that are not committed (%s)", some(dirty))
}
