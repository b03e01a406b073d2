package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/work"
)

// Request is a claim to be verified.
type Request struct {
	Gates []gate.Gate // the gates that are due
	Base  string      // the tree that the task started with
	// ProtectedTree holds the protected copies of the tests: the last unchanged or approved ones.
	// "" = Base.
	ProtectedTree string
	Tree          string // the current tree, which the work tree holds
	// KnownBaseline replaces the results of Base if they do not exist: a failure seen while the
	// loop ran.
	KnownBaseline    []gate.Result
	AllowTestChanges bool
	Work             []string // globs of files that are work whatever their names, see package work
	NoRatchet        bool     // tests that passed may disappear
	// Pending are tests that earlier tasks changed and that wait for approval. This claim takes
	// them as the task found them.
	Pending []string
	// MayChange reports whether a change of a test is approved; nil = never.
	MayChange      func(path string) bool
	Asked          string        // the text of the tasks: values in it need not come from the tests
	LogDir         string        // receives the gates' output, "" = nowhere
	WantedEvidence gate.Evidence // stronger evidence is not looked for, "" = proven
	GatesOnly      bool          // run no probes: only the gates' results are wanted
}

// Finding is the result of a claim.
type Finding struct {
	Verdict     gate.Verdict
	Observation gate.Observation
	// IfApproved is the verdict if the changes of old tests were approved; nil if that makes no
	// difference.
	IfApproved *gate.Verdict
	// NeededInputs is the smallest set found of changed gate inputs that the gates need, if the
	// verdict is NeedsChangedInputs.
	NeededInputs []string
	// PendingInputs are gate inputs that earlier tasks changed, that wait for approval and that the
	// gates need.
	PendingInputs []string
	// Changes are those of old tests, if their structure shows them.
	Changes []loop.TestChange
	// EarlierChanges are those of Changes that were made before the task began.
	EarlierChanges []loop.TestChange
	// ProtectedTexts maps tests to the text that later claims use: old tests that were weakened,
	// new ones that change old tests. nil = without the file.
	ProtectedTexts map[string][]byte
	// TreeAfter is the work tree after all gates ran. It differs from the request's Tree if a gate
	// wrote into it.
	TreeAfter string
	// Signs are lines of the work that a reviewer should read first.
	Signs []sign.Sign
	// UncommittedSubmodules contain work that no commit of this tree can contain.
	UncommittedSubmodules []string
}

// claim is one Request while it is verified. Its trees are compared once, before the gates run.
type claim struct {
	*Verifier
	Request

	seen           gate.Observation // what is known so far
	changes        []git.Change     // from Base to Tree
	sinceProtected []git.Change     // from ProtectedTree to Tree
	work           []git.Change     // the changes that are neither of tests nor of Pawl's own files
	mutable        []git.Change     // the work that mutants change: neither helpers of tests nor gate inputs
	tests          testChanges
	signs          *inspection
	parameters     []namedParameter // that the task names
	points         []mutationPoint  // in the order of trial

	own      []string                    // see ownFiles
	rules    func() (work.Rules, error)  // see workRules; few claims need it, nor those below
	declares func(name string) bool      // whether the program declares a name
	before   func() (*sign.Tests, error) // the tests of Base
	testText func() string               // of the new and changed tests
	adapted  []testdiff.Adapted          // replaces old tests, see allowRequestedChanges
}

func (v *Verifier) newClaim(ctx context.Context, r Request) *claim {
	r.ProtectedTree = cmp.Or(r.ProtectedTree, r.Base)
	c := &claim{Verifier: v, Request: r, own: v.ownFiles()}
	c.rules = sync.OnceValues(func() (work.Rules, error) { return c.workRules(ctx) })
	declares := sync.OnceValue(func() func(string) bool { return c.declaredIn(ctx) })
	c.declares = func(name string) bool { return declares()(name) }
	c.testText = sync.OnceValue(func() string {
		text, err := c.newTestText(ctx)
		if err != nil {
			return "" // then no constant is known to be in it
		}
		return text
	})
	c.before = sync.OnceValues(func() (*sign.Tests, error) {
		return testsIn(ctx, c.Repo, c.signRequest(c.Base, c.Base, c.Asked), git.Paths(c.changes))
	})
	return c
}

// programs returns the changed programs of the work with known functions.
func (c *claim) programs() []changedFile {
	return slices.DeleteFunc(c.signs.work(), func(f changedFile) bool { return !f.hasFunctions() || slices.Contains(c.own, f.Path) })
}

