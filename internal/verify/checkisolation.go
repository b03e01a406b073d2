package verify

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/checkout"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/failure"
)

// IrreproducibleGate is a gate whose result in an isolated checkout differs from the work tree's.
// Its results there do not count.
type IrreproducibleGate struct {
	Gate   string
	Why    string // its result in the checkout, one line
	Remedy string // what the user can do
}

// isComparable reports whether a gate runs in checkouts and has a work tree result to compare. A
// gate that timed out would use its whole limit there too.
func isComparable(g gate.Gate, here gate.Result) bool {
	return !g.InWorkTree && !g.Pristine && here.Status != gate.Unknown && !here.TimedOut
}

// CheckIsolation returns the gates that an isolated checkout does not reproduce, before the first
// turn. If a checkout without namespaces reproduces more, gates use that from then on (a container
// engine, a tool that needs more of the home).
func (v *Verifier) CheckIsolation(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]IrreproducibleGate, error) {
	if v.Repo == nil {
		return nil, nil
	}
	seen, err := v.Baseline(ctx, tree, gates, logDir)
	if err != nil {
		return nil, err
	}
	if err := v.Checkout.CompareDependencies(ctx); err != nil {
		return nil, err
	}
	unshown, err := v.irreproducibleInBestMode(ctx, gates, seen, runTarget{tree: tree, logDir: logDir, probe: gate.Control})
	if err != nil {
		return nil, err
	}
	var shown []string
	for i, g := range gates {
		if isComparable(g, seen[i]) && !slices.ContainsFunc(unshown, func(u IrreproducibleGate) bool { return u.Gate == g.Name }) {
			shown = append(shown, g.Name)
		}
	}
	return unshown, checkout.WriteRecord(v.reproducedFile(), shown)
}

// reproducedFile lists the gates that an isolated checkout reproduced before the first turn.
func (v *Verifier) reproducedFile() string { return filepath.Join(v.Dir, "shown.json") }

func (v *Verifier) reproducedAtStart() (gates []string, err error) {
	_, err = checkout.ReadRecord(v.reproducedFile(), &gates)
	return gates, err
}

// irreproducibleInBestMode calls irreproducible in a namespace, and then without one if that
// reproduces more gates.
func (v *Verifier) irreproducibleInBestMode(ctx context.Context, gates []gate.Gate, seen []gate.Result, w runTarget) (unshown []IrreproducibleGate, err error) {
	err = v.Checkout.RecordOpened(func() (err error) {
		unshown, err = v.irreproducible(ctx, gates, seen, w, true)
		return err
	})
	if err != nil || len(unshown) == 0 || !v.Checkout.InNamespace(ctx) {
		return unshown, err
	}
	if err := v.Checkout.UseNamespace(ctx, false); err != nil {
		return nil, err
	}
	byFolder, err := v.irreproducible(ctx, gates, seen, w, false)
	if err != nil {
		return nil, err
	}
	if len(byFolder) < len(unshown) {
		return byFolder, v.Checkout.DisableNamespace()
	}
	return unshown, v.Checkout.UseNamespace(ctx, true)
}

// irreproducible returns the gates whose result in a checkout differs from the seen one. repeat runs such a
// gate once more there: a flaky one may show the same result the next time.
func (v *Verifier) irreproducible(ctx context.Context, gates []gate.Gate, seen []gate.Result, w runTarget, repeat bool) ([]IrreproducibleGate, error) {
	var found []IrreproducibleGate
	for i, g := range gates {
		if !isComparable(g, seen[i]) {
			continue
		}
		there, err := v.runInCheckout(ctx, []gate.Gate{g}, w)
		if err == nil && !gate.Reproduces(there[0], seen[i]) && repeat {
			again := w
			again.uncached = true
			there, err = v.runInCheckout(ctx, []gate.Gate{g}, again)
		}
		if err == nil && gate.Reproduces(there[0], seen[i]) {
			continue
		}
		u := IrreproducibleGate{Gate: g.Name, Remedy: v.isolationRemedy(ctx, g)}
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("check whether the isolated checkout works: %w", ctx.Err())
		case err != nil: // the place, not the gate
			u.Why, u.Remedy = v.redactor.String(err.Error()), cmp.Or(failure.Hint(err), u.Remedy)
		case there[0].Reason == gate.DiskFull:
			u.Why, u.Remedy = there[0].Reason, "Free some space"
		case there[0].Reason != "":
			u.Why = there[0].Reason
		default:
			u.Why = fmt.Sprintf("%d of %d tests pass", there[0].Passed, seen[i].Passed)
		}
		found = append(found, u)
	}
	return found, nil
}

// maxLacking bounds the ignored files that a remedy names.
const maxLacking = 3

// isolationRemedy says how a checkout gets what a gate needs: its own program, if git ignores that. Else
// it names the first ignored files that checkouts lack: one of them, often .env, may be what the gate
// misses.
func (v *Verifier) isolationRemedy(ctx context.Context, g gate.Gate) string {
	if path := v.ignoredProgram(ctx, g); path != "" {
		return "git ignores " + path + ": with  echo '" + path + "' >> .worktreeinclude  checkouts get it, from the next claim on; isolated = false on the gate uses the work tree instead"
	}
	lacking, err := v.Repo.NotIncluded(ctx)
	named := ""
	if err == nil && len(lacking) > 0 {
		named = " (they lack " + plan.OneLine(strings.Join(lacking[:min(len(lacking), maxLacking)], ", "), 100)
		if more := len(lacking) - maxLacking; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		named += ", which git ignores)"
	}
	return deps.Setup(cmp.Or(deps.Submodules(v.Repo.Root()), "…")) + " prepares checkouts, .worktreeinclude names untracked files that they need" + named +
		"; isolated = false on the gate uses the work tree instead"
}

// ignoredProgram returns the program, or the folder of programs, that git ignores, the gate's command
// names and the checkout lacks, or "".
func (v *Verifier) ignoredProgram(ctx context.Context, g gate.Gate) string {
	ignored, err := v.Repo.Ignored(ctx)
	below, failed := filepath.Rel(v.Repo.Root(), filepath.Join(v.Root, filepath.FromSlash(g.Dir)))
	if err != nil || failed != nil {
		return ""
	}
	for _, word := range deps.Words(g) {
		named := path.Join(filepath.ToSlash(below), filepath.ToSlash(word))
		info, err := os.Stat(filepath.Join(v.Repo.Root(), filepath.FromSlash(named)))
		if err != nil || !info.Mode().IsRegular() || !v.Checkout.Lacks(named) {
			continue
		}
		for _, file := range ignored {
			folder, isFolder := strings.CutSuffix(file, "/")
			if isFolder && strings.HasPrefix(named, file) && !deps.IsFolder(path.Base(folder)) || named == file && info.Mode()&0o111 != 0 {
				return file
			}
		}
	}
	return ""
}
