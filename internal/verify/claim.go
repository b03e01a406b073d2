package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/testdiff"
)

// Request is a claim to be verified.
type Request struct {
	Gates []gate.Gate // the gates that are due
	Base  string      // the tree that the task began with
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

	adapted []testdiff.Adapted // replaces old tests, see allowRequestedChanges
}

// Finding is the result of a claim.
type Finding struct {
	Verdict     gate.Verdict     `json:"verdict"`
	Observation gate.Observation `json:"observation"`
	// IfApproved is the verdict if the changes of old tests were approved; nil if that makes no
	// difference.
	IfApproved *gate.Verdict `json:"if_approved,omitempty"`
	// NeededInputs is the smallest set found of changed gate inputs that the gates need, if the
	// verdict is NeedsChangedInputs.
	NeededInputs []string `json:"needed_inputs,omitempty"`
	// PendingInputs are gate inputs that earlier tasks changed, that wait for approval and that the
	// gates need.
	PendingInputs []string `json:"pending_inputs,omitempty"`
	// Changes are those of old tests, if their structure shows them.
	Changes []loop.TestChange `json:"changes,omitempty"`
	// ProtectedTexts maps tests to the text that later claims use: old tests that were weakened,
	// new ones that change old tests. nil = without the file.
	ProtectedTexts map[string][]byte `json:"-"`
	// TreeAfter is the work tree after all gates ran. It differs from the request's Tree if a gate
	// wrote into it.
	TreeAfter string `json:"tree_after,omitempty"`
	// Signs are lines of the work that a reviewer should read first.
	Signs []sign.Sign `json:"signs,omitempty"`
	// UncommittedSubmodules contain work that no commit of this tree can contain.
	UncommittedSubmodules []string `json:"uncommitted_submodules,omitempty"`
}

