package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/verify"
)

const (
	maxResultTail  = 2 << 10 // of a gate's output that the journal keeps with a result
	maxResultLines = 60      // of the same
	maxReasonBytes = 500     // of a reason
	maxFailing     = 50      // failing tests that the journal names
	maxSigns       = 10      // signs that it names
)

// Verifier is what the runner needs of package verify.
type Verifier interface {
	Baseline(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]gate.Result, error)
	BaselineAgain(ctx context.Context, tree string, gates []gate.Gate, logDir string) (results []gate.Result, changed []string, err error)
	ChangesTracked(ctx context.Context, tree string, g gate.Gate, logDir string) (files []string, known bool, err error)
	RecordIgnored(ctx context.Context) error
	CheckIsolation(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]verify.IrreproducibleGate, error)
	Claim(ctx context.Context, r verify.Request) (verify.Finding, error)
	RunInCheckout(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]gate.Result, error)
	Prove(ctx context.Context, r verify.ProofRequest) (verify.Proof, error)
	ChangedIgnoredFiles(ctx context.Context) ([]string, error)
	ReachedWorkTree() bool                          // since the last call
	ChangedSettings() []string                      // of the user's, each once
	RemoveStaleCheckouts(ctx context.Context) error // those of a killed owner
	EnvironmentHint(results []gate.Result) string   // how variables reach gates that lack them
	RemoveCopies() error                            // of dependencies, once the loop has ended
}

// ProtectedFiles are the copies of protected files that package protected keeps.
type ProtectedFiles interface {
	Changes(ctx context.Context) ([]string, error)
	AcceptChange(path string) error
	Restore(ctx context.Context, paths []string) error
	WorkTreeFiles() []string    // the protected files of the work tree
	AbsPath(path string) string // absolute
}

// GateProgress reports the start or end of a gate to the observer.
func (r *Runner) GateProgress(p verify.Progress) {
	select {
	case r.inbox <- func(context.Context) error { r.Observer.Gate(p); return nil }:
	default: // for display only, so it must not block
	}
}

// runGates runs the gates that are due for a purpose.
func (r *Runner) runGates(ctx context.Context, a loop.RunGates, m memory.ActionContext) (loop.EventPayload, error) {
	if a.Purpose == loop.ForBaseline {
		if err := r.checkCommitMessage(ctx, a.Task, m); err != nil {
			return nil, err
		}
	}
	r.pauseMutationTests()
	m, err := r.afterReset(ctx, m)
	if err != nil {
		return nil, err
	}
	dir, err := r.Loop.IterationDir(max(m.Iteration, 1))
	if err != nil {
		return nil, fmt.Errorf("make the iteration's folder: %w", err)
	}
	var g loop.Gates
	switch a.Purpose {
	case loop.ForBaseline:
		if g, err = r.baseline(ctx, a, m, dir); err == nil && a.UnfinishedTree == "" {
			g, err = r.checkGateWrites(ctx, g, m, dir)
		}
		if err == nil && !g.ChangesTrackedFiles {
			g.RedIsGoal = r.askFailingGates(ctx, g, m)
			err = r.firstBaseline(ctx, m, dir)
		}
		if err == nil {
			err = r.attributeAfterBaseline(ctx, m, dir)
		}
	case loop.ForFinal:
		var tree string
		if tree, _, err = r.Repo.Snapshot(ctx); err == nil {
			g, err = r.runFinalGates(ctx, m, tree, dir)
			g.Results = append(g.Results, slices.DeleteFunc(slices.Clone(m.Results), func(res gate.Result) bool { return res.Kind != gate.ByReview })...)
		}
		if err == nil {
			g, err = r.discardIfTampered(ctx, g, m)
		}
		if err == nil {
			g.LostCommits, _, err = r.lostCommits(ctx, m, "HEAD")
		}
		if err == nil {
			g.Added, err = r.plan.AddedTasks(m)
		}
	case loop.ForReview:
		g, err = r.review(ctx, a, m, dir)
	case loop.ForClaim, loop.ForLimit, loop.ForTurn:
		r.endServers(ctx, m)
		g, err = r.verifyClaim(ctx, a, m, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("run the gates: %w", err)
	}
	g.Purpose = a.Purpose
	return loop.GatesFinished{Gates: g}, nil
}

// askFailingGates asks the user about gates that fail before the first turn, if the user is
// there, and reports whether fixing them is part of the work.
func (r *Runner) askFailingGates(ctx context.Context, g loop.Gates, m memory.ActionContext) bool {
	if r.AskFailingGates == nil || g.Status != gate.Fail || !m.BeforeFirstTurn || m.Verify {
		return false
	}
	wanted, goesOn := r.AskFailingGates(ctx, g)
	if !goesOn {
		r.sendEvent(ctx, loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop, Reason: "a gate failed before the work"}})
	}
	return wanted
}

