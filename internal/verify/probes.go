package verify

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/work"
)

// probe says how a probe runs: its gates on a tree in a checkout, or by a function of its own.
type probe struct {
	tree func(context.Context) (string, error)
	run  func(context.Context, runTarget, []gate.Gate) (gate.Run, error)
	// mayHang: it runs mutated code or tests, or new tests on old code. Any of these may loop forever.
	mayHang bool
	repeat  bool // a second result is wanted
}

// probes returns all probes.
func (c *claim) probes() map[gate.Probe]probe {
	const mayHang, repeat = true, true
	return map[gate.Probe]probe{
		gate.Originals:        {c.originals, nil, false, false},
		gate.RepeatOriginals:  {c.originals, nil, false, repeat},
		gate.OriginalsBefore:  {c.originalsBefore, nil, false, false},
		gate.OriginalsOfTask:  {c.originalsOfTask, nil, false, false},
		gate.OriginalsControl: {c.treeNow, nil, false, false},
		gate.Control:          {c.treeBefore, nil, false, false},
		gate.Overlay:          {c.overlay, nil, mayHang, false},
		gate.RepeatOverlay:    {c.overlay, nil, mayHang, repeat},
		gate.SignsNeutralized: {c.withoutSigns, nil, mayHang, false},

		gate.RepeatBefore: {nil, c.repeatBefore, false, repeat},
		gate.RepeatClean:  {nil, c.repeatClean, false, repeat},
		gate.RepeatAfter:  {nil, c.repeatAfter, false, repeat},

		gate.Mutants:            {nil, c.runMutants, mayHang, false},
		gate.MutantsForNewTests: {nil, c.runMutants, mayHang, false},
		gate.ZeroParameters:     {nil, c.zeroParameters, mayHang, repeat},
		gate.SingleMutants:      {nil, c.runSingleMutants, mayHang, repeat},
		gate.SignsOneByOne:      {nil, c.neutralizeOneByOne, mayHang, repeat},

		gate.OtherExpected: {nil, c.runWithOtherValues, mayHang, repeat},
		gate.OtherInputs:   {nil, c.runWithOtherValues, mayHang, repeat},
		gate.MixedInputs:   {nil, c.runWithOtherValues, mayHang, repeat},
		gate.FailingTests:  {nil, c.runWithOtherValues, false, repeat},
		gate.Canary:        {nil, c.runCanary, false, false},
		gate.CanaryBefore:  {nil, c.runCanary, false, false},
	}
}

// runProbes runs all probes that the verdict needs.
func (c *claim) runProbes(ctx context.Context) error {
	for name, gates := gate.NextProbe(c.seen); name != "" && !c.GatesOnly; name, gates = gate.NextProbe(c.seen) {
		run, err := c.runProbe(ctx, name, gatesNamed(c.Gates, gates))
		run.Missing = c.Checkout.Missing()
		if ctx.Err() != nil {
			return fmt.Errorf("verify claim: %w", ctx.Err())
		}
		if err != nil { // the place, not the claim: then it could not be found out
			run = gate.Run{Problem: err.Error(), Missing: cmp.Or(failure.Hint(err), c.Checkout.Missing())}
		}
		c.seen.Runs[name] = run
	}
	return nil
}

// runProbe runs one probe.
func (c *claim) runProbe(ctx context.Context, name gate.Probe, gates []gate.Gate) (gate.Run, error) {
	p, known := c.probes()[name]
	if !known {
		return gate.Run{}, fmt.Errorf("there is no way to run the probe %s", name)
	}
	w := runTarget{root: c.Root, logDir: c.LogDir, probe: name, mayHang: p.mayHang, uncached: p.repeat}
	if p.mayHang {
		gates = c.withMutantTimeout(gates)
	}
	if p.run != nil {
		return p.run(ctx, w, gates)
	}
	var err error
	if w.tree, err = p.tree(ctx); err != nil {
		return gate.Run{}, err
	}
	return asRun(c.runNarrowed(ctx, w, gates))
}

// runNarrowed runs gates in a checkout, for the tests that the probe is about.
func (c *claim) runNarrowed(ctx context.Context, w runTarget, gates []gate.Gate) ([]gate.Result, error) {
	return narrow(c.Root, gates, c.seen.ProbeTests(w.probe), func(gates []gate.Gate) ([]gate.Result, error) { return c.runInCheckout(ctx, gates, w) })
}

// withMutantTimeout returns the gates with the time limit of mutants.
func (c *claim) withMutantTimeout(gates []gate.Gate) []gate.Gate {
	gates = slices.Clone(gates)
	for i, g := range gates {
		if gates[i].Timeout = gate.MutantTimeout(gateDuration(c.seen.Now, g.Name)); !c.seen.RanInCheckout(g.Name) {
			gates[i].Timeout = max(time.Minute, gates[i].Timeout) // nothing is built there yet
		}
	}
	return gates
}