// Baseline returns the gates' results on the tree that a task begins with, which the work tree
// should hold. It runs failed gates again now: later the tree is no longer here to confirm a flip.
func (v *Verifier) Baseline(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]gate.Result, error) {
	w := runTarget{root: v.Root, tree: tree, logDir: logDir}
	here := false // when this began
	if !v.allCached(ctx, gates, w) {
		var err error
		if here, err = v.workTreeIs(ctx, tree); err != nil {
			return nil, err
		}
		// Hooks, the agent's shell and the user's have not all the same variables.
		if w.cacheOnly = !here; w.cacheOnly && !v.allCached(ctx, gates, w) {
			w.cacheOnly = false
			return v.baselineInCheckout(ctx, gates, w)
		}
	}
	results, err := v.runAll(ctx, gates, w)
	if err != nil {
		return nil, err
	}
	w.uncached = true
	for i, g := range gates {
		if results[i].Status != gate.Fail || v.allCached(ctx, gates[i:i+1], w) {
			continue
		}
		if still, err := v.workTreeStillIs(ctx, tree, here); err != nil || !still {
			continue // a gate wrote over the tree, or this is a later claim: no repeat, no flip
		}
		if _, err := v.cachedOrRun(ctx, g, w); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// workTreeIs reports whether the work tree holds a tree. Without git it always does.
func (v *Verifier) workTreeIs(ctx context.Context, tree string) (bool, error) {
	if v.Repo == nil {
		return true, nil
	}
	now, _, err := v.Repo.Resnapshot(ctx)
	if err != nil {
		return false, fmt.Errorf("look whether the work tree is at the baseline: %w", err)
	}
	return v.withoutMarks(ctx, now) == v.withoutMarks(ctx, tree), nil
}

// workTreeStillIs is workTreeIs after gates ran. If it held the tree before, untracked files that
// they wrote (a cover profile) do not count.
func (v *Verifier) workTreeStillIs(ctx context.Context, tree string, before bool) (bool, error) {
	if same, err := v.workTreeIs(ctx, tree); err != nil || same || !before {
		return same, err
	}
	now, _, err := v.Repo.Resnapshot(ctx)
	if err != nil {
		return false, fmt.Errorf("look what the gates wrote: %w", err)
	}
	changes, err := v.Repo.Diff(ctx, v.withoutMarks(ctx, tree), v.withoutMarks(ctx, now))
	if err != nil {
		return false, fmt.Errorf("look what the gates wrote: %w", err)
	}
	status, err := v.Repo.Status(ctx)
	if err != nil {
		return false, fmt.Errorf("look what the gates wrote: %w", err)
	}
	return !slices.ContainsFunc(changes, func(c git.Change) bool { return !slices.Contains(status.Untracked, c.Path) }), nil
}

// baselineInCheckout is for a tree that the work tree no longer holds. A failure there is unknown:
// the checkout may lack something.
func (v *Verifier) baselineInCheckout(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	results, err := v.runInCheckout(ctx, gates, w)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		results = nil
		for _, g := range gates {
			results = append(results, gate.Result{Gate: g.Name, Command: g.Command, Status: gate.Unknown, ExitCode: -1, Reason: err.Error(), Tree: w.tree})
		}
	}
	for i := range results {
		if results[i].Status == gate.Fail {
			results[i].Status = gate.Unknown
			results[i].Reason = "red, but not where the task began: " + results[i].Reason
		}
	}
	return results, nil
}

// Claim runs the gates on the current tree, then the probes that the verdict needs. It fails only
// if ctx ends or git fails.
func (v *Verifier) Claim(ctx context.Context, r Request) (Finding, error) {
	r.ProtectedTree = cmp.Or(r.ProtectedTree, r.Base)
	o, err := v.observe(ctx, r)
	if err != nil {
		return Finding{}, err
	}
	r.Gates = o.Responsive()
	adapted, err := v.allowRequestedChanges(ctx, r, &o)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Verdict: gate.Decide(o), Observation: o}
	if f.Verdict.NeedsChangedInputs && !r.GatesOnly {
		if f.NeededInputs, err = v.findNeededInputs(ctx, r, &o); err != nil {
			f.NeededInputs = o.ChangedInputs // the place, not the claim: nothing is narrowed
		}
		if ctx.Err() != nil {
			return Finding{}, fmt.Errorf("verify claim: %w", ctx.Err())
		}
		f.Verdict.Reason = o.NeedsChangedInputsReason(f.NeededInputs)
	}
	if (f.Verdict.NeedsChangedInputs || f.Verdict.OriginalsUnknown) && !r.GatesOnly {
		o.AllowTestChanges = true
		if err := v.runProbes(ctx, r, &o); err != nil {
			return Finding{}, err
		}
		approved := gate.Decide(o)
		f.IfApproved = &approved
		if err := v.deferToPending(ctx, r, &f); err != nil {
			return Finding{}, err
		}
	}
	if len(o.ChangedInputs) > 0 && f.Verdict.Status == gate.Pass && !r.GatesOnly {
		if f.Changes, err = v.testChangesWithRequests(ctx, r, adapted); err == nil {
			f.ProtectedTexts, err = v.protectedTexts(ctx, r, o.ChangedInputs, adapted)
		}
		if err != nil {
			return Finding{}, fmt.Errorf("compare tests: %w", err)
		}
	}
	if v.Repo != nil {
		if f.Signs, err = v.claimSigns(ctx, r, f.Verdict); err != nil {
			return Finding{}, fmt.Errorf("verify claim: %w", err)
		}
		if f.Verdict.Status == gate.Pass && o.Changed && !r.GatesOnly && f.PendingInputs == nil {
			if f.PendingInputs, err = v.pendingNeeded(ctx, r, &f.Observation); err != nil {
				return Finding{}, err
			}
		}
		if f.TreeAfter, _, err = v.Repo.Resnapshot(ctx); err == nil {
			f.UncommittedSubmodules, err = v.uncommittedSubmodules(ctx, r.Tree)
		}
		if err != nil {
			return Finding{}, fmt.Errorf("verify claim: %w", err)
		}
		if f.TreeAfter != r.Tree { // any of these runs may have seen another tree
			v.dropCached(ctx, o.Gates, runTarget{root: v.Root, tree: r.Tree})
		}
	}
	return f, nil
}

// runProbes runs all probes that the verdict needs.
func (v *Verifier) runProbes(ctx context.Context, r Request, o *gate.Observation) error {
	for probe, names := gate.Next(*o); probe != "" && !r.GatesOnly; probe, names = gate.Next(*o) {
		run, err := v.runProbe(ctx, r, o, probe, gatesNamed(r.Gates, names))
		run.Missing = v.missingHint()
		if ctx.Err() != nil {
			return fmt.Errorf("verify claim: %w", ctx.Err())
		}
		if err != nil { // the place, not the claim: then it could not be found out
			run = gate.Run{Problem: err.Error(), Missing: v.missingHint()}
		}
		o.Runs[probe] = run
	}
	return nil
}

