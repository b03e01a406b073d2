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
	Gates []gate.Gate // those that are due
	Base  string      // tree that the task began from
	// Judge is the tree that holds the judge's copies of the tests: the last in
	// which they were unchanged or approved. "" = Base.
	ProtectedTree string
	Tree          string // tree of now, which the work tree holds
	// Seen are results that stand for the baseline where there are none of Base: a
	// red seen while the loop ran, of a loop that has no other before.
	Seen             []gate.Result
	AllowTestChanges bool
	Work             []string // globs of files that are work whatever their names say, see package work
	NoRatchet        bool     // tests that passed may go
	// Pending are old tests that earlier tasks changed and that wait for an approval. As
	// the task found them they are right.
	Pending []string
	// MayChange tells of which tests a change is approved; nil = of none.
	MayChange func(path string) bool
	Asked     string        // what the tasks ask for: what is said there the work need not have from its tests
	LogDir    string        // receives the gates' output, "" = nowhere
	Wanted    gate.Evidence // what is found beyond it is not looked for, "" = proven
	Unprobed  bool          // the gates alone: for what they say, not for what it is worth as evidence

	adapted []testdiff.Adapted // what stands for old tests, see explain
}

// Finding is what came of a claim.
type Finding struct {
	Verdict     gate.Verdict     `json:"verdict"`
	Observation gate.Observation `json:"observation"`
	// IfApproved is the verdict if the changes of old tests were allowed, where it
	// depends on that; else nil.
	IfApproved *gate.Verdict `json:"if_approved,omitempty"`
	// Needed are the changed gate inputs without which the gates do not pass, where the
	// verdict is TestsChanged: the smallest set that was found.
	Needed []string `json:"needed,omitempty"`
	// Waiting are gate inputs that earlier tasks changed and that wait for approval, without
	// whose change the gates do not pass.
	Waiting []string `json:"waiting,omitempty"`
	// Changes of old tests, where their structure shows them.
	Changes []loop.TestChange `json:"changes,omitempty"`
	// Judges holds, by path, the text with which later claims are judged instead of a test's own: of old tests
	// that check less than they did, and of new ones that change what old tests do. nil = without the file.
	Judges map[string][]byte `json:"-"`
	// TreeAfter is the work tree when all gates had run: other than the request's
	// Tree if a gate wrote into it.
	TreeAfter string `json:"tree_after,omitempty"`
	// Signs are what a reviewer would look at first in the work.
	Signs []sign.Sign `json:"signs,omitempty"`
	// Uncommitted are submodules that hold work which no commit of this tree does.
	Uncommitted []string `json:"uncommitted,omitempty"`
}

