package loop_test

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// protectedTests are tests that the agent changes or asks for, and that a user approves or rejects.
func protectedTests() []string { return []string{"a_test.go", "b_test.go"} }

// randomTestDecision returns a request of the agent or a decision of the user about changed tests.
func (w *randomWalk) randomTestDecision() loop.Event {
	paths := protectedTests()[w.r.IntN(2):]
	return loop.Event{Payload: []loop.EventPayload{
		loop.TestChangeRequested{Paths: paths, Why: "why"}, loop.Approved{Paths: paths}, loop.Rejected{Paths: paths, Why: "why"},
	}[w.r.IntN(3)]}
}

// changeTests lets a claim pass only with changed tests, and sets its evidence with an approval.
func (w *randomWalk) changeTests(g *loop.Gates) {
	g.TestsChanged = protectedTests()[:1+w.r.IntN(2)]
	g.ChangedTests = []loop.TestChange{{Path: "a_test.go", Line: 3, Kind: "deleted", Name: "TestA"}}
	g.IfApproved = &loop.IfApproved{Paths: g.TestsChanged, Evidence: []gate.Evidence{gate.Proven, gate.Unproven}[w.r.IntN(2)], Flipped: []string{"TestA"}, Reason: "why"}
}

// rejectedTests returns rejected tests that were changed.
func (w *randomWalk) rejectedTests() []string {
	if len(w.s.Rejected) == 0 || !w.oneIn(3) {
		return nil
	}
	return []string{w.s.Rejected[0].Path}
}

// checkApprovals checks violations and evidence. Only a change of a protected file, or a repeated
// change of a rejected test, is a violation. Work that waits for an approval has no evidence.
func (w *randomWalk) checkApprovals(before loop.State, e loop.Event) {
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

// checkApproveAll checks that an approval after the end gives tasks at most the evidence that was found.
func (w *randomWalk) checkApproveAll() {
	before := w.s
	w.feed(loop.Event{Payload: loop.Approved{}})
	if w.s.Outcome != before.Outcome && (before.Outcome != loop.Unverified || w.s.Outcome != loop.Verified && w.s.Outcome != loop.Finished) {
		w.t.Errorf("approved from %s to %s", before.Outcome, w.s.Outcome)
	}
	w.checkEnd()
}
