package loop

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// TestRun is the result of the agent's own test run in a turn. It proves nothing, but is shown to
// the agent again. The same failure turn after turn indicates that the work makes no progress.
type TestRun struct {
	Command    string   `json:"command"`
	Result     string   `json:"result"` // see package testreport: "pass", "fail" …
	Failed     int      `json:"failed,omitempty"`
	Failing    []string `json:"failing,omitempty"` // at most TestNames
	FirstError string   `json:"first_error,omitempty"`
}

// Limits of what is kept of a test run.
const (
	TestNames   = 20
	testCommand = 200 // bytes
	testWords   = 200 // bytes of a name or an error
)

// Bounded returns the run with every text shortened for the journal.
func (t TestRun) Bounded() TestRun {
	t.Command, t.FirstError = plan.OneLine(t.Command, testCommand), plan.OneLine(t.FirstError, testWords)
	names := make([]string, min(len(t.Failing), TestNames))
	for i := range names {
		names[i] = plan.OneLine(t.Failing[i], testWords)
	}
	t.Failed = max(t.Failed, len(t.Failing))
	t.Failing = names
	return t
}

// Redacted returns the run with redact applied to every text; nil changes nothing.
func (t TestRun) Redacted(redact func(string) string) TestRun {
	if redact == nil {
		return t
	}
	t.Command, t.FirstError = redact(t.Command), redact(t.FirstError)
	names := make([]string, len(t.Failing))
	for i, n := range t.Failing {
		names[i] = redact(n)
	}
	t.Failing = names
	return t
}

// Red reports whether tests failed.
func (t *TestRun) Red() bool { return t != nil && t.Result == "fail" }

// String formats the run: "`npm test`: 2 failed: a, b (expected 3)".
func (t TestRun) String() string {
	words := strings.ReplaceAll(t.Result, "_", " ")
	if t.Result == "fail" {
		words = "failed"
		if t.Failed > 0 {
			words = fmt.Sprintf("%d failed", t.Failed)
		}
		const few = 5
		if len(t.Failing) > 0 {
			words += ": " + strings.Join(t.Failing[:min(few, len(t.Failing))], ", ")
		}
		if more := t.Failed - few; len(t.Failing) > 0 && more > 0 {
			words += fmt.Sprintf(" and %d more", more)
		}
		if t.FirstError != "" {
			words += " (" + t.FirstError + ")"
		}
	}
	return "`" + t.Command + "`: " + words
}

// fingerprint identifies a failing run, ignoring numbers.
func (t TestRun) fingerprint() string {
	return gate.Fingerprint("", []gate.Result{{Gate: t.Command, Status: gate.Fail, Failing: t.Failing, Tail: t.FirstError}})
}

// maxSameRedRuns is how many turns in a row with the same failing test run count like two identical
// failed tries.
const maxSameRedRuns = 3

// recordTestRun records the last test run of a turn.
func (m *machine) recordTestRun(t *TestRun) {
	l := &m.s.Ladder
	l.LastTestRun = t
	if !t.Red() {
		l.TestRunFingerprint, l.SameRedRuns = "", 0
		return
	}
	if red := t.fingerprint(); red != l.TestRunFingerprint {
		l.TestRunFingerprint, l.SameRedRuns = red, 0
	}
	l.SameRedRuns++
}

// repeatsRedRun reports whether the agent's test runs failed in the same way for too many turns.
func (m *machine) repeatsRedRun() bool {
	return m.s.Policy.Kind == Change && m.s.Policy.Gates && m.s.Ladder.SameRedRuns >= maxSameRedRuns
}

// failRepeatedRun fails the task as two identical failed tries would. In a user's session it is one
// failed try, since the user may have intervened.
func (m *machine) failRepeatedRun() {
	l := &m.s.Ladder
	t, red := l.LastTestRun, l.TestRunFingerprint
	if !m.s.InSession {
		l.Fingerprint = red // the failure of the try before, too
	}
	l.TestRunFingerprint, l.SameRedRuns = "", 0
	reason := fmt.Sprintf("the agent's own test run failed in the same way in %d turns in a row: %s", maxSameRedRuns, t)
	m.fail(Failing{Reason: reason, Tests: t.Failing, FirstError: t.FirstError}, red)
}
