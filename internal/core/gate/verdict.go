package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Verdict reports whether a claim passes, and what proves the work.
type Verdict struct {
	// Status is fail only if something regressed, and unknown if a gate is unknown.
	Status    Status
	Evidence  Evidence
	Regressed []string // tests or gates that passed at the start and fail or are missing
	StillRed  []string // fail now and did not pass at the start
	Flipped   []string // failed before and pass now, each seen twice
	// Proving are the new or changed tests that fail on the baseline tree or on mutants.
	Proving []string
	// FlippedGates are the gates without test IDs in Flipped. They count for every task since their
	// failure.
	FlippedGates []string
	Flaky        []string // flipped once, not when repeated
	// NeedsChangedInputs: the gates pass only with the agent's changes of gate inputs. The work is
	// kept, but unverified until approved.
	NeedsChangedInputs bool
	// TestsRemoved: the only such change is that old tests were removed.
	TestsRemoved bool
	// OriginalsUnknown: gate inputs changed, and no run with the originals was possible. No review
	// makes up for that.
	OriginalsUnknown bool
	// OnlyInWorkTree: what passes here fails in a clean checkout, which did show the state before.
	OnlyInWorkTree bool
	// MutantsSurvived: the tests also pass if each function of the work is mutated.
	MutantsSurvived bool
	// TestsCannotFail: the tests passed in a run in which they should fail.
	TestsCannotFail bool
	// TestsNotRun are new tests that no gate runs.
	TestsNotRun []string
	FullGreen   bool     // every gate passed, or was allowed to stay red
	Labels      []string // facts that a report should name
	Reason      string   // one line, for the agent and the user
	// Remedy says what would make the work proven, if a demerit prevents it; "" = a test that fails
	// without the work.
	Remedy string
}

// Decide turns an observation into a verdict. First it compares the gates with the baseline. If they
// pass, the first finding that holds gives the evidence, and a demerit lowers a proof, see setEvidence.
// A probe that was not run counts as unknown: it can only weaken the evidence.
func Decide(o Observation) Verdict {
	known := o.knownFailures()
	o = o.withoutKnownFailures()
	now := o.compareWithBaseline(o.Now)
	v := Verdict{Status: o.status(now), Evidence: EvidenceUnknown, StillRed: now.stillRed, Regressed: unique(o.regressions(now)), Labels: o.resultLabels()}
	for _, name := range o.gateNames() {
		v.StillRed = append(v.StillRed, known[name]...)
	}
	v.StillRed = unique(v.StillRed)
	v.FullGreen = o.fullGreen(v, known)
	switch {
	case v.Status == Fail:
		v.Reason = o.failReason(v.Regressed)
	case v.Status == Unknown:
		v.Reason = o.unknownReason(now.unknown)
	case len(o.Now) == 0:
		v.Reason = "there is no gate, so nothing can verify the work; add one:  --gate 'COMMAND'"
	case !o.Changed:
		v.Reason = "nothing changed since the task started"
	default:
		o.withoutHung().setEvidence(&v)
	}
	return v
}

// resultLabels names what a report should say of the gates, whatever the verdict.
func (o Observation) resultLabels() []string {
	var labels []string
	for _, r := range o.Now {
		if r.Flaky {
			labels = append(labels, "flaky: "+r.Gate)
		}
		if r.Warning != "" {
			labels = append(labels, r.Gate+": "+r.Warning)
		}
	}
	for _, g := range o.Gates {
		if g.InWorkTree && len(o.Now) > 0 {
			labels = append(labels, "decided in the work tree (isolated = false): "+g.Name)
		}
	}
	return labels
}

// status compares the gates with the baseline, without evidence.
func (o Observation) status(now comparison) Status {
	switch {
	case len(o.regressions(now)) > 0:
		return Fail
	case len(now.unknown) > 0:
		return Unknown
	}
	return Pass
}