func asRun(results []gate.Result, err error) (gate.Run, error) {
	return gate.Run{Results: results}, err
}

// maxNamed bounds the files named in a reason.
const maxNamed = 5

// originals returns the current tree with the old test files.
func (c *claim) originals(ctx context.Context) (string, error) {
	if inner := c.inSubmodule(c.seen.Inputs.Changed); len(inner) > 0 {
		return "", fmt.Errorf("there is no copy of tests in a submodule: %s", strings.Join(inner[:min(len(inner), maxNamed)], ", "))
	}
	tree, err := c.withFilesOf(ctx, c.Tree, c.Base, c.tests.sinceBase)
	if err != nil {
		return "", err
	}
	if tree, err = c.withFilesOf(ctx, tree, c.ProtectedTree, slices.Concat(c.tests.protected, c.locksOf(c.tests.protected))); err != nil {
		return "", err
	}
	return c.withAdapted(ctx, tree)
}

// locksOf returns the changed lock files beside these manifests. A manifest with the lock file of
// another version cannot be installed.
func (c *claim) locksOf(files []string) (locks []string) {
	for _, ch := range c.sinceProtected {
		beside := func(file string) bool { return work.IsManifest(file) && path.Dir(file) == path.Dir(ch.Path) }
		if work.IsLockFile(ch.Path) && slices.ContainsFunc(files, beside) && !slices.Contains(files, ch.Path) {
			locks = append(locks, ch.Path)
		}
	}
	return locks
}

func (c *claim) originalsOfTask(ctx context.Context) (string, error) {
	tree, err := c.withFilesOf(ctx, c.Tree, c.Base, slices.Concat(c.tests.sinceBase, c.tests.rewritten))
	if err != nil {
		return "", err
	}
	return c.withAdapted(ctx, tree)
}

func (c *claim) originalsBefore(ctx context.Context) (string, error) {
	return c.withFilesOf(ctx, c.Base, c.ProtectedTree, c.seen.Inputs.WithheldTests)
}

func (c *claim) treeNow(context.Context) (string, error)    { return c.Tree, nil }
func (c *claim) treeBefore(context.Context) (string, error) { return c.Base, nil }

// overlay returns the baseline tree with current tests and other gate inputs. It lacks only the
// work.
func (c *claim) overlay(ctx context.Context) (string, error) {
	tests := c.seen.Tests.New
	if c.seen.Inputs.Allowed { // those that are gone are to be gone
		tests = slices.Concat(tests, c.seen.Inputs.Changed)
	}
	c.discardBuildProducts()
	return c.Repo.Overlay(ctx, c.Base, c.Tree, slices.Concat(tests, c.tests.inputs))
}

// repeatAfter runs gates on the current tree in the work tree.
func (c *claim) repeatAfter(ctx context.Context, w runTarget, gates []gate.Gate) (gate.Run, error) {
	w.tree = c.Tree
	return asRun(narrow(c.Root, gates, c.seen.ProbeTests(w.probe), func(gates []gate.Gate) ([]gate.Result, error) { return c.runAll(ctx, gates, w) }))
}

// narrow runs gates for the given tests if their runners can, else whole. It also runs them whole
// if a narrowed run reports none of the tests. No ids means all tests.
func narrow(root string, gates []gate.Gate, ids []string, run func([]gate.Gate) ([]gate.Result, error)) ([]gate.Result, error) {
	few, narrowed := narrowToTests(root, gates, ids)
	results, err := run(few)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if !narrowed[r.Gate] || r.Status == gate.Unknown || r.BuildFailed || reportsAny(r, ids) {
			continue
		}
		whole, err := run(gates[i : i+1])
		if err != nil {
			return nil, err
		}
		results[i] = whole[0]
	}
	return results, nil
}

// narrowToTests returns the gates narrowed to tests, and the names of those that can be. It reads
// runner scripts below root.
func narrowToTests(root string, gates []gate.Gate, ids []string) ([]gate.Gate, map[string]bool) {
	few := slices.Clone(gates)
	narrowed := map[string]bool{}
	for i, g := range few {
		if command, ok := testreport.OnlyTests(g.ShellCommand(), ids, filesOf(g, root)); ok {
			few[i].Command, few[i].Argv = command, nil
			narrowed[g.Name] = true
		}
	}
	return few, narrowed
}

// gatesNamed returns the gates of these names.
func gatesNamed(gates []gate.Gate, names []string) []gate.Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return !slices.Contains(names, g.Name) })
}

// reportsAny reports whether a run reports some of the tests, or without IDs any test.
func reportsAny(r gate.Result, ids []string) bool {
	if len(r.Tests) == 0 {
		return r.Passed+r.Failed+len(r.Failing) > 0
	}
	for told := range r.Tests {
		if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(told, id) }) {
			return true
		}
	}
	return r.Status != gate.Pass // it may have been cut short
}
