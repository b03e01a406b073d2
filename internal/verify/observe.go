package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/work"
)

// observe finds out what is known without probes.
func (c *claim) observe(ctx context.Context) (err error) {
	c.seen = gate.Observation{
		Gates: c.Gates, WantedEvidence: c.WantedEvidence, NoRatchet: c.NoRatchet, Runs: map[gate.Probe]gate.Run{},
		Changed: c.withoutMarks(ctx, c.Tree) != c.withoutMarks(ctx, c.Base),
		Inputs:  gate.InputChanges{Allowed: c.AllowTestChanges},
	}
	if c.Repo != nil && c.seen.Changed {
		if err := c.removePythonCaches(ctx, c.Tree); err != nil {
			return err
		}
	}
	if err := c.Checkout.CompareDependencies(ctx); err != nil {
		return err
	}
	if c.seen.Clean.ReproducedAtStart, err = c.reproducedAtStart(); err != nil {
		return err
	}
	if c.seen.Baseline = c.KnownBaseline; c.seen.Baseline == nil {
		if c.seen.Baseline, err = c.Baseline(ctx, c.Base, c.Gates, c.LogDir); err != nil {
			return err
		}
	}
	if c.Repo != nil {
		if err := c.readChanges(ctx); err != nil {
			return fmt.Errorf("read the earlier tests: %w", err)
		}
		if c.signs, err = newInspection(ctx, c.Repo, c.signRequest(c.Base, c.Tree, c.Asked), c.changes); err != nil {
			return fmt.Errorf("look for signs: %w", err)
		}
	}
	if c.Repo != nil && c.seen.Changed {
		if err := c.inspect(ctx); err != nil {
			return err
		}
	}
	if c.seen.Now, err = c.cleanResults(ctx); err == nil && c.seen.Now == nil {
		c.seen.Now, err = c.claimResults(ctx, c.Gates, c.here())
	}
	if err == nil && c.Repo != nil && c.seen.StoppedReporting() {
		c.seen.Clean.ChangedIgnoredFiles, err = c.ChangedIgnoredFiles(ctx)
	}
	return err
}

// readChanges compares the claim's trees. It fails if git's trees or tests do not match their
// hashes: forged ones would show no change.
func (c *claim) readChanges(ctx context.Context) (err error) {
	if c.seen.Changed {
		if err := c.Repo.VerifyObjects(ctx, []string{c.Base, c.ProtectedTree, c.Tree}); err != nil {
			return err
		}
	}
	if c.changes, err = c.Repo.Diff(ctx, c.Base, c.Tree); err != nil || !c.seen.Changed {
		return err
	}
	if c.sinceProtected, err = c.Repo.Diff(ctx, c.ProtectedTree, c.Tree); err != nil {
		return err
	}
	c.work = c.workIn(c.changes)
	var blobs []string
	for _, ch := range slices.Concat(c.changes, c.sinceProtected) {
		for _, e := range []git.Entry{ch.From, ch.To} {
			if e.IsFile() && c.isTest(ch.Path) {
				blobs = append(blobs, e.ID)
			}
		}
	}
	_, err = c.Repo.Blobs(ctx, blobs)
	return err
}

// inspect reads the change: its tests and its work.
func (c *claim) inspect(ctx context.Context) (err error) {
	if c.tests, err = c.compareTests(ctx); err != nil {
		return fmt.Errorf("compare tests: %w", err)
	}
	t, o := c.tests, &c.seen
	o.Inputs.Changed, o.Inputs.WithheldTests, o.Inputs.RewrittenTests = t.old, t.withheld, t.rewritten
	o.Tests.New, o.Tests.InlineChanged = t.newOrChanged, t.inlineChanged
	red := slices.ContainsFunc(o.Baseline, func(b gate.Result) bool { return b.Status != gate.Pass })
	if !red { // otherwise they may be what the failing gate lacked
		o.Tests.New = slices.Concat(o.Tests.New, t.cases)
	}
	if len(t.old) > 0 {
		o.Inputs.Allowed = !slices.ContainsFunc(t.old, c.mayNotChange)
	}
	o.Tests.OldInlineChanged = t.oldInlineChanged || t.inlineMoved && red // a failed test may have moved
	o.Inputs.NonTests = slices.DeleteFunc(slices.Clone(t.old), c.isTest)
	o.Inputs.OwnNonTests = slices.DeleteFunc(slices.Clone(o.Inputs.NonTests), func(file string) bool { return !c.changedByTask(file) })
	o.Tests.NewData = slices.ContainsFunc(o.Tests.New, func(file string) bool { return !IsTest([]string{"**/*.go", "**/*." + sources()}, file) })
	if o.Inputs.RemovedTests, err = c.filesWithRemovedTests(ctx); err != nil {
		return fmt.Errorf("look for tests that are gone: %w", err)
	}
	return c.inspectWork(ctx)
}

// inspectWork reads the work: its functions and signs.
func (c *claim) inspectWork(ctx context.Context) error {
	o := &c.seen
	o.Work.ProgramChanged = slices.ContainsFunc(c.work, func(ch git.Change) bool { return !isDocument(ch.Path) })
	o.Work.TooManyPrograms = c.signs.tooMany
	if err := c.findCode(ctx); err != nil {
		return fmt.Errorf("check whether code changed: %w", err)
	}
	work, err := c.withoutHelpers(ctx, c.Tree, c.work)
	if err == nil {
		inputs := fileSet(c.tests.inputs)
		c.mutable = slices.DeleteFunc(slices.Clone(work), func(ch git.Change) bool { return inputs[ch.Path] })
		o.Mutation.Functions, o.Mutation.Possible, err = c.mutableFunctions(ctx, work)
	}
	if err != nil {
		return fmt.Errorf("look at the functions of the work: %w", err)
	}
	o.Mutation.Possible = o.Mutation.Possible || c.tests.inlineChanged && len(o.Mutation.Functions) > 0 // nothing else shows what their new tests prove
	if o.Tests.Added, err = c.addedTests(ctx); err != nil {
		return fmt.Errorf("look at the tests of the work: %w", err)
	}
	if o.Work.Unfinished, err = c.unfinished(ctx); err != nil {
		return fmt.Errorf("find what the task asks for: %w", err)
	}
	c.parameters = c.namedParameters()
	for _, p := range c.parameters {
		o.Mutation.Parameters = append(o.Mutation.Parameters, p.String())
	}
	if c.points, err = c.mutationPoints(ctx); err != nil {
		return fmt.Errorf("look for conditions and functions of the work: %w", err)
	}
	for _, p := range c.points {
		o.Mutation.Points = append(o.Mutation.Points, p.label)
	}
	if _, o.Work.Signs, err = c.neutralize(ctx, nil); err != nil {
		return fmt.Errorf("look for signs in the work: %w", err)
	}
	return nil
}

// findCode finds out whether anything but documents and comments changed.
func (c *claim) findCode(ctx context.Context) error {
	c.seen.Work.OnlyText = len(c.changes) > 0
	return eachText(ctx, c.Repo, c.changes, func(ch changedFile) error {
		c.seen.Work.OnlyText = c.seen.Work.OnlyText && (work.IsDocument(ch.Path) || sign.CommentsOnly(ch.Path, ch.before, ch.after))
		return nil
	})
}