// regressions returns what passed at the start and does not now. If tests may or did change, the
// run with the originals decides about missing ones.
func (o Observation) regressions(now comparison) []string {
	if o.Inputs.Allowed || len(o.Inputs.Changed) > 0 {
		return slices.Concat(now.regressed, o.unstartable(), o.missingWithheld(now))
	}
	return slices.Concat(now.regressed, now.missing)
}

// missingWithheld returns the missing tests that the run with the originals cannot report, because
// it withholds their files. If this task changes old tests that are only counted, that run shows
// which ones may be missing.
func (o Observation) missingWithheld(now comparison) []string {
	if !o.probed(OriginalsBefore) {
		return nil
	}
	changesOld := slices.ContainsFunc(o.Inputs.Changed, func(file string) bool {
		return !slices.Contains(o.Inputs.WithheldTests, file) || slices.Contains(o.Inputs.RewrittenTests, file)
	})
	return filter(now.missing, func(id string) bool {
		return !changesOld || !slices.ContainsFunc(o.Runs[OriginalsBefore].Results, func(r Result) bool { return r.Tests[id] != "" || len(r.Tests) == 0 })
	})
}

// unstartable returns the gates that cannot start after gate inputs changed. The agent removed
// their script and can restore it.
func (o Observation) unstartable() []string {
	return o.gatesWhere(func(now Result) bool { return len(o.Inputs.Changed) > 0 && now.CannotStart })
}

// fullGreen reports whether every gate passed or may fail. known are the failures older than the
// task.
func (o Observation) fullGreen(v Verdict, known map[string][]string) bool {
	if v.Status != Pass {
		return false
	}
	for _, r := range o.Now {
		allowed := slices.ContainsFunc(o.Gates, func(g Gate) bool { return g.Name == r.Gate && g.AllowBaseline })
		if (r.Status != Pass || len(known[r.Gate]) > 0) && !allowed {
			return false
		}
	}
	return true
}

// NeedsChangedInputsReason says which changed gate inputs the gates need.
func (o Observation) NeedsChangedInputsReason(needed []string) string {
	if o.OnlyTestsRemoved() {
		return "old tests are gone: " + plan.Few(o.Inputs.RemovedTests, 4)
	}
	return "the gates pass only with the changed " + o.inputsNoun() + ", not with the originals: " + plan.Few(needed, 4)
}

// inputsNoun names the kinds of changed inputs: tests, gate inputs or both.
func (o Observation) inputsNoun() string {
	switch {
	case len(o.Inputs.NonTests) == 0:
		return "tests"
	case len(o.Inputs.NonTests) == len(o.Inputs.Changed):
		return "gate inputs"
	}
	return "tests and gate inputs"
}

// StoppedReporting reports whether a gate that reported tests before reports none now.
func (o Observation) StoppedReporting() bool {
	return slices.ContainsFunc(o.Now, func(r Result) bool { return resultOf(o.Baseline, r.Gate).stoppedReporting(r) })
}

// probeFailed reports whether a probe could not run, or a gate in it is unknown.
func (o Observation) probeFailed(p Probe) bool {
	run, ok := o.Runs[p]
	return ok && (run.Problem != "" || slices.ContainsFunc(run.Results, func(r Result) bool { return r.Status == Unknown }))
}

// probeProblem says why probes have no usable result.
func (o Observation) probeProblem(probes ...Probe) string {
	var last Run
	for _, p := range probes {
		run, ok := o.Runs[p]
		if !ok {
			continue
		}
		last = run
		if run.Problem != "" {
			return run.Problem + run.remedy()
		}
		for _, r := range run.Results {
			if r.Status == Unknown && r.Reason == DiskFull {
				return r.Gate + ": " + r.Reason + "; free some space"
			}
			if r.Status == Unknown && r.Reason != "" {
				return r.Gate + ": " + r.Reason + run.remedy()
			}
		}
	}
	if names := o.differsInCheckout(); len(names) > 0 {
		return "on the tree from before the task, these give other results in a clean checkout than in the work tree: " + plan.Few(names, 4) +
			`; if they are flaky: flaky = true for their gate in pawl.toml` + last.remedy()
	}
	if groups := o.incompleteBefore(); len(groups) > 0 {
		return "before this task, not all tests of these ran, because one crashed or the build failed: " + plan.Few(groups, 4)
	}
	return "the gates give other results in a clean checkout than in the work tree" + last.remedy()
}