// here is the work tree, which holds the claim's tree.
func (c *claim) here() runTarget { return runTarget{root: c.Root, tree: c.Tree, logDir: c.LogDir} }

// textsSince returns a file of a tree and of the current one, nil where it does not exist.
func (c *claim) textsSince(ctx context.Context, tree, file string) (was, is []byte, err error) {
	if was, err = c.fileContent(ctx, tree, file); err != nil {
		return nil, nil, err
	}
	is, err = c.fileContent(ctx, c.Tree, file)
	return was, is, err
}

// texts returns a file before the task and now, nil where it does not exist.
func (c *claim) texts(ctx context.Context, file string) (was, is []byte, err error) {
	return c.textsSince(ctx, c.Base, file)
}

// Claim runs the gates on the current tree, then the probes that the verdict needs. It fails only
// if ctx ends or git fails.
func (v *Verifier) Claim(ctx context.Context, r Request) (Finding, error) {
	c := v.newClaim(ctx, r)
	if err := c.observe(ctx); err != nil {
		return Finding{}, err
	}
	c.Gates = c.seen.Responsive()
	adapted, err := c.allowRequestedChanges(ctx)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Verdict: gate.Decide(c.seen), Observation: c.seen}
	if !r.GatesOnly {
		if err := c.decideChangedInputs(ctx, &f, adapted); err != nil {
			return Finding{}, err
		}
	}
	if v.Repo == nil {
		return f, nil
	}
	if err := c.inspectResult(ctx, &f); err != nil {
		return Finding{}, fmt.Errorf("verify claim: %w", err)
	}
	return f, nil
}

// decideChangedInputs finds out which changed gate inputs the gates need, and the verdict if these are
// approved. It lists the changes if the claim passes.
func (c *claim) decideChangedInputs(ctx context.Context, f *Finding, adapted []testdiff.Adapted) (err error) {
	if f.Verdict.NeedsChangedInputs {
		if f.NeededInputs, err = c.findNeededInputs(ctx); err != nil {
			f.NeededInputs = c.seen.Inputs.Changed // the place, not the claim: nothing is narrowed
		}
		if ctx.Err() != nil {
			return fmt.Errorf("verify claim: %w", ctx.Err())
		}
		f.Verdict.Reason = c.seen.NeedsChangedInputsReason(f.NeededInputs)
	}
	if f.Verdict.NeedsChangedInputs || f.Verdict.OriginalsUnknown {
		c.seen.Inputs.Allowed = true
		if err := c.runProbes(ctx); err != nil {
			return err
		}
		approved := gate.Decide(c.seen)
		f.IfApproved = &approved
		c.deferToPending(f)
	}
	if len(c.seen.Inputs.Changed) == 0 || f.Verdict.Status != gate.Pass {
		return nil
	}
	if f.Changes, err = c.listTestChanges(ctx, adapted); err == nil {
		f.EarlierChanges, err = c.earlierChanges(ctx, f.Changes)
	}
	if err == nil {
		f.ProtectedTexts, err = c.protectedTexts(ctx, adapted)
	}
	if err != nil {
		return fmt.Errorf("compare tests: %w", err)
	}
	return nil
}

// inspectResult adds what a reviewer should see, and what the gates left in the repository.
func (c *claim) inspectResult(ctx context.Context, f *Finding) (err error) {
	if f.Signs, err = c.claimSigns(ctx, f.Verdict); err != nil {
		return err
	}
	if f.Verdict.Status == gate.Pass && c.seen.Changed && !c.GatesOnly && f.PendingInputs == nil {
		if f.PendingInputs, err = c.pendingNeeded(ctx); err != nil {
			return err
		}
	}
	if f.TreeAfter, _, err = c.Repo.Resnapshot(ctx); err != nil {
		return err
	}
	if f.UncommittedSubmodules, err = c.uncommittedSubmodules(ctx, c.Tree); err != nil {
		return err
	}
	if f.TreeAfter != c.Tree { // any of these runs may have seen another tree
		c.dropCached(ctx, c.seen.Gates, c.here())
	}
	return nil
}

// mayNotChange reports whether nobody approved a change of a gate input.
func (c *claim) mayNotChange(file string) bool {
	return !c.AllowTestChanges && (c.MayChange == nil || !c.MayChange(file))
}