// runAllGates runs every gate on the current tree. The result does not depend on a baseline. What
// passed there before runs once more if again is set.
func (r *Runner) runAllGates(ctx context.Context, tree, dir string, again bool) (loop.Gates, error) {
	due := gate.Due(r.Spec.Gates, gate.Final)
	began := time.Now()
	run := r.Verify.Baseline
	if again {
		run = r.baselineAgain
	}
	results, err := run(ctx, tree, due, dir)
	if slices.ContainsFunc(results, func(res gate.Result) bool { return !res.Cached || res.Status == gate.Fail }) {
		r.previousSnapshot = nil // the gates may have written files since that snapshot
	}
	if _, failed := r.recordGates(began); err == nil {
		err = failed
	}
	if err != nil {
		return loop.Gates{}, err
	}
	r.noteMissingVariables(ctx, results)
	g := loop.Gates{Tree: tree, Status: gate.Pass, Green: true, Results: r.trimResults(results), Receipt: r.recordReceipts(ctx, results)}
	for i, res := range results {
		switch {
		case res.Status == gate.Pass:
			continue
		case res.Status == gate.Unknown:
			g.Status, g.Reason = gate.Unknown, res.Gate+": "+res.Reason
			g.CannotStart = g.CannotStart || res.CannotStart
		case due[i].AllowBaseline:
			continue
		case g.Status == gate.Pass:
			g.Status, g.Reason = gate.Fail, res.Gate+": "+res.Reason
		}
		g.Green = false
		g.Failing = append(g.Failing, res.Failing...)
		if g.FirstError == "" {
			g.FirstError = res.FirstError
		}
	}
	g.Failing = firstN(g.Failing, maxFailing)
	return g, nil
}

// baselineAgain is the baseline after a task that failed.
func (r *Runner) baselineAgain(ctx context.Context, tree string, gates []gate.Gate, dir string) ([]gate.Result, error) {
	results, changed, err := r.Verify.BaselineAgain(ctx, tree, gates, dir)
	if len(changed) > 0 {
		r.enqueueNote(ctx, loop.Warning, strings.Join(changed, "; ")+". From now on it counts as failing before the work")
	}
	return results, err
}

// recordGates records that gates ran in the work tree since a time. From a checkout that hides the
// work tree they can write nothing there, so what changed meanwhile is the user's.
func (r *Runner) recordGates(since time.Time) (reached bool, err error) {
	if reached = r.Verify.ReachedWorkTree(); reached {
		err = r.authors.RecordGates(since)
	}
	return reached, err
}

