package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// finding is one fact about a claim whose gates pass, and the evidence level that it gives.
type finding struct {
	fact     string   // for the table in docs/reference/evidence.md
	evidence Evidence // the level that it gives, or at most leaves
	remedy   string   // what the agent or the user can do, for the same table
	// holds reports whether the fact holds, and adds its reason to the verdict.
	holds func(w assessment, v *Verdict) bool
}

// assessment is an observation with values derived once for all findings.
type assessment struct {
	Observation
	flips      flips
	byNewTests []string // flips that new tests caused
	unrepeated []string // gates with flips that gave no result when repeated on the tree before the work
	overlay    overlayResult
	proving    map[string][]string // the proving tests by gate
}

// setEvidence applies the first finding that holds, and lowers a proven verdict by the first
// demerit that holds.
func (o Observation) setEvidence(v *Verdict) {
	w := o.findEvidence(v)
	w.proving = o.provingTests(*v)
	for _, f := range demerits() {
		if v.Evidence == Proven && f.holds(w, v) {
			v.Evidence, v.Remedy, v.Flipped, v.FlippedGates, v.Proving = f.evidence, f.remedy, nil, nil, nil
		}
	}
}

// findEvidence finds the evidence without the demerits.
func (o Observation) findEvidence(v *Verdict) assessment {
	tests := without(o.Inputs.Changed, o.Inputs.NonTests)
	if len(tests) > 0 {
		asked := ""
		if o.Inputs.Requested {
			asked = " as the task asks"
		}
		v.Labels = append(v.Labels, "tests changed"+asked+": "+plan.Few(tests, 4))
	}
	if len(o.Inputs.NonTests) > 0 {
		v.Labels = append(v.Labels, "gate inputs changed: "+plan.Few(o.Inputs.NonTests, 4))
	}
	w := assessment{Observation: o}
	for _, f := range inputFindings() {
		if f.holds(w, v) {
			v.Evidence = f.evidence
			return w
		}
	}
	w.derive(v)
	for _, f := range findings() {
		if f.holds(w, v) {
			v.Evidence = f.evidence
			break
		}
	}
	return w
}

// derive evaluates the flips and the overlay.
func (w *assessment) derive(v *Verdict) {
	w.flips = w.Observation.flips()
	confirmed := w.flips.confirmed()
	w.byNewTests = w.flippedByNewTests(confirmed)
	v.Flipped = unique(without(confirmed, w.byNewTests))
	for _, f := range w.flips {
		if f.withoutIDs {
			v.FlippedGates = append(v.FlippedGates, intersect(f.confirmed, v.Flipped)...)
		}
	}
	if names := w.flips.gates(notComparable); len(names) > 0 {
		v.Labels = append(v.Labels, notRepeatable+plan.Few(names, 4))
	}
	w.unrepeated = filter(w.flips.gates(seenOnce), func(name string) bool {
		return w.probed(RepeatBefore) && w.probeResult(RepeatBefore, name).Status == Unknown
	})
	for _, f := range w.flips {
		if slices.Contains(w.unrepeated, f.gate) {
			continue
		}
		for _, name := range without(f.turned, slices.Concat(confirmed, f.onlyHere)) {
			v.Flaky, v.Labels = append(v.Flaky, name), append(v.Labels, "flaky: "+name)
		}
	}
	if w.hasOverlay() {
		w.overlay = w.evaluateOverlay()
	}
}

