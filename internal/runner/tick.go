package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// ticks are the changes of a commit to the user's plan: the checkboxes of its tasks, and the
// entry in the progress file. They are part of the commit. After it they are written to the
// work tree, so that each ticked task there has its commit.
type ticks struct {
	plan          *planfile.File    // the frozen plan with the boxes ticked, nil if nothing is to be ticked
	files         map[string][]byte // the new content, by path relative to the root
	unappliedEdit string            // file with an edit of the plan that they overwrite
}

// prepareTicks returns the ticks of a commit. It may be called repeatedly.
func (r *Runner) prepareTicks(ctx context.Context, a loop.Commit, m memory.ActionContext) (ticks, error) {
	ids := slices.DeleteFunc(slices.Clone(a.Tasks), func(id string) bool {
		t, _ := m.Tasks.Task(id)
		return id == loop.FinalTask || t.IsOwn()
	})
	if r.Spec.Plan == "" || len(ids) == 0 {
		return ticks{}, nil
	}
	aside, err := r.checkPlanBeforeTick(ctx, m)
	if err != nil {
		return ticks{}, err
	}
	f, err := r.plan.Tick(ids...)
	if err != nil {
		return ticks{}, fmt.Errorf("tick %s: %w", strings.Join(ids, ", "), err)
	}
	there, was := f, r.plan
	if now, err := r.plans.Load(r.planPath()); err == nil && (r.inSession || !r.mayAgentHaveEditedPlan(m)) {
		// The user may have edited it while the gates ran; in their session it stays anyway.
		if there, err = now.Tick(ids...); err != nil || isRenumbered(f.Plan(), now.Plan()) {
			there = now
		}
		was = now
	}
	t := ticks{plan: f, unappliedEdit: aside, files: there.ChangedFiles(r.Spec.Plan, was)}
	return t, r.addProgress(&t, a, m)
}

// addProgress adds the progress file of the plan's format, if there is one.
func (r *Runner) addProgress(t *ticks, a loop.Commit, m memory.ActionContext) error {
	format := t.plan.Plan().Format
	path := planfile.ProgressFile(r.planPath(), format)
	if path == "" {
		return nil
	}
	old, err := atomicfile.Read(path, planfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read progress file: %w", err)
	}
	text := slices.Clip(old)
	for _, id := range a.Tasks {
		task, _ := m.Tasks.Task(id)
		entry := planfile.ProgressEntry(format, planfile.Entry{
			TaskID: task.ID, Title: task.Title, Iteration: m.Iteration, Time: m.ClaimGatedAt,
			Evidence: string(a.Evidence),
		})
		if !bytes.Contains(old, bytes.TrimSpace(entry)) {
			text = append(text, entry...)
		}
	}
	if r.Spec.CompatFormat == statefile.FeatureListName && !slices.ContainsFunc(withDone(m.Tasks, a.Tasks), func(t loop.Task) bool { return t.Status != loop.Done }) {
		text = statefile.CompleteProgress(path, text)
	}
	rel, err := filepath.Rel(r.Repo.Root(), path)
	if err != nil {
		return fmt.Errorf("place progress file: %w", err)
	}
	t.files[filepath.ToSlash(rel)] = text
	return nil
}

// treeWithTicks returns the gated tree with the ticks and the current version of Pawl's other
// files.
func (r *Runner) treeWithTicks(ctx context.Context, tree string, t ticks) (string, error) {
	own := r.files().OwnPaths()
	if tree == "" || len(own) > 0 {
		now, _, err := r.Repo.Resnapshot(ctx)
		if err != nil {
			return "", err
		}
		if tree == "" {
			tree = now
		}
		if tree, err = r.Repo.Overlay(ctx, tree, now, own); err != nil {
			return "", err
		}
	}
	return r.Repo.WithContent(ctx, tree, t.files)
}

// writeTicks writes the ticks of a commit to the work tree and the frozen plan. It prepares
// them again, so that edits of the user stay that were made during the commit, which may wait
// for a passphrase.
func (r *Runner) writeTicks(ctx context.Context, a loop.Commit, m memory.ActionContext) (aside string, err error) {
	t, err := r.prepareTicks(ctx, a, m)
	if err != nil || t.plan == nil {
		return "", err
	}
	for _, path := range slices.Sorted(maps.Keys(t.files)) {
		if err := atomicfile.Write(filepath.Join(r.Repo.Root(), filepath.FromSlash(path)), t.files[path], 0o644); err != nil {
			return t.unappliedEdit, fmt.Errorf("tick: %w", err)
		}
	}
	return t.unappliedEdit, r.savePlan(t.plan)
}
