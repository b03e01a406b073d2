package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
)

// observe returns what is known without probes.
func (v *Verifier) observe(ctx context.Context, r Request) (gate.Observation, error) {
	o := gate.Observation{
		Gates: r.Gates, WantedEvidence: r.WantedEvidence, Changed: v.withoutMarks(ctx, r.Tree) != v.withoutMarks(ctx, r.Base), AllowTestChanges: r.AllowTestChanges, NoRatchet: r.NoRatchet,
		Runs: map[gate.Probe]gate.Run{},
	}
	if v.Repo != nil && o.Changed {
		if err := v.removePythonCaches(ctx, r.Tree); err != nil {
			return o, err
		}
	}
	if err := v.recordDependencies(ctx); err != nil {
		return o, err
	}
	_, err := readState(v.reproducedFile(), &o.ReproducedAtStart)
	if err != nil {
		return o, err
	}
	if o.Baseline = r.KnownBaseline; o.Baseline == nil {
		if o.Baseline, err = v.Baseline(ctx, r.Base, r.Gates, r.LogDir); err != nil {
			return o, err
		}
	}
	if v.Repo != nil && o.Changed {
		if err := v.verifyObjects(ctx, r); err != nil {
			return o, fmt.Errorf("look at the tests of before: %w", err)
		}
		if err := v.inspect(ctx, r, &o); err != nil {
			return o, err
		}
	}
	if o.Now, err = v.cleanResults(ctx, r, &o); err == nil && o.Now == nil {
		o.Now, err = v.claimResults(ctx, r.Gates, runTarget{root: v.Root, tree: r.Tree, logDir: r.LogDir})
	}
	if err == nil && v.Repo != nil && o.StoppedReporting() {
		o.ChangedIgnoredFiles, err = v.ChangedIgnoredFiles(ctx)
	}
	return o, err
}

// inspect reads the change: its tests, functions and signs.
func (v *Verifier) inspect(ctx context.Context, r Request, o *gate.Observation) error {
	tests, err := v.compareTests(ctx, r)
	if err != nil {
		return fmt.Errorf("compare tests: %w", err)
	}
	red := slices.ContainsFunc(o.Baseline, func(b gate.Result) bool { return b.Status != gate.Pass })
	if !red { // otherwise they may be what the failing gate lacked
		tests.newOrChanged = slices.Concat(tests.newOrChanged, tests.cases)
	}
	if len(tests.old) > 0 {
		o.AllowTestChanges = !slices.ContainsFunc(tests.old, mayNotChange(r))
	}
	o.ChangedInputs, o.WithheldTests, o.NewTests, o.InlineTestsChanged = tests.old, tests.withheld, tests.newOrChanged, tests.inlineChanged
	o.OldInlineTestsChanged, o.CanaryPossible, o.ValuesReplaceable = tests.oldInlineChanged || tests.inlineMoved && red, true, true // a failed test may have moved
	o.ChangedNonTests = slices.DeleteFunc(slices.Clone(tests.old), v.isTest)
	if o.RemovedTests, err = v.filesWithRemovedTests(ctx, r, tests.old); err != nil {
		return fmt.Errorf("look for tests that are gone: %w", err)
	}
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return fmt.Errorf("compare the work: %w", err)
	}
	lacking, err := inspection{repo: v.Repo, r: v.signRequest(r.Base, r.Tree, r.Asked), changes: changes}.missingMeans(ctx)
	for _, s := range lacking {
		o.MissingMeans = append(o.MissingMeans, s.Path+" "+s.Does)
	}
	if err != nil {
		return fmt.Errorf("look for what the task asks for: %w", err)
	}
	o.ProgramChanged = slices.ContainsFunc(changes, func(c git.Change) bool { return !v.isTest(c.Path) && !v.isMark(c.Path) && !isDocument(c.Path) })
	if o.ChangedFunctions, o.CanMutate, err = v.mutableFunctions(ctx, r); err != nil {
		return fmt.Errorf("look at the functions of the work: %w", err)
	}
	o.CanMutate = o.CanMutate || tests.inlineChanged && len(o.ChangedFunctions) > 0 // nothing else shows what their new tests prove
	if o.AddedTests, err = v.addedTests(ctx, r, tests.newOrChanged); err == nil {
		err = v.findUnfinished(ctx, r, o)
	}
	if err != nil {
		return fmt.Errorf("look at the tests of the work: %w", err)
	}
	named, _, err := v.namedParameters(ctx, r)
	for _, p := range named {
		o.NewParameters = append(o.NewParameters, p.String())
	}
	if err != nil {
		return fmt.Errorf("look for parameters that the task names: %w", err)
	}
	pieces, err := v.mutationPoints(ctx, r)
	for _, p := range pieces {
		o.MutationPoints = append(o.MutationPoints, p.label)
	}
	if err != nil {
		return fmt.Errorf("look for conditions and functions of the work: %w", err)
	}
	n, err := v.neutralize(ctx, r, nil)
	if o.Signs, o.HardcodedAnswers = n.names, n.hardcoded; err != nil {
		return fmt.Errorf("look for signs in the work: %w", err)
	}
	o.NewTestData = slices.ContainsFunc(tests.newOrChanged, func(file string) bool { return !IsTest([]string{"**/*.go", "**/*." + sources()}, file) })
	return nil
}