// inputFindings come first. If gates need the agent's changes of gate inputs, no other finding
// counts; nor does one if the task wants no evidence.
func inputFindings() []finding {
	return []finding{{
		fact: "the gates pass only with changed gate inputs or changed old tests, or old tests are gone", evidence: EvidenceUnknown,
		remedy: "undo the change, or `pawl approve`",
		holds: func(w assessment, v *Verdict) bool {
			if !w.needsChangedInputs() {
				return false
			}
			v.NeedsChangedInputs, v.TestsRemoved, v.Reason = true, w.OnlyTestsRemoved(), w.NeedsChangedInputsReason(w.Inputs.NonTests)
			return true
		},
	}, {
		fact: "gate inputs or old tests were changed, and the gates could not run with the originals", evidence: EvidenceUnknown,
		remedy: "fix the isolated checkout (`pawl doctor`), or `pawl approve`",
		holds: func(w assessment, v *Verdict) bool {
			if !w.originalsUnknown() || w.Inputs.Allowed {
				return false
			}
			v.Reason = w.inputsNoun() + " were changed, and the gates could not run with the originals: " + w.probeProblem(Originals, OriginalsControl)
			v.Labels, v.OriginalsUnknown = append(v.Labels, "originals: not checked"), true
			return true
		},
	}, {
		fact: "everything that passed before still passes, and the task asks for `unproven` only", evidence: Unproven,
		remedy: "-",
		holds: when(func(w assessment) bool { return w.WantedEvidence == Unproven }, func(w assessment, v *Verdict) string {
			if len(v.StillRed) > 0 {
				return stillFails(v)
			}
			if w.Work.OnlyText {
				return onlyTextReason
			}
			return "everything that passed before still passes; whether tests check the work was not checked"
		}),
	}}
}

const onlyTextReason = "only documents and comments changed: no test can check that"

// stillFails is the reason if something failed before and fails still.
func stillFails(v *Verdict) string {
	return "nothing new fails; what failed before still fails: " + plan.Few(v.StillRed, 4)
}

// findings returns the findings in order: the first that holds sets the evidence.
func findings() []finding {
	return slices.Concat([]finding{{
		fact: "every gate timed out before, and still does", evidence: Unproven,
		remedy: "find out what waits or takes so long, or give the gate a longer `timeout`",
		holds: func(w assessment, v *Verdict) bool {
			v.Reason = "every gate timed out, as before the work: " + plan.Few(v.StillRed, 4)
			return len(w.Now) == 0
		},
	}}, flipFindings(), overlayFindings(), []finding{{
		fact: "only documents and comments changed", evidence: Unproven,
		remedy: "if nothing else was asked for: the user reviews it",
		holds: when(func(w assessment) bool { return w.Work.OnlyText }, func(assessment, *Verdict) string {
			return onlyTextReason
		}),
	}, {
		fact: "a failing test that Pawl adds to the new tests is not noticed", evidence: Unproven,
		remedy: "put the tests where the gates look for tests, or name a gate that runs them",
		holds:  missesNewTests,
	}, {
		fact: "new tests pass without the work too", evidence: Unproven,
		remedy: "a test that fails without the work",
		holds: when(func(w assessment) bool { return len(w.Tests.New) > 0 }, func(w assessment, _ *Verdict) string {
			if len(w.Inputs.OwnNonTests) > 0 {
				return "nothing new fails, and the new tests pass with the changed gate inputs alone: " + plan.Few(w.Inputs.OwnNonTests, 4) +
					". If these are part of the program, say so in pawl.toml: work = [" + strconv.Quote(w.Inputs.OwnNonTests[0]) + "]"
			}
			if w.Tests.NewData {
				return "nothing new fails, but everything also passes with these files alone: " + plan.Few(w.Tests.New, 4)
			}
			return "nothing new fails, but the new and changed tests pass without this work too: " + plan.Few(w.Tests.New, 4)
		}),
	}, {
		fact: "what failed before still fails", evidence: Unproven,
		remedy: "make it pass, or add a test that fails without the work",
		holds: func(_ assessment, v *Verdict) bool {
			v.Reason = stillFails(v)
			return len(v.StillRed) > 0
		},
	}, {
		fact: "everything passes, as before", evidence: Unproven,
		remedy: "a test that fails without the work",
		holds: when(func(assessment) bool { return true }, func(assessment, *Verdict) string {
			return "everything passes, but no test failed before this work"
		}),
	}})
}

