package loop_test

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// oldTests are those that the agent changes, asks for, and a user speaks of.
func oldTests() []string { return []string{"a_test.go", "b_test.go"} }

// word is what the agent asks or the user says of changed tests.
func (w *world) word() loop.Event {
	paths := oldTests()[w.r.IntN(2):]
	return loop.Event{Payload: []loop.EventPayload{
		loop.TestChangeRequested{Paths: paths, Why: "why"}, loop.Approved{Paths: paths}, loop.Rejected{Paths: paths, Why: "why"},
	}[w.r.IntN(3)]}
}

// changesTests lets a claim pass only with changed tests, and says what it would
// be worth.
func (w *world) changesTests(g *loop.Gates) {
	g.TestsChanged = oldTests()[:1+w.r.IntN(2)]
	g.ChangedTests = []loop.TestChange{{Path: "a_test.go", Line: 3, Kind: "deleted", Name: "TestA"}}
	g.IfApproved = &loop.IfApproved{Paths: g.TestsChanged, Evidence: []gate.Evidence{gate.Proven, gate.Unproven}[w.r.IntN(2)]}
}

// refused are rejected tests that are found changed.
func (w *world) refused() []string {
	if len(w.s.Rejected) == 0 || !w.coin(3) {
		return nil
	}
	return []string{w.s.Rejected[0].Path}
}

// checkApprovals: only a change of a protected file, or of a test that was rejected before, is a violation;
// a claim that passes only with changed tests is none. What waits for an approval is
// no evidence.
func (w *world) checkApprovals(before loop.State, e loop.Event) {
	w.checkMessages(before, e)
	violated := false
	switch p := e.Payload.(type) {
	case loop.TreeInspected:
		violated = len(p.Inspection.Tampered) > 0 || slices.ContainsFunc(before.Rejected, func(d loop.Rejection) bool {
			return d.Reported && slices.Contains(p.Inspection.RejectedTests, d.Path)
		})
	case loop.GatesFinished:
		violated = len(p.Gates.Tampered) > 0
	}
	if w.s.Violations > before.Violations && !violated {
		w.t.Errorf("%s is a violation: %+v", e.Kind(), e)
	}
	for _, t := range w.s.Tasks {
		if t.Status == loop.Done && len(t.TestsChanged) > 0 && !t.DoneEarlier && t.Evidence != gate.EvidenceUnknown {
			w.t.Errorf("only with changed tests, and %s: %+v", t.Evidence, t)
		}
	}
	for _, d := range w.s.Rejected {
		if w.s.MayChange(d.Path) {
			w.t.Errorf("%s is rejected and may be changed: %v", d.Path, w.s.Approved)
		}
	}
}

// approveAll: an approval after the end makes an unverified loop at most what its tasks
// were found to be.
func (w *world) approveAll() {
	before := w.s
	w.feed(loop.Event{Payload: loop.Approved{}})
	if w.s.Outcome != before.Outcome && (before.Outcome != loop.Unverified || w.s.Outcome != loop.Verified) {
		w.t.Errorf("approved from %s to %s", before.Outcome, w.s.Outcome)
	}
	w.checkEnd()
}
