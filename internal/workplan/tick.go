package workplan

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

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// Ticks are the changes of a commit to the user's plan: the checkboxes of its tasks, and the
// entry in the progress file. They are part of the commit. After it they are written to the
// work tree, so that each ticked task there has its commit.
type Ticks struct {
	Files         map[string][]byte // the new content, by path relative to the root
	UnappliedEdit string            // file with an edit of the plan that they overwrite
	plan          *planfile.File    // the frozen copy with the boxes ticked, nil if nothing is to be ticked
}

// PrepareTicks returns the ticks of a commit. It may be called repeatedly.
func (p *Plan) PrepareTicks(ctx context.Context, a loop.Commit, m memory.ActionContext) (Ticks, error) {
	ids := slices.DeleteFunc(slices.Clone(a.Tasks), func(id string) bool {
		t, _ := m.Tasks.Task(id)
		_, inPlan := p.Current().Task(id) // a user may have removed it
		return id == loop.FinalTask || t.IsOwn() || !inPlan
	})
	if p.Spec.Plan == "" || len(ids) == 0 {
		return Ticks{}, nil
	}
	aside, err := p.checkBeforeTick(ctx, m)
	if err != nil {
		return Ticks{}, err
	}
	f, err := p.frozen.Tick(ids...)
	if err != nil {
		return Ticks{}, fmt.Errorf("tick %s: %w", strings.Join(ids, ", "), err)
	}
	there, was := f, p.frozen
	if now, err := p.load(); err == nil && (p.InSession || !p.mayBeByAgent(m)) {
		// The user may have edited it while the gates ran; in their session it stays anyway.
		if there, err = now.Tick(ids...); err != nil || now.Plan().IsRenumbered(f.Plan()) {
			there = now
		}
		was = now
	}
	t := Ticks{plan: f, UnappliedEdit: aside, Files: there.ChangedFiles(p.Spec.Plan, was)}
	return t, p.addProgress(&t, a, m)
}

// checkBeforeTick handles an edit that was made since the last inspection, before Pawl writes the
// plan. It returns the file with an edit that the ticks would overwrite.
func (p *Plan) checkBeforeTick(ctx context.Context, m memory.ActionContext) (aside string, err error) {
	now, err := p.load()
	if err != nil || p.InSession || bytes.Equal(now.Text(), p.frozen.Text()) {
		return "", nil //nolint:nilerr // the next inspection reports it
	}
	if now.Plan().OnlyAddsTasks(p.frozen.Plan()) {
		f, err := p.withoutTicks(now)
		if err != nil {
			return "", err
		}
		return "", p.saveEdit(f, m)
	}
	if !p.mayBeByAgent(m) {
		return "", nil
	}
	return p.saveUnappliedEdit(ctx, now.Text(), now.Bytes(), true)
}

// addProgress adds the progress file of the plan's format, if there is one.
func (p *Plan) addProgress(t *Ticks, a loop.Commit, m memory.ActionContext) error {
	format := t.plan.Plan().Format
	path := planfile.ProgressFile(p.Path(), format)
	if path == "" {
		return nil
	}
	rel, err := filepath.Rel(p.Repo.Root(), path)
	if err != nil {
		return fmt.Errorf("place progress file: %w", err)
	}
	old, err := workfile.Read(p.Repo.Root(), filepath.ToSlash(rel), planfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workfile.ErrLink) { // a link may lead to anything
		return nil
	}
	if err != nil {
		return fmt.Errorf("read progress file: %w", err)
	}
	text := slices.Clip(old)
	for i, id := range a.Tasks {
		task, _ := m.Tasks.Task(id)
		entry := planfile.ProgressEntry(format, planfile.Entry{
			TaskID: task.ID, Title: task.Title, Iteration: m.Iteration, Time: m.ClaimGatedAt,
			Evidence: string(taskEvidence(a, m, i)),
		})
		if !bytes.Contains(old, bytes.TrimSpace(entry)) {
			text = append(text, entry...)
		}
	}
	isLast := !slices.ContainsFunc(m.Tasks, func(t loop.Task) bool { return t.Status != loop.Done && !slices.Contains(a.Tasks, t.ID) })
	if p.Spec.CompatFormat == statefile.FeatureListName && isLast && statefile.IsFeatureProgress(path) {
		text = statefile.CompleteProgress(path, text)
	}
	t.Files[filepath.ToSlash(rel)] = text
	return nil
}

// taskEvidence returns the evidence of the i-th task of a commit. The commit has the weakest of its
// tasks.
func taskEvidence(a loop.Commit, m memory.ActionContext, i int) gate.Evidence {
	if m.ClaimGates == nil {
		return a.Evidence
	}
	return m.ClaimGates.EvidenceFor(i)
}

// WriteTicks writes the ticks of a commit to the work tree and the frozen copy. It prepares
// them again, so that edits of the user stay that were made during the commit, which may wait
// for a passphrase.
func (p *Plan) WriteTicks(ctx context.Context, a loop.Commit, m memory.ActionContext) (aside string, err error) {
	t, err := p.PrepareTicks(ctx, a, m)
	if err != nil || t.plan == nil {
		return "", err
	}
	for _, path := range slices.Sorted(maps.Keys(t.Files)) {
		if err := workfile.Write(p.Repo.Root(), path, t.Files[path], 0o644); err != nil {
			return t.UnappliedEdit, fmt.Errorf("tick: %w", err)
		}
	}
	return t.UnappliedEdit, p.save(t.plan)
}
