package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
)

// freezePlan reads the frozen plan, or creates it at the loop's start.
func (r *Runner) freezePlan() error {
	if r.Spec.Plan == "" {
		return nil
	}
	data, err := atomicfile.Read(record.FrozenPlanPath(r.Loop), atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := r.plans.Load(r.planPath())
		if err != nil {
			return fmt.Errorf("freeze the plan: %w", err)
		}
		return r.savePlan(f)
	}
	if err != nil {
		return fmt.Errorf("read the copy of the plan: %w", err)
	}
	r.plan, err = r.plans.Decode(r.Spec.Plan, data)
	if err != nil {
		return fmt.Errorf("read the copy of the plan: %w", err)
	}
	return nil
}

func (r *Runner) savePlan(f *planfile.File) error {
	if err := atomicfile.Write(record.FrozenPlanPath(r.Loop), f.Bytes(), 0o600); err != nil {
		return fmt.Errorf("keep a copy of the plan: %w", err)
	}
	r.plan = f
	return nil
}

// saveUserPlan saves a plan that the user edited: what it says of tasks counts from now on.
// The settings come first, so that an owner that dies between the two makes the edit again.
func (r *Runner) saveUserPlan(f *planfile.File) error {
	settings := r.spec().Follow(r.plan.Plan(), f.Plan())
	if err := record.SavePlanSettings(r.Loop, settings); err != nil {
		return err
	}
	r.planSettings.Store(&settings)
	return r.savePlan(f)
}

// spec returns the spec with what the user's plan says of its tasks by now.
func (r *Runner) spec() record.Spec {
	s := r.Spec
	if settings := r.planSettings.Load(); settings != nil {
		s.PlanSettings = *settings
	}
	return s
}

// saveEditedPlan saves a plan that the user edited, or maybe the agent.
func (r *Runner) saveEditedPlan(f *planfile.File, m memory.ActionContext) error {
	if r.mayAgentHaveEditedPlan(m) {
		return r.savePlan(f)
	}
	return r.saveUserPlan(f)
}

// planInspection is the result of comparing the plan with the frozen plan.
type planInspection struct {
	tickedByAgent []string // tasks that the agent ticked: a claim
	tickedByUser  []string // tasks that the user ticked
	changed       bool     // more than checkboxes differ
	unappliedEdit string   // file with an edit that was not applied
}

// inspectPlan compares the plan with the frozen plan. Checkboxes that the agent may have
// ticked are reset; the user's stay.
func (r *Runner) inspectPlan(ctx context.Context, m memory.ActionContext) (planInspection, error) {
	if r.Spec.Plan == "" {
		return planInspection{}, nil
	}
	now, err := r.plans.Load(r.planPath())
	if err != nil {
		return r.handleUnreadablePlan(ctx, m)
	}
	if bytes.Equal(now.Bytes(), r.plan.Bytes()) {
		return planInspection{}, nil
	}
	if !bytes.Equal(now.Text(), r.plan.Text()) {
		return r.handlePlanEdit(ctx, now, m)
	}
	ticked := tickedSince(r.plan, now)
	if r.mayAgentHaveEditedPlan(m) {
		return planInspection{tickedByAgent: ticked}, r.restorePlan()
	}
	return planInspection{tickedByUser: ticked}, r.savePlan(now)
}

// mayAgentHaveEditedPlan reports whether a tool call may have changed the plan. For a plan in
// a folder a call that names the parent counts too: backlog, for backlog/tasks, is also the
// name of the program that edits it.
func (r *Runner) mayAgentHaveEditedPlan(m memory.ActionContext) bool {
	path := r.planPath()
	if len(r.plan.Files(path)) > 1 {
		return r.authors.MayBeAgents(m, path, filepath.Dir(path))
	}
	return r.authors.MayBeAgents(m, path)
}

// restorePlan writes the frozen plan to the work tree.
func (r *Runner) restorePlan() error {
	r.lastSnapshot.Store(nil)
	const pipes = fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice // these cannot be replaced by a file
	if info, err := os.Lstat(r.planPath()); err == nil && info.Mode()&pipes != 0 {
		if err := os.Remove(r.planPath()); err != nil {
			return fmt.Errorf("put the plan back: %w", err)
		}
	}
	if err := planfile.Write(r.planPath(), r.plan); err != nil {
		return fmt.Errorf("put the plan back: %w", err)
	}
	return nil
}

// adoptPlan freezes the current plan: the user changed it. New tasks become tasks of the loop.
func (r *Runner) adoptPlan(ctx context.Context) error {
	f, err := r.plans.Load(r.planPath())
	if err != nil {
		r.enqueueNote(ctx, loop.Warning, "the plan was changed and cannot be read any more; its last good version is put back: "+err.Error())
		return r.restorePlan()
	}
	return r.saveUserPlan(f)
}

// planPath returns the plan's absolute path, or "" without a plan.
func (r *Runner) planPath() string {
	if r.Spec.Plan == "" {
		return ""
	}
	return filepath.Join(r.Repo.Root(), filepath.FromSlash(r.Spec.Plan))
}

// OwnFiles returns the files that Pawl writes in the work tree, relative to its root: the
// plan, its progress file, and another tool's state files.
func (r *Runner) OwnFiles() []string {
	paths := r.files().OwnPaths()
	if r.Spec.Plan == "" {
		return paths
	}
	paths = append(paths, r.Spec.Plan)
	if r.plan != nil {
		paths = append(paths, slices.Sorted(maps.Keys(r.plan.Files(r.Spec.Plan)))...)
	}
	f, err := r.plans.Load(r.planPath())
	if err != nil {
		return paths
	}
	paths = append(paths, slices.Sorted(maps.Keys(f.Files(r.Spec.Plan)))...)
	if p := planfile.ProgressFile(r.planPath(), f.Plan().Format); p != "" {
		if rel, err := filepath.Rel(r.Repo.Root(), p); err == nil {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}
