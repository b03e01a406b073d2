// Package workplan keeps the plan of a running loop. The plan is a file of the user's, which the
// user and the agent may edit at any time. So the loop works from a frozen copy in its folder, and
// each version of the file is compared with that copy:
//
//   - Checkboxes that the agent ticked are reset, and count as a claim. Those of the user count.
//   - New tasks become tasks of the loop, whoever added them.
//   - Any other edit of the user is adopted. One that may be the agent's is kept in a file of the
//     loop and is not applied, until the user accepts it.
//   - Edits by pawl plan change the file and the copy.
//   - A commit ticks its tasks in both.
//
// Whose an edit is, package attribution decides. How two versions differ is in core/plan.
package workplan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/attribution"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// Plan is the plan of a loop that this process owns. Only Settings may be called from any
// goroutine. A loop without a plan has an empty one.
type Plan struct {
	Options
	frozen *planfile.File  // as the user wrote it, with Pawl's marks; nil without a plan, and before Open
	reader planfile.Reader // reads both versions
	// settings are those after the user's last edit of the plan in this process.
	settings atomic.Pointer[record.PlanSettings]
}

// Options of a Plan.
type Options struct {
	Loop      *store.Loop
	Spec      record.Spec
	Repo      *git.Repo            // of the work tree
	InSession bool                 // a user's session has the loop
	Authors   *attribution.Tracker // says who may have edited the plan
	Note      func(ctx context.Context, level loop.Level, text string)
}

// New returns a Plan. Open must be called before all methods but OwnFiles.
func New(o Options) *Plan { return &Plan{Options: o} }

// Open reads the frozen copy, or creates it at the loop's start.
func (p *Plan) Open() error {
	if p.Spec.Plan == "" {
		return nil
	}
	data, err := readFrozen(p.Loop)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := p.load()
		if err != nil {
			return fmt.Errorf("freeze the plan: %w", err)
		}
		return p.save(f)
	}
	if err != nil {
		return err
	}
	if p.frozen, err = p.reader.Decode(p.Spec.Plan, data); err != nil {
		return fmt.Errorf("read the copy of the plan: %w", err)
	}
	return nil
}

// Frozen returns the frozen copy of a loop, for a process that does not own it. If the loop has not
// started, it returns the plan at path.
func Frozen(l *store.Loop, spec record.Spec, path string) (*planfile.File, error) {
	data, err := readFrozen(l)
	if errors.Is(err, fs.ErrNotExist) {
		return planfile.Load(path)
	}
	if err != nil {
		return nil, err
	}
	return planfile.Decode(spec.Plan, data)
}

func readFrozen(l *store.Loop) ([]byte, error) {
	data, err := atomicfile.Read(record.FrozenPlanPath(l), atomicfile.Large)
	if err != nil {
		return nil, fmt.Errorf("read the copy of the plan: %w", err)
	}
	return data, nil
}

// Current returns the frozen copy's content; without a plan, it has no tasks.
func (p *Plan) Current() plan.Plan {
	if p == nil || p.frozen == nil {
		return plan.Plan{}
	}
	return p.frozen.Plan()
}

// Settings returns what the user's plan says of its tasks by now.
func (p *Plan) Settings() record.PlanSettings {
	if settings := p.settings.Load(); settings != nil {
		return *settings
	}
	return p.Spec.PlanSettings
}

// Path returns the plan's absolute path, or "" without a plan.
func (p *Plan) Path() string { return p.Spec.PlanPath(p.Repo.Root()) }

// load reads the plan in the work tree. It follows no link: at the loop's start there was none.
func (p *Plan) load() (*planfile.File, error) {
	if err := p.checkLinks(); err != nil {
		return nil, err
	}
	return p.reader.Load(p.Path())
}