// flipFindings are about tests that failed before the work.
func flipFindings() []finding {
	return []finding{{
		fact: "what failed before passes in the work tree, and fails in a clean checkout", evidence: EvidenceUnknown,
		remedy: commitAllFiles,
		holds: func(w assessment, v *Verdict) bool {
			names := w.flips.onlyHere()
			if len(names) > 0 {
				v.setGreenOnlyHere(names, w.Clean.ChangedIgnoredFiles)
			}
			return len(names) > 0
		},
	}, {
		fact: "a test or gate that failed before passes now, each seen twice", evidence: Proven, remedy: "-",
		holds: func(w assessment, v *Verdict) bool {
			if len(v.Flipped) == 0 {
				return false
			}
			v.Reason = "failed before this work and passes now: " + plan.Few(v.Flipped, 4)
			if len(w.Tests.New) > 0 {
				v.Proving = without(w.overlay.failed, v.Flipped)
			}
			return true
		},
	}, {
		fact: "what failed before passes because of new tests, not of the work", evidence: Unproven,
		remedy: "a test that fails without the work",
		holds: func(w assessment, v *Verdict) bool {
			v.Reason = "passes now because of the new tests, not because of the work: " + plan.Few(w.byNewTests, 4) + " (" + plan.Few(slices.Concat(w.Tests.New, w.replacedTests()), 4) + ")"
			if len(w.byNewTests) > 0 {
				v.Labels = append(v.Labels, "turned green by new tests: "+plan.Few(w.byNewTests, 4))
			}
			return len(w.byNewTests) > 0
		},
	}}
}

// when combines a condition and its reason.
func when(holds func(assessment) bool, why func(assessment, *Verdict) string) func(assessment, *Verdict) bool {
	return func(w assessment, v *Verdict) bool {
		if !holds(w) {
			return false
		}
		v.Reason = why(w, v)
		return true
	}
}

// named is for a fact about names, such as tests or functions: it holds if there are some. reason has %s
// for them.
func named(names func(assessment) []string, label, reason string) func(assessment, *Verdict) bool {
	return func(w assessment, v *Verdict) bool {
		found := names(w)
		if len(found) == 0 {
			return false
		}
		v.Labels = append(v.Labels, label+plan.Few(found, 4))
		v.Reason = fmt.Sprintf(reason, plan.Few(found, 4))
		return true
	}
}

