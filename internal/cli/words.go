package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// refusal says why the gates did not let a claim stand.
func refusal(now loop.State, g loop.Gates) string {
	reason := g.Reason
	if reason == "" && now.Failing != nil {
		reason = now.Failing.Reason
	}
	if g.Purpose == loop.ForReview {
		return reason
	}
	if tests := g.FailingTests(); g.Status == gate.Fail && len(tests) > 0 {
		return cmp.Or(broken(now, tests), some(tests)+" "+plural(len(tests), "fails", "fail")+", and did not when this task began")
	}
	if g.Status == gate.Fail || len(g.StillRed) > 0 {
		return reason
	}
	if red := g.Failing; len(red) > 0 {
		return some(red) + " failed before this work and still " + plural(len(red), "fails", "fail")
	}
	if now.Situation == loop.ClaimRefused {
		return reason + ". Add a test that fails without the change"
	}
	return reason
}

// violationText says which protected files the n-th violation changed.
func violationText(n int, paths []string) string {
	return fmt.Sprintf("violation %d of 3: the agent changed %s, which is protected; Pawl restored it", n, strings.Join(paths, ", "))
}

// broken names the finished tasks that this one broke, each by its first test.
func broken(now loop.State, failing []string) string {
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

// rows are several lines of one label, which stands before the first.
func rows(line func(label, format string, args ...any), label string, texts []string) {
	for _, text := range texts {
		line(label, "%s", text)
		label = ""
	}
}

// probing says what a further run of a gate is to find out.
func probing(p gate.Probe) string {
	switch p {
	case gate.Originals, gate.OriginalsControl:
		return ", with the tests as they were"
	case gate.RepeatBefore, gate.RepeatClean, gate.RepeatAfter, gate.RepeatOriginals, gate.RepeatOverlay:
		return ", once more to be sure"
	case gate.Broken, gate.BrokenNew:
		return ": do the tests notice when this work is broken?"
	case gate.Neutral, gate.RepeatNeutral:
		return ": do the tests pass without what a reviewer would look at?"
	case gate.OtherExpected, gate.OtherInputs, gate.CloseInputs, gate.CloserInputs, gate.FailingTests:
		return ": do the tests fail when their values are changed?"
	case gate.Canary, gate.CanaryBefore:
		return ": does it report a test that must fail?"
	case gate.Control:
		return ": does a clean checkout show the same as before the work?"
	case gate.Overlay:
		return ": do the new tests fail without this work?"
	}
	return ""
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// counted is how many tests passed and failed, where the report has ids.
func counted(r gate.Result) string {
	switch {
	case r.Failed > 0:
		return fmt.Sprintf(": %d pass, %d fail", r.Passed, r.Failed)
	case r.Passed > 0:
		return fmt.Sprintf(": %d pass", r.Passed)
	}
	return ""
}

// listed are the first of the failing tests.
func listed(failing []string) string {
	if len(failing) == 0 {
		return ""
	}
	return " (" + some(failing) + ")"
}

// some are the first of a few names.
func some(names []string) string {
	const most = 4
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// result is the word for how a task ended.
func result(t loop.Task) string {
	switch t.Status {
	case loop.Done:
		return string(t.Evidence)
	case loop.Open, loop.Skipped, loop.Blocked, loop.Unchanged:
	}
	return string(t.Status)
}

// evidence says in words what tells this task's work from none.
func evidence(t loop.Task) string {
	switch {
	case t.Status == loop.Unchanged:
		return "claimed done, but changed no files"
	case t.Status != loop.Done:
		return t.Why
	case len(t.Tests) > 0:
		return "passes only with its own version of " + strings.Join(t.Tests, ", ")
	case t.Evidence == gate.Proven && len(t.Flipped) > 0:
		names := t.Flipped
		if len(names) > 3 {
			names = append(slices.Clone(names[:3]), fmt.Sprintf("%d more", len(t.Flipped)-3))
		}
		return strings.Join(names, ", ") + " failed before and " + plural(len(t.Flipped), "passes", "pass") + " now"
	case t.Evidence == gate.Unproven:
		return loop.Stands(t) + ": please review"
	}
	return t.Why
}
