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