// demerits are facts that keep a claim from being proven: one is enough.
func demerits() []finding {
	return []finding{
		{fact: "a gate passes in the work tree and not in a clean checkout, which did show the state before the work", evidence: EvidenceUnknown, remedy: commitAllFiles, holds: passesOnlyInWorkTree},
		{fact: "a gate gave its result in a clean checkout when the loop started, and gives none there with the work, also after retries", evidence: EvidenceUnknown, remedy: "fix the isolated checkout (`pawl doctor`), or `pawl approve`", holds: lostCleanCheckout},
		{fact: "the tests also pass when every function of the work is broken", evidence: Unproven, remedy: "a test that compares what a function returns", holds: mutantsSurvived},
		{fact: "the work with broken functions does not build, or a gate gives no result in a clean checkout, so Pawl cannot tell whether the tests check them", evidence: Unproven, remedy: "a test of a function that was there before", holds: mutantsNotTried},
		{fact: "more than 2,000 programs changed: Pawl cannot tell which of them the tests check", evidence: Unproven, remedy: "smaller tasks, or `pawl approve`", holds: when(
			func(w assessment) bool { return w.Work.TooManyPrograms }, func(assessment, *Verdict) string {
				return "more than 2,000 programs changed, too many to tell which of them the tests check. Divide the work into smaller tasks, or review it"
			})},
		{fact: "the work lacks something that the task asks for: a new function ignores its input, and neither the program nor a test calls it; a parameter that the task names has no effect except that some values are refused; or neither the changed programs nor the code that they call have what the task needs, such as a rename, lock or commit for *atomic*", evidence: Unproven, remedy: "do it and test it, or `pawl approve`", holds: named(
			func(w assessment) []string { return w.Work.Unfinished }, "not done: ",
			"the work cannot do all that the task asks for: %s")},
		{fact: "the tests also pass when a new parameter that the task names has the zero value of its type, or a large number if some are refused", evidence: Unproven, remedy: "a test in which it makes a difference", holds: named(
			func(w assessment) []string { return w.Runs[ZeroParameters].Untested }, "not tested: ",
			"the task names parameters that no test checks: %s; with the zero value of its type in its place (of a text, another one; of a number of which some are refused, a large one) all tests still pass")},
		{fact: "the tests also pass with one of these changes: a new condition that depends on no input is always or never true; half of the new conditions, except shortcuts, are never true, or half of the new functions do nothing, one at a time; a statement that does what the task asks for (removes, rolls back) is left out; a function or program that the task names has its old text; a bound or variable that the task names has another value", evidence: Unproven, remedy: "a test in which it makes a difference", holds: named(
			func(w assessment) []string { return w.Runs[SingleMutants].Untested }, "not tested: ",
			"no test notices when part of this work has no effect: %s")},
		{fact: "the tests pass only because of a sign: code that detects tests, exits, changes assertions", evidence: Unproven, remedy: "remove it", holds: passesOnlyBySigns},
		{fact: "the tests also pass when they expect other values", evidence: Unproven, remedy: "remove the code that makes any result pass", holds: passesWith(OtherExpected,
			"passes with wrong expected values: ",
			"the tests accept any result: with wrong expected values %s still passes; "+
				"code that ends the process, reads the tests or fakes comparisons can cause that. Remove it: then the tests count")},
		{fact: "the tests also pass when they give the program other inputs, in any form", evidence: Unproven, remedy: "compute the answers from the inputs", holds: passesWith(MixedInputs, "passes with any input: ",
			"the program ignores its input: with other inputs in the tests %s still passes. Compute the answers from the inputs: then the tests count")},
		{fact: "a gate does not report Pawl's own test that must fail (canary)", evidence: Unproven, remedy: "remove the code that hides failures", holds: missesCanary},
		{fact: "a gate passes although its output says that tests failed, and did not say so before", evidence: Unproven, remedy: "make the gate's exit code report failures", holds: masksFailures},
		{fact: "the gate's run writes test files or gate scripts, and did not before the work", evidence: Unproven, remedy: "remove the code that writes them", holds: named(
			assessment.writtenInputs, "gate inputs written while the gates ran: ",
			"the gates rewrote tests or other gate inputs while they ran, so their result proves nothing: %s. Remove the code that writes them")},
	}
}

// masksFailures detects a gate that passes although its output says that tests failed, which it did
// not before the task.
func masksFailures(w assessment, v *Verdict) bool {
	for _, r := range w.Now {
		if r.Status != Pass || !r.MasksFailures || resultOf(w.Baseline, r.Gate).MasksFailures {
			continue
		}
		v.Reason = r.Gate + " passes, but " + r.Warning + "; fix those tests, or make the exit code report them"
		return true
	}
	return false
}

// writtenInputs returns the test files and gate scripts that a run of the work wrote in a clean
// checkout. It ignores those that the baseline tree writes, or that the work tree's run visibly
// left.
func (w assessment) writtenInputs() []string {
	var files []string
	for _, p := range []Probe{RepeatClean, Originals, Canary} {
		for _, r := range w.Runs[p].Results {
			before, control, now := resultOf(w.Baseline, r.Gate).WrittenTests, w.probeResult(Control, r.Gate).WrittenTests, resultOf(w.Now, r.Gate).WrittenTests
			for file, restored := range r.WrittenTests {
				_, known := before[file]
				_, inControl := control[file]
				hereRestored, here := now[file]
				if leftHere := here && !hereRestored; !known && !inControl && (restored || !leftHere) {
					files = append(files, file)
				}
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// Table returns the findings and demerits as a Markdown table for the docs.
func Table() string {
	var b strings.Builder
	row := func(f finding, how string) {
		b.WriteString("| " + f.fact + " | " + how + " | " + f.remedy + " |\n")
	}
	b.WriteString("| finding | evidence | what would be enough |\n|---|---|---|\n")
	for _, f := range slices.Concat(inputFindings(), findings()) {
		row(f, string(f.evidence))
	}
	for _, f := range demerits() {
		row(f, "at most "+string(f.evidence))
	}
	return b.String()
}
