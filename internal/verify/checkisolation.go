package verify

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
)

// Unshown is a gate that tells something else in an isolated checkout than in the work
// tree: there nothing that it tells counts.
type Unshown struct {
	Gate string
	Why  string // what it said there, one line
	Do   string // what the user can do
}

// hasControl reports whether a gate runs in checkouts and told something in the work tree
// that its result there can be compared with: one that hangs here tells nothing, and would
// take its whole time limit there, too.
func hasControl(g gate.Gate, here gate.Result) bool {
	return !g.InWorkTree && !g.Pristine && here.Status != gate.Unknown && !here.TimedOut
}

// CheckIsolation finds the gates whose baseline an isolated checkout does not show, before
// the first turn. Where it does in a folder and not in a namespace (a container engine, a
// tool that needs more of the home), gates run by folder from then on.
func (v *Verifier) CheckIsolation(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]Unshown, error) {
	if v.Repo == nil {
		return nil, nil
	}
	seen, err := v.Baseline(ctx, tree, gates, logDir)
	if err != nil {
		return nil, err
	}
	if err := v.recordDependencies(ctx); err != nil {
		return nil, err
	}
	unshown, err := v.unshownByAnyMeans(ctx, gates, seen, runTarget{tree: tree, logDir: logDir, probe: gate.Control})
	if err != nil {
		return nil, err
	}
	var shown []string
	for i, g := range gates {
		if hasControl(g, seen[i]) && !slices.ContainsFunc(unshown, func(u Unshown) bool { return u.Gate == g.Name }) {
			shown = append(shown, g.Name)
		}
	}
	return unshown, writeState(v.shownFile(), shown)
}

// shownFile names the gates whose baseline an isolated checkout showed before the first turn.
func (v *Verifier) shownFile() string { return filepath.Join(v.Dir, "shown.json") }

// unshownByAnyMeans is unshown in a namespace, or else in a folder where more gates show
// their baseline so.
func (v *Verifier) unshownByAnyMeans(ctx context.Context, gates []gate.Gate, seen []gate.Result, w runTarget) (unshown []Unshown, err error) {
	err = v.noteOpened(func() (err error) {
		unshown, err = v.unshown(ctx, gates, seen, w)
		return err
	})
	if err != nil || len(unshown) == 0 || !v.inNamespace(ctx) {
		return unshown, err
	}
	namespace := v.namespace
	if err := v.runBy(ctx, &confine.Namespace{}); err != nil {
		return nil, err
	}
	byFolder, err := v.unshown(ctx, gates, seen, w)
	if err != nil {
		return nil, err
	}
	if len(byFolder) < len(unshown) {
		return byFolder, atomicfile.Write(v.byFolderFile(), nil, 0o600)
	}
	return unshown, v.runBy(ctx, namespace)
}

// byFolderFile says that this loop's gates run by folder.
func (v *Verifier) byFolderFile() string { return filepath.Join(v.Dir, "by-folder") }

// runBy has gates run in another namespace from now on, in a checkout made for it.
func (v *Verifier) runBy(ctx context.Context, n *confine.Namespace) error {
	if v.namespace = n; v.place == nil {
		return nil
	}
	return v.leave(ctx)
}

func (v *Verifier) unshown(ctx context.Context, gates []gate.Gate, seen []gate.Result, w runTarget) ([]Unshown, error) {
	var found []Unshown
	for i, g := range gates {
		if !hasControl(g, seen[i]) {
			continue
		}
		u := Unshown{Gate: g.Name, Do: deps.Setup("…") + " in pawl.toml makes checkouts ready; isolated = false on the gate has the work tree decide"}
		there, err := v.elsewhere(ctx, []gate.Gate{g}, w)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("look whether the isolated checkout works: %w", ctx.Err())
		case err != nil: // the place, not the gate
			u.Why = v.redactor.String(err.Error())
		case gate.Reproduces(there[0], seen[i]):
			continue
		case there[0].Reason != "":
			u.Why = there[0].Reason
		default:
			u.Why = fmt.Sprintf("%d of %d tests pass", there[0].Passed, seen[i].Passed)
		}
		found = append(found, u)
	}
	return found, nil
}