// verifyClaim runs the user's hooks and then the gates on the same tree. If work was removed
// from the work tree meanwhile, it is restored and the gates run again. If the gates change
// or the user changed the tree, they run again on the new tree. If it changes each time, the result is
// unknown.
func (r *Runner) verifyClaim(ctx context.Context, a loop.RunGates, m memory.ActionContext, dir string) (loop.Gates, error) {
	m, err := r.followMoved(ctx, m)
	if err != nil {
		return loop.Gates{}, err
	}
	at, known, err := r.prepareClaim(ctx, a, m)
	if err != nil || known != nil {
		return *cmp.Or(known, &loop.Gates{}), err
	}
	for round := range 3 {
		tree := at.tree
		if m, err = r.attributeClaim(ctx, m, tree); err != nil {
			return loop.Gates{}, err
		}
		f, edited, err := r.runClaimGates(ctx, m, verify.Request{
			Tree: tree, AllowTestChanges: r.spec().MayChangeTests(a.Claimed), Work: r.spec().WorkGlobs(a.Claimed), LogDir: dir,
			Asked: r.spec().TaskText(a.Claimed), WantedEvidence: m.Tasks.Wanted(a.Claimed),
		})
		if err != nil {
			return loop.Gates{}, err
		}
		same, err := r.sameWork(ctx, tree, f.TreeAfter, m)
		if err != nil {
			return loop.Gates{}, err
		}
		now := f.TreeAfter
		if same {
			now = tree
		}
		reset := false
		if m, reset, err = r.followReset(ctx, m, &at, now); err != nil {
			return loop.Gates{}, err
		}
		if same && (!edited || round == 2) {
			at.tree, at.logDir = tree, dir
			return r.claimResult(ctx, a, m, at, f)
		}
		if reset {
			continue
		}
		if round == 0 {
			back, err := r.restoreTakenWork(ctx, tree, at.head, m)
			if err != nil {
				return loop.Gates{}, err
			}
			if back {
				continue
			}
		}
		at.tree = f.TreeAfter
	}
	return loop.Gates{
		Tree: at.tree, Status: gate.Unknown, Reason: "the work tree changes each time the gates run: should git ignore the files that they write?",
	}, nil
}

// claimResult returns the result of gates that ran on a candidate's tree.
func (r *Runner) claimResult(ctx context.Context, a loop.RunGates, m memory.ActionContext, at candidate, f verify.Finding) (g loop.Gates, err error) {
	if err := r.rememberWork(ctx, f.TreeAfter, m.Base.Commit); err != nil {
		return g, err
	}
	g = r.toGates(ctx, f)
	g.Tree, g.Head, g.Message = at.tree, at.head, at.message
	r.noteHookChanges(ctx, at, &g)
	if g.Tampered, err = r.changedDuringGates(ctx, m); err != nil {
		return g, err
	}
	if err := r.addTestChanges(ctx, a, &g, f, m); err != nil {
		return g, err
	}
	if a.Purpose == loop.ForClaim && !r.Spec.NoCommit && g.Status == gate.Pass {
		err = r.checkCommitTree(ctx, &g, m, f, at.logDir)
	}
	return g, err
}

// prepareClaim prepares the tree of a claim for the gates. It returns a result if that is known
// without running them.
func (r *Runner) prepareClaim(ctx context.Context, a loop.RunGates, m memory.ActionContext) (at candidate, known *loop.Gates, err error) {
	if a.Purpose == loop.ForClaim {
		if known, err = r.checkScope(ctx, a.Claimed, m); known != nil || err != nil {
			return at, known, err
		}
	}
	if a.Purpose == loop.ForClaim && !r.Spec.NoCommit {
		if _, err = r.branch(ctx, m.Base); err != nil {
			return at, nil, err
		}
	}
	at, known, err = r.prepareCandidate(ctx, a, m)
	if err == nil && known == nil && len(gate.Commands(r.Spec.Gates)) == 0 {
		_, err = r.attributeClaim(ctx, m, at.tree)
		known = &loop.Gates{
			Tree: at.tree, Head: at.head, Status: gate.Pass, Green: true, Reason: "there is no gate", Message: at.message,
			WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown},
		}
	}
	return at, known, err
}

// recordReceipts journals a receipt for each result and returns their ids.
func (r *Runner) recordReceipts(ctx context.Context, results []gate.Result) string {
	var ids []string
	for _, res := range results {
		rec := verify.NewReceipt(res, time.Now())
		ids = append(ids, rec.ID)
		r.enqueue(ctx, func(context.Context) error { return r.appendRecord(memory.TypeReceipt, rec) })
	}
	return strings.Join(ids, " ")
}

