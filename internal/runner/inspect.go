package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/protected"
)

// inspect finds out what the turn did to the work tree: branches switched, checkboxes ticked,
// protected files changed. Only a deep inspection, before gates run, compares the whole tree
// with the task's start.
func (r *Runner) inspect(ctx context.Context, a loop.Inspect, m memory.ActionContext) (loop.EventPayload, error) {
	inspection := loop.Inspection{Shallow: !a.Deep}
	if err := r.authors.ReadNewCalls(m); err != nil {
		return nil, err
	}
	changed, err := r.Protected.Changes(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare protected files: %w", err)
	}
	if changed, err = r.restoreGitConfig(ctx, changed, m, &inspection); err != nil {
		return nil, err
	}
	base, remarks, err := r.attributeCommits(ctx, m)
	if err != nil {
		return nil, err
	}
	inspection.Remarks = append(inspection.Remarks, remarks...)
	if base != m.Base {
		r.enqueue(ctx, func(context.Context) error { return r.setBase(base) })
		m.Base = base
	}
	if m, err = r.afterReset(ctx, m); err != nil {
		return nil, err
	}
	plan, err := r.plan.Inspect(ctx, m)
	if err != nil {
		return nil, err
	}
	inspection.TickedByAgent, inspection.TickedByUser, inspection.UnappliedEditFile = plan.TickedByAgent, plan.TickedByUser, plan.UnappliedEdit
	for _, id := range plan.TickedByUser {
		inspection.Remarks = append(inspection.Remarks, "task "+id+" was ticked, but not by the agent: done")
	}
	if plan.Changed {
		changed = append(changed, r.Spec.Plan)
	}
	if err := r.attributeProtected(ctx, changed, m, &inspection); err != nil {
		return nil, err
	}
	inspection.Added = r.plan.NewTasks(m.Tasks)
	if inspection.RejectedTests, err = r.rejectedChanges(ctx, m); err != nil {
		return nil, err
	}
	if called := r.authors.HasNewCalls(m); a.Deep {
		err = r.inspectTree(ctx, m, &inspection)
	} else if called {
		_, err = r.attributeChanges(ctx, m, "")
	}
	if err != nil {
		return nil, err
	}
	return loop.TreeInspected{Inspection: inspection}, nil
}

// inspectTree compares the whole work tree with the task's start, and adds changes of ignored
// files and of the user's settings.
func (r *Runner) inspectTree(ctx context.Context, m memory.ActionContext, inspection *loop.Inspection) error {
	now, skipped, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("take a snapshot of the work tree: %w", err)
	}
	r.noteSkipped(ctx, skipped)
	r.rememberTree(now)
	if m, err = r.attributeChanges(ctx, m, now); err != nil {
		return err
	}
	if inspection.Changed, err = r.hasChanged(ctx, now, m); err != nil {
		return err
	}
	if m.Claimed && !inspection.Changed && r.Verify != nil {
		ignored, err := r.Verify.ChangedIgnoredFiles(ctx)
		if err != nil {
			return fmt.Errorf("list what git ignores: %w", err)
		}
		own := r.OwnFiles()
		others := slices.DeleteFunc(slices.Concat(m.UserEdits(), m.ByUser, ignored), func(file string) bool { return slices.Contains(own, file) })
		inspection.OutsideChanges = firstN(others, maxListedFiles)
	}
	if r.Verify != nil {
		for _, file := range r.Verify.ChangedSettings() {
			inspection.Remarks = append(inspection.Remarks, file+" has changed since the first turn; clean checkouts have the old one")
		}
	}
	return nil
}

// restoreGitConfig restores git's configuration before git reads the work tree, since a filter
// of the agent could show another tree. It returns the other changed files. In a user's session
// it restores nothing, as with all protected files.
func (r *Runner) restoreGitConfig(ctx context.Context, changed []string, m memory.ActionContext, inspection *loop.Inspection) ([]string, error) {
	var restore, rest []string
	for _, path := range changed {
		if protected.InGitDir(path) && !r.inSession && !m.MayChangeInput(path) && r.isByAgent(path, m) {
			restore = append(restore, path)
		} else {
			rest = append(rest, path)
		}
	}
	inspection.Tampered = append(inspection.Tampered, restore...)
	accepted := slices.Collect(maps.Keys(m.Attribution.AcceptedChanges)) // until now
	if slices.ContainsFunc(append(accepted, changed...), protected.InGitDir) {
		if err := r.Repo.InvalidateIndexes(); err != nil {
			return nil, err
		}
	}
	return rest, r.writeGitConfig(ctx, restore)
}