// checkLinks returns an error if the plan, a folder above it, or a file in it is a link.
func (p *Plan) checkLinks() error {
	names := []string{p.Spec.Plan}
	entries, _ := os.ReadDir(p.Path()) // none, if it is a file
	for _, e := range entries {
		names = append(names, path.Join(p.Spec.Plan, e.Name()))
	}
	for _, name := range names {
		if err := workfile.Check(p.Repo.Root(), name); err != nil {
			return fmt.Errorf("read the plan: %w", err)
		}
	}
	return nil
}

func (p *Plan) save(f *planfile.File) error {
	if err := atomicfile.Write(record.FrozenPlanPath(p.Loop), f.Bytes(), 0o600); err != nil {
		return fmt.Errorf("keep a copy of the plan: %w", err)
	}
	p.frozen = f
	return nil
}

// saveUserEdit saves a plan that the user edited: what it says of tasks counts from now on.
// The settings come first, so that an owner that dies between the two makes the edit again.
func (p *Plan) saveUserEdit(f *planfile.File) error {
	settings := p.Settings().Follow(p.frozen.Plan(), f.Plan())
	if err := record.SavePlanSettings(p.Loop, settings); err != nil {
		return err
	}
	p.settings.Store(&settings)
	return p.save(f)
}

// saveEdit saves a plan that the user edited, or maybe the agent.
func (p *Plan) saveEdit(f *planfile.File, m memory.ActionContext) error {
	if p.mayBeByAgent(m) {
		return p.save(f)
	}
	return p.saveUserEdit(f)
}

// mayBeByAgent reports whether a tool call may have changed the plan. For a plan in a folder a call
// that names the parent counts too: backlog, for backlog/tasks, is also the name of the program
// that edits it.
func (p *Plan) mayBeByAgent(m memory.ActionContext) bool {
	path := p.Path()
	if len(p.frozen.Files(path)) > 1 {
		return p.Authors.MayBeAgents(m, path, filepath.Dir(path))
	}
	return p.Authors.MayBeAgents(m, path)
}

// withoutTicks returns a version of the plan without the checkboxes that were ticked since the
// frozen copy.
func (p *Plan) withoutTicks(now *planfile.File) (*planfile.File, error) {
	return untick(now, now.Plan().TickedSince(p.frozen.Plan()))
}

func untick(f *planfile.File, ids []string) (*planfile.File, error) {
	f, err := f.Untick(ids...)
	if err != nil {
		return nil, fmt.Errorf("take marks out of the plan: %w", err)
	}
	return f, nil
}

// Restore writes the frozen copy to the work tree, in place of anything but a folder.
func (p *Plan) Restore() error {
	if err := planfile.WriteBelow(p.Repo.Root(), p.Spec.Plan, p.frozen); err != nil {
		return fmt.Errorf("put the plan back: %w", err)
	}
	return nil
}

// RestoreOverFolder is Restore, also in place of a folder. A checkpoint must have what the folder holds.
func (p *Plan) RestoreOverFolder() error {
	_, isFile := p.frozen.Files(p.Spec.Plan)[p.Spec.Plan]
	if info, err := workfile.Lstat(p.Repo.Root(), p.Spec.Plan); isFile && err == nil && info.IsDir() {
		if err := workfile.RemoveAll(p.Repo.Root(), p.Spec.Plan); err != nil {
			return fmt.Errorf("put the plan back: %w", err)
		}
	}
	return p.Restore()
}

// OwnFiles returns the files that Pawl writes for the plan, relative to the work tree's root: the
// plan and its progress file. It may be called without Open.
func (p *Plan) OwnFiles() []string {
	if p.Spec.Plan == "" {
		return nil
	}
	paths := []string{p.Spec.Plan}
	if p.frozen != nil {
		paths = append(paths, slices.Sorted(maps.Keys(p.frozen.Files(p.Spec.Plan)))...)
	}
	f, err := p.load()
	if err != nil {
		return paths
	}
	paths = append(paths, slices.Sorted(maps.Keys(f.Files(p.Spec.Plan)))...)
	if progress := planfile.ProgressFile(p.Path(), f.Plan().Format); progress != "" {
		if rel, err := filepath.Rel(p.Repo.Root(), progress); err == nil {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}