// noteMissingVariables notes once which of the user's environment variables failing gates may
// need.
func (r *Runner) noteMissingVariables(ctx context.Context, results []gate.Result) {
	text := r.Verify.EnvironmentHint(results)
	r.enqueue(ctx, func(context.Context) error {
		if text != "" && text != r.lastVariableHint {
			r.lastVariableHint = text
			r.note(loop.Warning, text)
		}
		return nil
	})
}

// toGates converts a finding to the type of the state machine.
func (r *Runner) toGates(ctx context.Context, f verify.Finding) loop.Gates {
	v := f.Verdict
	failing := gate.ByTest(v.Regressed, f.Observation.Now)
	if v.Status == gate.Pass {
		failing = v.StillRed
	}
	g := loop.Gates{
		Status: v.Status, Green: v.FullGreen, Reason: truncate(v.Reason, maxReasonBytes), Results: r.trimResults(f.Observation.Now),
		WorkResult:  loop.WorkResult{Evidence: v.Evidence, Flipped: firstN(v.Proofs(f.Observation.Baseline), maxFailing), TestsNotRun: firstN(v.TestsNotRun, maxFailing), OnlyText: f.Observation.Work.OnlyText},
		Proof:       loop.Proof{FlippedGates: v.FlippedGates, Labels: v.Labels, Remedy: v.Remedy, OriginalsUnknown: v.OriginalsUnknown, OnlyInWorkTree: v.OnlyInWorkTree},
		Failures:    loop.Failures{Failing: firstN(failing, maxFailing)},
		TestChanges: loop.TestChanges{AwaitedChanges: f.PendingInputs},
		CannotStart: v.Status == gate.Unknown && slices.ContainsFunc(f.Observation.Now, func(res gate.Result) bool { return res.CannotStart }),
	}
	for _, res := range f.Observation.Now {
		if v.Status == gate.Pass && res.Status == gate.Fail && len(res.Tests) == 0 && !r.mayStayFailing(res.Gate) && slices.Contains(v.StillRed, res.Gate) {
			g.StillRed = append(g.StillRed, res.Gate)
			g.Reason = truncate(res.Gate+" still fails: "+res.Reason, maxReasonBytes)
		}
	}
	for _, s := range f.Signs[:min(len(f.Signs), maxSigns)] {
		g.Signs = append(g.Signs, s.String())
	}
	if v.NeedsChangedInputs {
		g.TestsChanged, g.TestsRemoved = f.NeededInputs, v.TestsRemoved
		g.NeededInputs = slices.DeleteFunc(slices.Clone(f.NeededInputs), func(path string) bool { return !slices.Contains(f.Observation.Inputs.NonTests, path) })
	}
	for _, res := range f.Observation.Now {
		if g.FirstError == "" && res.Status != gate.Pass {
			g.FirstError = truncate(res.FirstError, maxResultTail)
		}
	}
	r.noteMissingVariables(ctx, f.Observation.Now)
	g.Receipt = r.recordReceipts(ctx, f.Observation.Now)
	if !v.FullGreen {
		g.Fingerprint = gate.Fingerprint(f.TreeAfter, f.Observation.Now)
	}
	return g
}

// trimResults returns the results without test maps and most output, for the journal. The
// complete output is in the iteration's folder.
func (r *Runner) trimResults(results []gate.Result) []gate.Result {
	out := slices.Clone(results)
	for i := range out {
		res := &out[i]
		res.Tests = nil
		res.Failing = firstN(res.Failing, maxFailing)
		if res.Head != "" {
			res.Head, res.Tail = "", res.Head+"\n[…]\n"+res.Tail
		}
		res.Tail = plan.Excerpt(res.Tail, maxResultLines, maxResultTail)
		res.Allowed = res.Status == gate.Fail && r.mayStayFailing(res.Gate)
	}
	return out
}

// mayStayFailing reports whether a gate that failed before may fail at the end.
func (r *Runner) mayStayFailing(name string) bool {
	return slices.ContainsFunc(r.Spec.Gates, func(g gate.Gate) bool { return g.Name == name && g.AllowBaseline })
}

func firstN(ids []string, n int) []string { return ids[:min(len(ids), n)] }

func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}