// restoreGitConfigAtEnd restores git's configuration at the loop's end, since the last turn
// may not have been inspected.
func (r *Runner) restoreGitConfigAtEnd(ctx context.Context, m memory.ActionContext) error {
	changed, err := r.Protected.Changes(ctx)
	if err != nil {
		return fmt.Errorf("compare protected files: %w", err)
	}
	var inspection loop.Inspection
	_, err = r.restoreGitConfig(ctx, changed, m, &inspection)
	if len(inspection.Tampered) > 0 {
		r.enqueueNote(ctx, loop.Warning, "the agent changed git's settings; restored: "+strings.Join(inspection.Tampered, ", "))
	}
	return err
}

// writeGitConfig restores these files, and invalidates git's indexes: they may have cached
// wrong content.
func (r *Runner) writeGitConfig(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	if err := r.Protected.Restore(ctx, paths); err != nil {
		return fmt.Errorf("put back what git is told: %w", err)
	}
	return r.Repo.InvalidateIndexes()
}

// attributeProtected attributes changes of protected files. A change that no tool call can have
// made is the user's: it stays, and the file is protected as it is now.
func (r *Runner) attributeProtected(ctx context.Context, changed []string, m memory.ActionContext, inspection *loop.Inspection) error {
	for _, path := range changed {
		if m.MayChangeInput(path) && path != r.Spec.Plan {
			if err := r.Protected.AcceptChange(path); err != nil {
				return fmt.Errorf("keep the approved change of %s: %w", path, err)
			}
			continue
		}
		if r.isByAgent(path, m) {
			inspection.Tampered = append(inspection.Tampered, path)
			continue
		}
		remark := path + " was changed, but not by the agent: kept"
		if path == config.ProjectFile {
			remark += "; this loop keeps the settings that it began with, a new one reads the file"
		}
		inspection.Remarks = append(inspection.Remarks, remark)
		if path == r.Spec.Plan {
			if err := r.plan.AdoptUserEdit(ctx); err != nil {
				return err
			}
			continue
		}
		if err := r.Protected.AcceptChange(path); err != nil {
			return fmt.Errorf("keep the change of %s: %w", path, err)
		}
	}
	return nil
}

// restoreProtected restores protected files. It makes a checkpoint first, in case the change
// was the user's. In a user's session it only notes them: the agent is told to restore them.
func (r *Runner) restoreProtected(ctx context.Context, paths []string) error {
	why := "before protected files were restored"
	if r.inSession {
		why = "protected files were changed"
	}
	if !r.inSession {
		if err := r.writeGitConfig(ctx, slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !protected.InGitDir(p) })); err != nil {
			return err
		}
	}
	m := r.mem.ActionContext()
	if _, err := r.Repo.Checkpoint(ctx, r.Loop.ID, why, DoneTrailers(r.Loop.ID, m.Tasks)...); err != nil {
		return fmt.Errorf("checkpoint before restoring protected files: %w", err)
	}
	if r.inSession {
		r.note(loop.Warning, "the agent changed protected files; Pawl told it to restore them: "+strings.Join(paths, ", "))
		return nil
	}
	if slices.Contains(paths, r.Spec.Plan) {
		if err := r.plan.RestoreOverFolder(); err != nil {
			return err
		}
		paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == r.Spec.Plan })
	}
	if err := r.restoreTests(ctx, slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !r.isRejected(p, m) }), m); err != nil {
		return err
	}
	if err := r.Protected.Restore(ctx, paths); err != nil {
		return fmt.Errorf("restore protected files: %w", err)
	}
	return nil
}

// hasChanged reports whether the tree differs from the task's start, except for files that Pawl
// writes and files of the user.
func (r *Runner) hasChanged(ctx context.Context, now string, m memory.ActionContext) (bool, error) {
	diff, err := r.Repo.Diff(ctx, m.Start.Tree, now)
	if err != nil {
		return false, fmt.Errorf("compare the work tree with the task's start: %w", err)
	}
	marks := append(r.OwnFiles(), m.ExcludedFiles()...)
	for _, c := range diff {
		if !slices.Contains(marks, c.Path) {
			return true, nil
		}
	}
	return false, nil
}