// Baseline gives the gates' results on the tree that a task begins from, which
// the work tree should hold. What is red is run once more, now, because later
// only the memory of it is left to hold a flip against.
func (v *Verifier) Baseline(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]gate.Result, error) {
	w := runTarget{root: v.Root, tree: tree, logDir: logDir}
	here := false // when this began
	if !v.allKept(ctx, gates, w) {
		var err error
		if here, err = v.holds(ctx, tree); err != nil {
			return nil, err
		}
		// Hooks, the agent's shell and the user's have not all the same variables.
		if w.gone = !here; w.gone && !v.allKept(ctx, gates, w) {
			w.gone = false
			return v.baselineElsewhere(ctx, gates, w)
		}
	}
	results, err := v.all(ctx, gates, w)
	if err != nil {
		return nil, err
	}
	w.uncached = true
	for i, g := range gates {
		if results[i].Status != gate.Fail || v.allKept(ctx, gates[i:i+1], w) {
			continue
		}
		if still, err := v.stillHolds(ctx, tree, here); err != nil || !still {
			continue // a gate wrote over the tree, or this is a later claim: no repeat, no flip
		}
		if _, err := v.result(ctx, g, w); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// holds reports whether the work tree holds a tree; without git it always does.
func (v *Verifier) holds(ctx context.Context, tree string) (bool, error) {
	if v.Repo == nil {
		return true, nil
	}
	now, _, err := v.Repo.Resnapshot(ctx)
	if err != nil {
		return false, fmt.Errorf("look whether the work tree is at the baseline: %w", err)
	}
	return v.unmarked(ctx, now) == v.unmarked(ctx, tree), nil
}

// stillHolds is holds after gates ran. Where the work tree held the tree before them,
// what they wrote beside the tracked files (a cover profile) is none of it.
func (v *Verifier) stillHolds(ctx context.Context, tree string, before bool) (bool, error) {
	if same, err := v.holds(ctx, tree); err != nil || same || !before {
		return same, err
	}
	now, _, err := v.Repo.Resnapshot(ctx)
	if err != nil {
		return false, fmt.Errorf("look what the gates wrote: %w", err)
	}
	changes, err := v.Repo.Diff(ctx, v.unmarked(ctx, tree), v.unmarked(ctx, now))
	if err != nil {
		return false, fmt.Errorf("look what the gates wrote: %w", err)
	}
	status, err := v.Repo.Status(ctx)
	if err != nil {
		return false, fmt.Errorf("look what the gates wrote: %w", err)
	}
	return !slices.ContainsFunc(changes, func(c git.Change) bool { return !slices.Contains(status.Untracked, c.Path) }), nil
}

// baselineElsewhere is for a tree that the work tree no longer holds. There a
// pass is a pass; a fail may be the place's fault.
func (v *Verifier) baselineElsewhere(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	results, err := v.elsewhere(ctx, gates, w)
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

// Claim runs the gates on the tree of now, then whatever else the verdict needs.
// An error means that ctx ended or that git could not be asked.
func (v *Verifier) Claim(ctx context.Context, r Request) (Finding, error) {
	r.ProtectedTree = cmp.Or(r.ProtectedTree, r.Base)
	o, err := v.observe(ctx, r)
	if err != nil {
		return Finding{}, err
	}
	r.Gates = o.Responsive()
	adapted, err := v.explain(ctx, r, &o)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Verdict: gate.Decide(o), Observation: o}
	if f.Verdict.NeedsChangedInputs && !r.Unprobed {
		if f.Needed, err = v.needed(ctx, r, &o); err != nil {
			f.Needed = o.ChangedInputs // the place, not the claim: nothing is narrowed
		}
		if ctx.Err() != nil {
			return Finding{}, fmt.Errorf("verify claim: %w", ctx.Err())
		}
		f.Verdict.Reason = o.NeedsChangedInputsReason(f.Needed)
	}
	if (f.Verdict.NeedsChangedInputs || f.Verdict.OriginalsUnknown) && !r.Unprobed {
		o.AllowTestChanges = true
		if err := v.findOut(ctx, r, &o); err != nil {
			return Finding{}, err
		}
		approved := gate.Decide(o)
		f.IfApproved = &approved
		if err := v.leaveToEarlier(ctx, r, &f); err != nil {
			return Finding{}, err
		}
	}
	if len(o.ChangedInputs) > 0 && f.Verdict.Status == gate.Pass && !r.Unprobed {
		if f.Changes, err = v.namedChanges(ctx, r, adapted); err == nil {
			f.Judges, err = v.judges(ctx, r, o.ChangedInputs, adapted)
		}
		if err != nil {
			return Finding{}, fmt.Errorf("compare tests: %w", err)
		}
	}
	if v.Repo != nil {
		if f.Signs, err = v.signsOf(ctx, r, f.Verdict); err != nil {
			return Finding{}, fmt.Errorf("verify claim: %w", err)
		}
		if f.Verdict.Status == gate.Pass && o.Changed && !r.Unprobed && f.Waiting == nil {
			if f.Waiting, err = v.waitingFor(ctx, r, &f.Observation); err != nil {
				return Finding{}, err
			}
		}
		if f.TreeAfter, _, err = v.Repo.Resnapshot(ctx); err == nil {
			f.Uncommitted, err = v.uncommittedWithin(ctx, r.Tree)
		}
		if err != nil {
			return Finding{}, fmt.Errorf("verify claim: %w", err)
		}
		if f.TreeAfter != r.Tree { // whatever ran may have run on another tree
			v.forget(ctx, o.Gates, runTarget{root: v.Root, tree: r.Tree})
		}
	}
	return f, nil
}

// findOut makes the further runs that the verdict needs.
func (v *Verifier) findOut(ctx context.Context, r Request, o *gate.Observation) error {
	for probe, names := gate.Next(*o); probe != "" && !r.Unprobed; probe, names = gate.Next(*o) {
		run, err := v.probe(ctx, r, o, probe, only(r.Gates, names))
		run.Missing = v.lacks()
		if ctx.Err() != nil {
			return fmt.Errorf("verify claim: %w", ctx.Err())
		}
		if err != nil { // the place, not the claim: then it could not be found out
			run = gate.Run{Problem: err.Error(), Missing: v.lacks()}
		}
		o.Runs[probe] = run
	}
	return nil
}

// probe makes one of the further runs.
func (v *Verifier) probe(ctx context.Context, r Request, o *gate.Observation, p gate.Probe, gates []gate.Gate) (gate.Run, error) {
	w := runTarget{root: v.Root, logDir: r.LogDir, probe: p}
	ids := o.ProbeTests(p)
	if misleads(p) {
		gates = hurried(gates, o)
	}
	switch p {
	case gate.Canary, gate.CanaryBefore:
		return v.canary(ctx, r, o, canaryRun{p, gates, ids})
	case gate.RepeatBefore:
		return v.repeatBefore(ctx, r, o, gates)
	case gate.RepeatClean:
		run, err := v.repeatClean(ctx, r, gates)
		if slices.ContainsFunc(run.Results, func(r gate.Result) bool { return r.Status != gate.Pass }) {
			o.ChangedIgnoredFiles, err = v.ChangedBeside(ctx)
		}
		return run, err
	case gate.OtherExpected, gate.OtherInputs, gate.MixedInputs, gate.CloseInputs, gate.CloserInputs, gate.FailingTests:
		return v.otherValues(ctx, r, o, valuesRun{p, gates})
	case gate.ZeroParameters:
		return v.zeroParameters(ctx, r, o, gates)
	case gate.SingleMutants:
		return v.oneByOne(ctx, r, o, gates)
	case gate.SignsOneByOne:
		return v.repeatNeutral(ctx, r, o, gates)
	case gate.RepeatAfter:
		w.tree, w.uncached = r.Tree, true
		return answer(narrow(v.Root, gates, ids, func(gates []gate.Gate) ([]gate.Result, error) { return v.all(ctx, gates, w) }))
	case gate.Originals, gate.RepeatOriginals:
		if inner := v.inSubmodule(o.ChangedInputs); len(inner) > 0 {
			return gate.Run{}, fmt.Errorf("there is no copy of tests in a submodule: %s", strings.Join(inner[:min(len(inner), maxNamed)], ", "))
		}
	}
	narrowed := func(w runTarget) ([]gate.Result, error) {
		if p == gate.MutantsForNewTests { // what it does not tell, others will
			few, _ := forTests(v.Root, gates, ids)
			return v.elsewhere(ctx, few, w)
		}
		return narrow(v.Root, gates, ids, func(gates []gate.Gate) ([]gate.Result, error) { return v.elsewhere(ctx, gates, w) })
	}
	if p == gate.Mutants || p == gate.MutantsForNewTests {
		return v.runBroken(ctx, r, w, narrowed)
	}
	var err error
	if w.tree, err = v.probedTree(ctx, r, o, p); err != nil {
		return gate.Run{}, err
	}
	w.uncached = p == gate.RepeatOriginals || p == gate.RepeatOverlay
	return answer(narrowed(w))
}

// hurried are gates with as much time as what is broken gets.
func hurried(gates []gate.Gate, o *gate.Observation) []gate.Gate {
	gates = slices.Clone(gates)
	for i, g := range gates {
		if gates[i].Timeout = gate.MutantTimeout(took(o.Now, g.Name)); !o.RanInCheckout(g.Name) {
			gates[i].Timeout = max(time.Minute, gates[i].Timeout) // nothing is built there yet
		}
	}
	return gates
}

// maxNamed bounds the files that a reason names.
const maxNamed = 5

func answer(results []gate.Result, err error) (gate.Run, error) {
	return gate.Run{Results: results}, err
}

// probedTree is the tree that a probe judges in the worktree.
func (v *Verifier) probedTree(ctx context.Context, r Request, o *gate.Observation, p gate.Probe) (string, error) {
	switch p {
	case gate.OriginalsBefore:
		return v.asIn(ctx, r.Base, r.ProtectedTree, o.WithheldTests)
	case gate.OriginalsControl:
		return r.Tree, nil
	case gate.Control:
		return r.Base, nil
	case gate.Overlay, gate.RepeatOverlay:
		tests := o.NewTests
		if o.AllowTestChanges { // those that are gone are to be gone
			tests = slices.Concat(tests, o.ChangedInputs)
		}
		if err := v.withoutProducts(ctx, r); err != nil {
			return "", err
		}
		return v.overlay(ctx, r, tests)
	case gate.SignsNeutralized:
		n, err := v.neutralize(ctx, r, nil)
		return n.tree, err
	}
	return v.originals(ctx, r)
}

// repeatBefore gives the second results of the baseline: kept from when the task
// began, or else found in the worktree. There, only a gate that shows by its ids
// that what passed passes is believed when it is red.
func (v *Verifier) repeatBefore(ctx context.Context, r Request, o *gate.Observation, gates []gate.Gate) (gate.Run, error) {
	w := runTarget{root: v.Root, tree: r.Base, logDir: r.LogDir, probe: gate.RepeatBefore, uncached: true}
	if w.gone = !v.allKept(ctx, gates, w); !w.gone || v.allKept(ctx, gates, w) {
		return answer(v.all(ctx, gates, w))
	}
	w.gone = false
	results, err := v.elsewhere(ctx, gates, w)
	if err != nil {
		return gate.Run{}, err
	}
	for i, again := range results {
		before := o.Baseline[slices.IndexFunc(o.Baseline, func(b gate.Result) bool { return b.Gate == again.Gate })]
		if !passesAgain(before, again) {
			results[i].Status, results[i].Reason = gate.Unknown, "what passed before does not pass in the worktree"
		}
	}
	return gate.Run{Results: results}, nil
}

func passesAgain(before, again gate.Result) bool {
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
