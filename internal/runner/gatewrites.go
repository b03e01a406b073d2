package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/verify"
)

// The tree of a claim must not change while the gates run. A gate that writes to a tracked
// file once, as a formatter does, is no problem. With one that does so in every run no claim
// can pass, so such a gate is reported before the first turn. So is one that deletes a tracked
// file: the first commit would delete it, as if the agent had.

// checkGateWrites finds out what the gates wrote if tracked files changed while they ran: it may have been
// the user. So each gate runs again in a checkout of the tree before. What none changes there is the user's.
// A gate that also changes its own result makes the gates' result unknown, and what gates changed is
// restored. If a gate can only run in the work tree, nobody can tell, so nothing is restored.
func (r *Runner) checkGateWrites(ctx context.Context, g loop.Gates, m memory.ActionContext, dir string) (loop.Gates, error) {
	if r.Repo == nil || r.inSession || !m.BeforeFirstTurn {
		return g, nil
	}
	before := m.Start.InWorkTree()
	tree, changes, err := r.changedByGates(ctx, before, m)
	if err != nil || len(changes) == 0 {
		return g, err
	}
	first := git.Paths(changes)
	w := &gateWrites{Runner: r, gates: gate.Due(r.Spec.Gates, gate.Final), changed: first, dir: dir, known: true}
	byGates, err := w.on(ctx, before)
	if err != nil {
		return g, err
	}
	if w.known {
		r.authors.NotByGates(slices.DeleteFunc(slices.Clone(first), func(file string) bool { return slices.Contains(byGates, file) }))
	}
	if len(byGates) == 0 {
		return g, nil
	}
	deleted := git.Paths(slices.DeleteFunc(changes, func(c git.Change) bool { return c.Status != 'D' }))
	if tree, err = r.Repo.Overlay(ctx, tree, before, deleted); err != nil {
		return g, fmt.Errorf("restore what was deleted while the gates ran: %w", err)
	}
	again, err := w.on(ctx, tree)
	if again = slices.DeleteFunc(again, func(file string) bool { return !slices.Contains(byGates, file) }); err != nil || len(again) == 0 {
		return g, err
	}
	g.Status, g.Green, g.ChangesTrackedFiles = gate.Unknown, false, true
	g.Reason = fmt.Sprintf("%s changes files that git tracks, in every run: %s", w.last, plan.Few(again, 5))
	if !w.known {
		return g, nil
	}
	return g, r.restorePaths(ctx, before, byGates)
}

// editedDuringGates reports whether the user edited tracked files of the work tree while gates ran there
// on a tree, and tells the attribution which. What no gate changes in a checkout of that tree is the
// user's. Files that the agent has edited stay the agent's, so they alone need no such run.
func (r *Runner) editedDuringGates(ctx context.Context, m memory.ActionContext, head string, q verify.Request, after string) (bool, error) {
	if r.Spec.NoCommit || after == q.Tree {
		return false, nil
	}
	diff, err := r.Repo.Diff(ctx, q.Tree, after)
	if err != nil {
		return false, fmt.Errorf("compare with the tree before the gates: %w", err)
	}
	changed := git.Paths(r.trackedChanges(diff, m))
	if !slices.ContainsFunc(changed, func(file string) bool { return !r.authors.IsAgentEdit(file) }) {
		return false, nil
	}
	if now, err := r.Repo.Head(ctx); err != nil || now != head {
		return false, err // a checkout, a reset or a commit wrote them
	}
	began := time.Now()
	w := &gateWrites{Runner: r, gates: q.Gates, changed: changed, dir: q.LogDir, known: true}
	byGates, err := w.on(ctx, q.Tree)
	if _, failed := r.recordGates(began); err == nil {
		err = failed
	}
	if err != nil || !w.known {
		return false, err
	}
	edited := slices.DeleteFunc(changed, func(file string) bool { return slices.Contains(byGates, file) })
	return r.authors.NotByGates(edited), nil
}

// attributeAfterBaseline attributes what changed since the loop's base, now, since in the turn the
// agent's commands may write the same files.
func (r *Runner) attributeAfterBaseline(ctx context.Context, m memory.ActionContext, dir string) error {
	tree := r.previousTree()
	if tree == "" && !m.BeforeFirstTurn && !r.Spec.NoCommit { // gates ran
		var err error
		if tree, _, err = r.Repo.Resnapshot(ctx); err != nil {
			return err
		}
		q := verify.Request{Tree: m.Start.InWorkTree(), Gates: gate.Due(r.Spec.Gates, gate.Final), LogDir: dir}
		if _, err := r.editedDuringGates(ctx, m, m.Base.Commit, q, tree); err != nil {
			return err
		}
	}
	_, err := r.attributeChanges(ctx, m, tree)
	return err
}

// gateWrites finds out which of the changed files gates write.
type gateWrites struct {
	*Runner
	gates   []gate.Gate
	changed []string
	dir     string
	known   bool   // each gate could run in a checkout
	last    string // the last gate that wrote one
}

// on runs each gate on a tree and returns the changed files that it writes.
func (w *gateWrites) on(ctx context.Context, tree string) (files []string, err error) {
	for _, due := range w.gates {
		wrote, known, err := w.Verify.ChangesTracked(ctx, tree, due, w.dir)
		if err != nil {
			return nil, fmt.Errorf("run gate %s once more: %w", due.Name, err)
		}
		w.known = w.known && known
		for _, file := range wrote {
			if slices.Contains(w.changed, file) && !slices.Contains(files, file) {
				files, w.last = append(files, file), due.Name
			}
		}
	}
	return files, nil
}

// restorePaths restores files of the work tree as they are in another tree.
func (r *Runner) restorePaths(ctx context.Context, from string, files []string) error {
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return err
	}
	original, err := r.Repo.Overlay(ctx, now, from, files)
	if err == nil {
		_, err = r.restoreFiles(ctx, original, r.OwnFiles())
	}
	return err
}

// changedByGates returns the tree as it is, and the changes of tracked files since one of before.
func (r *Runner) changedByGates(ctx context.Context, before string, m memory.ActionContext) (now string, changed []git.Change, err error) {
	if now, _, err = r.Repo.Resnapshot(ctx); err != nil {
		return "", nil, err
	}
	if now == before {
		return now, nil, nil
	}
	diff, err := r.Repo.Diff(ctx, before, now)
	if err != nil {
		return "", nil, fmt.Errorf("compare with the tree before the gates: %w", err)
	}
	return now, r.trackedChanges(diff, m), nil
}

// trackedChanges returns the changes of tracked files that are neither Pawl's nor known to be the user's.
func (r *Runner) trackedChanges(diff []git.Change, m memory.ActionContext) []git.Change {
	others := append(r.OwnFiles(), m.ExcludedFiles()...)
	return slices.DeleteFunc(diff, func(c git.Change) bool { return c.Status == 'A' || slices.Contains(others, c.Path) })
}
