package gate

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Files that an agent prepared in the work tree and git ignores may make gates pass. So before
// a claim is proven, all its gates run in a clean checkout. What passes only here proves nothing.

// flippedWithOriginals reports whether tests turned green with the original tests, which ran in a
// clean checkout.
func (o Observation) flippedWithOriginals() bool {
	return o.flipsWithOriginals() && len(o.flips().confirmed()) > 0
}

// failingOnlyClean returns the gates in which something fails in the clean checkout and passes in
// the work tree. It omits gates that turned green: flips covers these.
func (o Observation) failingOnlyClean(f flips) []string {
	turned := f.gates(redAgain)
	return filter(o.gateNames(), func(name string) bool {
		return !slices.Contains(turned, name) && o.probeResult(RepeatClean, name).FailsWhere(resultOf(o.Now, name))
	})
}

// passesOnlyInWorkTree detects a gate that passes in the work tree and fails in a comparable clean
// checkout.
func passesOnlyInWorkTree(w assessment, v *Verdict) bool {
	if !w.probed(RepeatClean) {
		return false
	}
	var onlyHere, notComparable []string
	for _, name := range w.failingOnlyClean(w.flips) {
		if !w.cleanComparable(name) {
			notComparable = append(notComparable, name)
			continue
		}
		here := resultOf(w.Now, name)
		if again := w.probeResult(RepeatAfter, name); again.Status != Unknown {
			here = again // a test that now fails here too is flaky
		}
		onlyHere = append(onlyHere, here.PassesButFailsIn(w.probeResult(RepeatClean, name))...)
	}
	if len(notComparable) > 0 {
		v.Labels = append(v.Labels, notRepeatable+plan.Few(notComparable, 4))
	}
	if len(onlyHere) > 0 {
		v.setGreenOnlyHere(onlyHere, w.Clean.ChangedIgnoredFiles)
	}
	return len(onlyHere) > 0
}

// lostCleanCheckout detects a gate that reproduced the loop's start in a clean checkout, and is
// unknown there with the work. If no gate ever reproduced it, the user was warned at the start.
func lostCleanCheckout(w assessment, v *Verdict) bool {
	for _, probe := range []struct {
		of   Probe
		with string
	}{
		{RepeatClean, ""},
		{SignsNeutralized, "the signs in the work removed"},
		{OtherExpected, "other values in its tests"},
		{OtherInputs, "other inputs in its tests"},
		{MixedInputs, "other inputs in its tests"},
		{FailingTests, "tests that fail"},
		{Canary, "a test beside them that must fail"},
	} {
		unknown := filter(w.gateNames(), func(name string) bool { return w.becameUnknown(probe.of, name) })
		if len(unknown) == 0 {
			continue
		}
		v.Labels = append(v.Labels, "clean checkout: not checked: "+plan.Few(unknown, 4))
		v.Reason = "whether " + plan.Few(unknown, 4) + " passes in a clean checkout, as it did when the loop started, is unknown: " + w.probeProblem(probe.of)
		if probe.with != "" {
			v.Reason = "unknown whether the tests check this work: " + plan.Few(unknown, 4) + " gave no result with " + probe.with + ": " + w.probeProblem(probe.of)
		}
		return true
	}
	return false
}

// becameUnknown reports whether a gate reproduced the loop's start in a clean checkout, and is
// unknown in this probe. Only RepeatClean and Mutants must run every requested gate; other probes
// may find nothing to try.
func (o Observation) becameUnknown(p Probe, name string) bool {
	result, ran := findResult(o.Runs[p].Results, name)
	mustRun := o.probed(p) && (p == RepeatClean || p == Mutants)
	return (ran || mustRun) && result.Status == Unknown && slices.Contains(o.Clean.ReproducedAtStart, name)
}

const commitAllFiles = "have git commit all files that the tests need (see `.gitignore`, file modes, submodules), or `[worktree] setup`"

const notRepeatable = "could not be repeated in a clean checkout: "

// setGreenOnlyHere records tests that pass only in the work tree. ignored are the changed
// git-ignored files that may explain it.
func (v *Verdict) setGreenOnlyHere(names, came []string) {
	v.Flipped, v.FlippedGates, v.Proving = nil, nil, nil
	v.OnlyInWorkTree, v.Remedy = true, commitAllFiles
	v.Labels = append(v.Labels, "passes in the work tree and fails in a clean checkout: "+plan.Few(names, 4))
	v.Reason = "passes in the work tree and fails in a clean checkout: " + plan.Few(names, 4) + ignoredFilesHint(came) +
		". The cause is a file or a file mode that git does not commit: commit it, or create it in the `setup` of [worktree]"
}

// ignoredFilesHint names the changed git-ignored files that may explain a difference.
func ignoredFilesHint(came []string) string {
	if len(came) == 0 {
		return ""
	}
	return "; new or changed since the loop started, and in no commit: " + plan.Few(came, 4)
}

// PassesButFailsIn returns the tests that pass here and fail in other, or the gate if no test
// explains its failure.
func (r Result) PassesButFailsIn(other Result) []string {
	failed, unfinished := r.killedBy(other)
	names := slices.Concat(failed, unfinished)
	slices.Sort(names)
	if len(names) == 0 && r.Status == Pass && other.Status == Fail {
		names = []string{r.Gate}
	}
	return names
}
