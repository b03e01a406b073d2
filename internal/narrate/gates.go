package narrate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Probe says what a further run of a gate shall find out.
func Probe(p gate.Probe) string {
	switch p {
	case gate.Originals, gate.OriginalsOfTask, gate.OriginalsBefore, gate.OriginalsControl:
		return ", with the original tests"
	case gate.RepeatBefore, gate.RepeatClean, gate.RepeatAfter, gate.RepeatOriginals, gate.RepeatOverlay:
		return ", once more to be sure"
	case gate.Mutants, gate.MutantsForNewTests, gate.SingleMutants:
		return ": do the tests notice when this work is broken?"
	case gate.ZeroParameters:
		return ": do the tests check what the task names?"
	case gate.SignsNeutralized, gate.SignsOneByOne:
		return ": do the tests pass without the suspicious code?"
	case gate.OtherExpected, gate.OtherInputs, gate.MixedInputs, gate.FailingTests:
		return ": do the tests fail when their values are changed?"
	case gate.Canary, gate.CanaryBefore:
		return ": does it report a test that must fail?"
	case gate.Control:
		return ": does a clean checkout give the same results before the work?"
	case gate.Overlay:
		return ": do the new tests fail without this work?"
	}
	return ""
}

// TestCounts returns how many tests passed and failed, if the report has ids.
func TestCounts(r gate.Result) string {
	switch {
	case r.Failed > 0:
		return fmt.Sprintf(": %d pass, %d fail", r.Passed, r.Failed)
	case r.Passed > 0:
		return fmt.Sprintf(": %d pass", r.Passed)
	case r.NoTestsFound:
		return ": it ran no tests"
	}
	return ""
}

// GateResult returns a gate's status and the reason.
func GateResult(r gate.Result) string {
	switch {
	case r.Status == gate.Pass && r.Warning != "":
		return "pass, but " + r.Warning
	case r.Status == gate.Pass:
		return "pass"
	case r.Reason != "":
		return GateStatus(r) + ": " + plan.OneLine(r.Reason, 100)
	}
	return fmt.Sprintf("%s (exit %d)", GateStatus(r), r.ExitCode)
}

// GateStatus returns the word for a gate's status.
func GateStatus(r gate.Result) string {
	if r.Allowed {
		return "fails, as allowed"
	}
	return string(r.Status)
}

// allowedFailures lists the gates that fail as allowed, "" if there are none.
func allowedFailures(results []gate.Result) string {
	var names []string
	for _, r := range results {
		if r.Allowed {
			names = append(names, r.Gate)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", " + GateStatus(gate.Result{Allowed: true}) + ": " + plan.Few(names, 4)
}

// VerifyGates describes the gates of a verify loop, whose goal is that they pass, without a claim.
func VerifyGates(g loop.Gates) string {
	switch {
	case g.Status == gate.Unknown:
		return "unknown; " + g.Reason
	case !g.Green && g.Reason != "":
		return "fail; " + g.Reason
	case !g.Green:
		return "fail; " + plan.Few(g.Red(), 4)
	case len(g.Flipped) > 0:
		return "pass; failed before: " + strings.Join(g.Flipped, ", ")
	}
	return "pass"
}

// Refusal says why the gates refused a claim, as the agent is told.
func Refusal(now loop.State, g loop.Gates) string {
	stillFails := g.Status != gate.Fail && len(g.Failing) > 0
	if stillFails && len(g.StillRed) == 0 {
		return plan.Few(g.Failing, 4) + " failed before this work and still " + figure.Verb(len(g.Failing), "fails", "fail")
	}
	if f := now.Failing; f != nil && now.Next.Situation == loop.ClaimRefused && !stillFails {
		return withRemedy(*f)
	}
	reason := g.Reason
	if reason == "" && now.Failing != nil {
		reason = now.Failing.Reason
	}
	if g.Purpose == loop.ForReview {
		return reason
	}
	if tests := g.FailingTests(); g.Status == gate.Fail && len(tests) > 0 {
		return cmp.Or(regressedTasks(now, tests), reason)
	}
	return reason
}

// withRemedy says what a claim lacks and what would be enough.
func withRemedy(f loop.Failing) string {
	switch {
	case f.OnlyText, len(f.NeededInputs) > 0:
		return f.Reason
	case f.Remedy != "":
		return f.Reason + "; what would be enough: " + f.Remedy
	}
	return f.Reason + ". Add a test that fails without the change"
}

// Violation says which protected files the n-th violation changed.
func Violation(n int, paths []string) string {
	return fmt.Sprintf("violation %s: the agent changed %s, which is protected; Pawl restored it", loop.ViolationRatio(n), strings.Join(paths, ", "))
}

// regressedTasks lists the finished tasks that this one broke, each with its first failing test.
func regressedTasks(now loop.State, failing []string) string {
	var parts []string
	seen := map[string]bool{}
	for _, test := range failing {
		if t, ok := now.ProvedBy(test); ok && !seen[t.ID] {
			seen[t.ID] = true
			parts = append(parts, fmt.Sprintf("task %s (%s)", t.ID, test))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "it breaks finished work: " + strings.Join(parts, ", ")
}
