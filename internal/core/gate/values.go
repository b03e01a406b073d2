package gate

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// passesAll reports whether the tests pass in r. The gate's name means the whole gate.
func (r Result) passesAll(tests []string) bool {
	return !slices.ContainsFunc(tests, func(id string) bool { return r.Tests[id] != Pass && (id != r.Gate || r.Status != Pass) })
}

// PassesAll reports whether every proving test passes in a run.
func (o Observation) PassesAll(run []Result) bool {
	o, run = o.withoutKnownFailures(), withoutTests(run, o.knownFailures())
	proving, some := o.provingTests(Decide(o)), false
	for _, r := range run {
		some = some || len(proving[r.Gate]) > 0
		if !r.passesAll(proving[r.Gate]) {
			return false
		}
	}
	return some
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

// passesWith is for gates that pass in a probe in which they should fail.
func passesWith(p Probe, label, reason string) func(assessment, *Verdict) bool {
	passing := named(func(w assessment) []string { return w.passingWithOtherValues(p) }, label, reason)
	return func(w assessment, v *Verdict) bool {
		passes := passing(w, v)
		v.TestsCannotFail = v.TestsCannotFail || passes
		return passes
	}
}

// answersHeld returns the answers to its tests that the program holds, if it gives one answer to all
// other inputs.
func (w assessment) answersHeld() []string {
	same := slices.ContainsFunc(w.gateNames(), func(name string) bool {
		near, nearer := w.probeResult(CloseInputs, name), w.probeResult(CloserInputs, name)
		return len(w.proving[name]) > 0 && near.failedInTests() && nearer.failedInTests() && maps.Equal(near.Tests, nearer.Tests) &&
			near.outputWithout(w.Runs[CloseInputs].Inputs) == nearer.outputWithout(w.Runs[CloserInputs].Inputs)
	})
	if !same {
		return nil
	}
	return w.Work.HardcodedAnswers
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