// runProbe runs one probe.
func (v *Verifier) runProbe(ctx context.Context, r Request, o *gate.Observation, p gate.Probe, gates []gate.Gate) (gate.Run, error) {
	w := runTarget{root: v.Root, logDir: r.LogDir, probe: p}
	ids := o.ProbeTests(p)
	if mayHang(p) {
		gates = withMutantTimeout(gates, o)
	}
	switch p {
	case gate.Canary, gate.CanaryBefore:
		return v.runCanary(ctx, r, o, canaryRequest{p, gates, ids})
	case gate.RepeatBefore:
		return v.repeatBefore(ctx, r, o, gates)
	case gate.RepeatClean:
		run, err := v.repeatClean(ctx, r, gates, gate.RepeatClean)
		if slices.ContainsFunc(run.Results, func(r gate.Result) bool { return r.Status != gate.Pass }) {
			o.ChangedIgnoredFiles, err = v.ChangedIgnoredFiles(ctx)
		}
		return run, err
	case gate.OtherExpected, gate.OtherInputs, gate.MixedInputs, gate.CloseInputs, gate.CloserInputs, gate.FailingTests:
		return v.runWithOtherValues(ctx, r, o, valuesRun{p, gates})
	case gate.ZeroParameters:
		return v.zeroParameters(ctx, r, o, gates)
	case gate.SingleMutants:
		return v.runSingleMutants(ctx, r, o, gates)
	case gate.SignsOneByOne:
		return v.neutralizeOneByOne(ctx, r, o, gates)
	case gate.RepeatAfter:
		w.tree, w.uncached = r.Tree, true
		return asRun(narrow(v.Root, gates, ids, func(gates []gate.Gate) ([]gate.Result, error) { return v.runAll(ctx, gates, w) }))
	case gate.Originals, gate.RepeatOriginals:
		if inner := v.inSubmodule(o.ChangedInputs); len(inner) > 0 {
			return gate.Run{}, fmt.Errorf("there is no copy of tests in a submodule: %s", strings.Join(inner[:min(len(inner), maxNamed)], ", "))
		}
	}
	narrowed := func(w runTarget) ([]gate.Result, error) {
		if p == gate.MutantsForNewTests { // other probes decide what it leaves open
			few, _ := narrowToTests(v.Root, gates, ids)
			return v.runInCheckout(ctx, few, w)
		}
		return narrow(v.Root, gates, ids, func(gates []gate.Gate) ([]gate.Result, error) { return v.runInCheckout(ctx, gates, w) })
	}
	if p == gate.Mutants || p == gate.MutantsForNewTests {
		return v.runMutants(ctx, r, w, narrowed)
	}
	var err error
	if w.tree, err = v.treeForProbe(ctx, r, o, p); err != nil {
		return gate.Run{}, err
	}
	w.uncached = p == gate.RepeatOriginals || p == gate.RepeatOverlay
	return asRun(narrowed(w))
}

// withMutantTimeout returns the gates with the time limit of mutants.
func withMutantTimeout(gates []gate.Gate, o *gate.Observation) []gate.Gate {
	gates = slices.Clone(gates)
	for i, g := range gates {
		if gates[i].Timeout = gate.MutantTimeout(gateDuration(o.Now, g.Name)); !o.RanInCheckout(g.Name) {
			gates[i].Timeout = max(time.Minute, gates[i].Timeout) // nothing is built there yet
		}
	}
	return gates
}

// maxNamed bounds the files named in a reason.
const maxNamed = 5

func asRun(results []gate.Result, err error) (gate.Run, error) {
	return gate.Run{Results: results}, err
}

// treeForProbe returns the tree that a probe runs on in a checkout.
func (v *Verifier) treeForProbe(ctx context.Context, r Request, o *gate.Observation, p gate.Probe) (string, error) {
	switch p {
	case gate.OriginalsBefore:
		return v.withFilesOf(ctx, r.Base, r.ProtectedTree, o.WithheldTests)
	case gate.OriginalsControl:
		return r.Tree, nil
	case gate.Control:
		return r.Base, nil
	case gate.Overlay, gate.RepeatOverlay:
		tests := o.NewTests
		if o.AllowTestChanges { // those that are gone are to be gone
			tests = slices.Concat(tests, o.ChangedInputs)
		}
		if err := v.discardBuildProducts(ctx, r); err != nil {
			return "", err
		}
		return v.overlay(ctx, r, tests)
	case gate.SignsNeutralized:
		n, err := v.neutralize(ctx, r, nil)
		return n.tree, err
	}
	return v.originals(ctx, r)
}

// repeatBefore returns the second results of the baseline, cached or from a checkout. A failure in
// a checkout counts only if what passed before passes there too.
func (v *Verifier) repeatBefore(ctx context.Context, r Request, o *gate.Observation, gates []gate.Gate) (gate.Run, error) {
	w := runTarget{root: v.Root, tree: r.Base, logDir: r.LogDir, probe: gate.RepeatBefore, uncached: true}
	if w.cacheOnly = !v.allCached(ctx, gates, w); !w.cacheOnly || v.allCached(ctx, gates, w) {
		return asRun(v.runAll(ctx, gates, w))
	}
	w.cacheOnly = false
	results, err := v.runInCheckout(ctx, gates, w)
	if err != nil {
		return gate.Run{}, err
	}
	for i, again := range results {
		before := o.Baseline[slices.IndexFunc(o.Baseline, func(b gate.Result) bool { return b.Gate == again.Gate })]
		if !reproducesPasses(before, again) {
			results[i].Status, results[i].Reason = gate.Unknown, "what passed before does not pass in the worktree"
		}
	}
	return gate.Run{Results: results}, nil
}

func reproducesPasses(before, again gate.Result) bool {
	passed := 0
	for id, s := range before.Tests {
		if s == gate.Pass {
			if again.Tests[id] != gate.Pass {
				return false
			}
			passed++
		}
	}
	return passed > 0 || again.Status == gate.Pass
}