// incompleteBefore returns the groups that did not finish on the baseline tree and have more tests now.
func (o Observation) incompleteBefore() []string {
	var groups []string
	for _, before := range o.Baseline {
		if resultOf(o.Now, before.Gate).incompleteIn(before) {
			groups = append(groups, filter(before.IncompleteGroups, func(group string) bool { return group != "" })...)
		}
	}
	return groups
}

// differsInCheckout returns the baseline tests, or gates without IDs, whose result differs in a
// clean checkout.
func (o Observation) differsInCheckout() []string {
	var names []string
	for _, before := range o.Baseline {
		there, ran := findResult(o.Runs[Control].Results, before.Gate)
		if !ran {
			continue
		}
		known := len(names)
		for _, id := range slices.Sorted(maps.Keys(before.Tests)) {
			if s, ran := there.Tests[id]; ran && s != before.Tests[id] {
				names = append(names, id)
			}
		}
		if len(before.Tests) == 0 && before.Status == there.Status {
			names = append(names, filter(slices.Concat(there.Failing, before.Failing), func(name string) bool {
				return slices.Contains(there.Failing, name) != slices.Contains(before.Failing, name)
			})...)
		}
		if there.Status != before.Status && len(names) == known {
			names = append(names, before.Gate)
		}
	}
	return names
}

// remedy returns how the user makes the checkout complete.
func (r Run) remedy() string {
	if r.Missing != "" {
		return "; " + r.Missing
	}
	return "; if it lacks submodules or what git ignores: .worktreeinclude names files to copy there, [worktree] setup in pawl.toml (setup = [\"npm ci\"]) prepares checkouts"
}

func (o Observation) failReason(regressed []string) string {
	since := ""
	if len(o.Inputs.Changed) > 0 {
		since = "; changed since: " + plan.Few(o.Inputs.Changed, 4)
	}
	for _, r := range o.Now {
		if before := resultOf(o.Baseline, r.Gate); before.stoppedReporting(r) {
			then := max(before.testCount(), before.Passed+before.Failed)
			return fmt.Sprintf("%s: it reported tests when the task started (%d), and now it reports none", r.Gate, then) + since + ignoredFilesHint(o.Clean.ChangedIgnoredFiles)
		}
		if slices.Contains(o.unstartable(), r.Gate) {
			return r.Gate + ": " + r.Reason + since
		}
		if r.Status == Fail {
			if r.TimedOut {
				return r.Gate + ": " + r.Reason + since
			}
			reason := r.Gate + ": fails, but passed when the task started"
			if slices.Equal(regressed, []string{r.Gate}) {
				regressed = r.Failing // the reason names the gate already
			}
			if len(regressed) > 0 {
				reason += ": " + plan.Few(regressed, 4)
			}
			if why := cmp.Or(r.FirstError, r.Reason); why != "" {
				reason += ": " + why
			}
			return reason
		}
	}
	return "passed when the task started and was not run now: " + plan.Few(regressed, 4) + since
}

func (o Observation) unknownReason(unknown []string) string {
	if r := resultOf(o.Now, unknown[0]); r.Status == Unknown {
		return fmt.Sprintf("%s gave no clear result: %s", r.Gate, r.Reason)
	}
	return fmt.Sprintf("%s fails, and there is no result from before the task to compare with", unknown[0])
}

// filter returns the names for which keep is true.
func filter(names []string, keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !keep(name) })
}
