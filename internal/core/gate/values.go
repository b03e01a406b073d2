package gate

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// passesAll reports whether the tests pass in r. The gate's name means the whole gate.
func (r Result) passesAll(tests []string) bool {
	return !slices.ContainsFunc(tests, func(id string) bool { return r.Tests[id] != Pass && (id != r.Gate || r.Status != Pass) })
}

// provingTestsPass reports whether a gate has proving tests, and all pass in a probe.
func (w assessment) provingTestsPass(p Probe, name string) bool {
	return len(w.proving[name]) > 0 && w.probeResult(p, name).passesAll(w.proving[name])
}

// passingWithOtherValues returns the gates that pass with other values in the tests, but fail with
// failing tests.
func (w assessment) passingWithOtherValues(p Probe) []string {
	return filter(w.gateNames(), func(name string) bool {
		failing := w.probeResult(FailingTests, name)
		if w.probeResult(p, name).FailsWhere(resultOf(w.Now, name)) {
			return false // some test notices
		}
		return w.provingTestsPass(p, name) && failing.Status == Fail && !failing.passesAll(w.proving[name])
	})
}

// passesAnyExpectation rejects tests that pass whatever they expect.
func passesAnyExpectation(w assessment, v *Verdict) bool {
	return w.reportPassing(v, OtherExpected, "passes with wrong expected values: ",
		"the tests accept any result: with wrong expected values %s still passes; "+
			"code that ends the process, reads the tests or fakes comparisons can cause that. Remove it: then the tests count")
}

// ignoresInputs rejects tests of a program whose answers do not depend on its input.
func ignoresInputs(w assessment, v *Verdict) bool {
	return w.reportPassing(v, MixedInputs, "passes with any input: ",
		"the program ignores its input: with other inputs in the tests %s still passes. "+
			"Compute the answers from the inputs: then the tests count")
}

// reportPassing reports gates that pass in a probe in which they should fail.
func (w assessment) reportPassing(v *Verdict, p Probe, label, reason string) bool {
	gates := w.passingWithOtherValues(p)
	if len(gates) == 0 {
		return false
	}
	v.Labels, v.TestsCannotFail = append(v.Labels, label+plan.Few(gates, 4)), true
	v.Reason = fmt.Sprintf(reason, plan.Few(gates, 4))
	return true
}

// hardcodesAnswers rejects tests of a program that holds their answers and gives one answer to all
// other inputs.
func hardcodesAnswers(w assessment, v *Verdict) bool {
	for _, name := range w.gateNames() {
		closeRun, closerRun := w.probeResult(CloseInputs, name), w.probeResult(CloserInputs, name)
		if len(w.Work.HardcodedAnswers) == 0 || len(w.proving[name]) == 0 || !closeRun.failedInTests() || !closerRun.failedInTests() || !maps.Equal(closeRun.Tests, closerRun.Tests) {
			continue
		}
		if closeRun.outputWithout(w.Runs[CloseInputs].Inputs) != closerRun.outputWithout(w.Runs[CloserInputs].Inputs) {
			continue
		}
		v.Labels = append(v.Labels, "hardcoded answers: "+plan.Few(w.Work.HardcodedAnswers, 4))
		v.Reason = "the program holds the answers that its tests expect, and gives one answer for all other inputs: " + plan.Few(w.Work.HardcodedAnswers, 4) +
			". Compute the answers from the inputs: then the tests count"
		return true
	}
	return false
}

// failedInTests reports whether its tests ran, and some failed.
func (r Result) failedInTests() bool {
	return r.Status == Fail && !r.BuildFailed && !r.TimedOut
}

// runSpecific matches durations, addresses and temporary paths.
var runSpecific = regex.New(`(?:/private)?/(?:tmp|var/folders)/[^\s:"')]+|0x[0-9a-fA-F]+|\b\d+\.\d+ ?(?:ns|µs|us|ms|s)\b|\bduration_ms:? [\d.]+`)

// outputWithout returns the output without the tests' inputs and run-specific text.
func (r Result) outputWithout(given []string) string {
	text := runSpecific.ReplaceAllString(r.Head+"\n"+r.Tail, "#")
	given = slices.Clone(given)
	slices.SortFunc(given, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, word := range slices.Compact(given) {
		if word != "" {
			text = regex.New(`(^|[^\w])`+regexp.QuoteMeta(word)+`($|[^\w])`).ReplaceAllString(text, "${1}_${2}")
		}
	}
	lines := strings.Split(text, "\n")
	slices.Sort(lines) // cases from a map run in any order
	return strings.Join(lines, "\n")
}

// TestsProveNothing reports whether all gates pass, and no test proves the work.
func (v Verdict) TestsProveNothing() bool {
	return v.Status == Pass && v.Evidence == Unproven && (v.Remedy == "" || v.MutantsSurvived || len(v.TestsNotRun) > 0)
}
