package loop

import "slices"

// Ladder is the current task's position on the retry ladder.
type Ladder struct {
	Attempt            int             `json:"attempt"`                        // 0 same session, 1 fresh session, 2 restored, 3 skipped
	Tries              int             `json:"tries,omitempty"`                // failed tries in this attempt
	Fingerprint        string          `json:"fingerprint,omitempty"`          // of the last failed try
	SameFailures       int             `json:"same_failures,omitempty"`        // tries in a row that failed like the one before
	IdleTurns          int             `json:"idle_turns,omitempty"`           // turns in a row without a tool call
	ToolCallsHidden    bool            `json:"tool_calls_hidden,omitempty"`    // see Turn
	OtherPromise       *OtherPromise   `json:"other_promise,omitempty"`        // of the last turn
	Asked              []RefusalReason `json:"asked,omitempty"`                // for what a claim was refused
	RefusedClaim       *OpenClaim      `json:"refused_claim,omitempty"`        // the refused claim, until another try fails
	SeenRed            bool            `json:"seen_red,omitempty"`             // a gate failed since the task started
	ReviewFailures     int             `json:"review_failures,omitempty"`      // reviews that failed the task's work
	ReportedSigns      []string        `json:"reported_signs,omitempty"`       // signs that were reported to the agent
	LastTestRun        *TestRun        `json:"last_test_run,omitempty"`        // of the last turn, nil if none
	TestRunFingerprint string          `json:"test_run_fingerprint,omitempty"` // of LastTestRun, if it failed
	SameRedRuns        int             `json:"same_red_runs,omitempty"`        // turns in a row with that fingerprint
	TreeChanges        int             `json:"tree_changes,omitempty"`         // number of times the tree changed during a review
}

// RefusalReason is what a claim lacks. A claim is refused once for each reason.
type RefusalReason string

// The reasons.
const (
	LacksEvidence   RefusalReason = "evidence"     // no file changed, or nothing shows the difference
	NeedsInputs     RefusalReason = "inputs"       // it needs changed gate inputs
	GateCannotStart RefusalReason = "cannot_start" // a gate could start when the task began
	StaysRed        RefusalReason = "stays_red"    // gates fail that failed before too
)

// HasRefused reports whether a claim was refused for this reason.
func (l Ladder) HasRefused(reason RefusalReason) bool { return slices.Contains(l.Asked, reason) }

// The attempts at a failing task, in order: State.Ladder.Attempt.
const (
	sameSession  = 0 // three tries in one session, with the failure summary
	freshSession = 1 // one try in a fresh session, with the recap
	restored     = 2 // back to the task's start, one try in a fresh session, with the lesson
	skipTask     = 3 // skipped
)

const (
	triesInSession  = 3
	maxSameFailures = 3 // identical failures in a row that are worth paying for
)

// fail counts a failed try and moves to the next attempt when this one has no tries left. Two
// identical fingerprints end an attempt early, unless the user set a number of tries.
func (m *machine) fail(f Failing, fingerprint string) {
	m.s.Failing = &f
	m.remember("failed: " + f.Reason)
	if o := m.limit(); o != "" {
		m.limitReached(o)
		return
	}
	same := fingerprint != "" && fingerprint == m.s.Ladder.Fingerprint
	m.s.Ladder.Fingerprint = fingerprint
	if m.s.Ladder.SameFailures++; !same {
		m.s.Ladder.SameFailures = 0
	}
	m.s.Ladder.IdleTurns, m.s.Ladder.RefusedClaim = 0, nil
	m.s.Ladder.Tries++
	if m.s.Ladder.Attempt == sameSession && m.s.Ladder.Tries < m.maxTries() && (!same || m.s.Policy.Tries > 0) {
		m.beginTurnFor(m.s.Failing.situation())
		return
	}
	m.nextAttempt()
}

// situation returns the prompt's situation after the failure: no gate failed if no work was gated.
func (f *Failing) situation() Situation {
	if f.NoWork {
		return NoClaim
	}
	return GatesFailed
}

func (m *machine) maxTries() int {
	if n := m.s.Policy.Tries; n > 0 {
		return n
	}
	return triesInSession
}

// nextAttempt moves to the next attempt that the policy allows. It leaves a user's session only
// with their consent. Verify loops retry in fresh sessions until their limit, isolated from the
// user's.
func (m *machine) nextAttempt() {
	p, l := m.s.Policy, &m.s.Ladder
	if l.Attempt == sameSession {
		l.SameFailures = min(l.SameFailures, 1) // maxSameFailures only counts turns that are paid for
	}
	l.Tries = 0
	l.Attempt++
	if l.Attempt == freshSession && m.s.InSession && !p.Verify && !m.mayHandover() {
		l.Attempt++
	}
	if l.Attempt == restored && !m.mayRestore() {
		l.Attempt++
	}
	if p.Verify {
		l.Attempt = freshSession
	}
	if m.isolates() && l.SameFailures >= maxSameFailures { // each try costs money without progress
		l.Attempt = skipTask
	}
	if m.s.Failing.Review { // work is neither undone nor skipped for a review's sake
		l.Attempt = min(l.Attempt, freshSession)
	}
	switch l.Attempt {
	case freshSession:
		m.s.Next.Fresh = !m.s.InSession || m.mayHandover()
		m.beginTurnFor(m.s.Failing.situation())
	case restored:
		m.s.Next.Fresh = true
		m.s.Next.Situation = WasRestored
		m.restore(ThenTurn)
	default:
		m.skip(Skipped, m.s.Failing.Reason)
	}
}

// mayRestore reports whether the tree may be restored; never in a user's session.
func (m *machine) mayRestore() bool { return m.s.Policy.Restore && !m.s.InSession }

func (m *machine) restore(then After) {
	m.s.Gates.TurnSince = false
	if !m.s.Failing.NoWork { // else nothing was learnt
		m.learn(m.undoneLesson())
	}
	m.s.After = then
	m.await(Restoring, Restore{Task: m.s.Current, Tree: m.s.Start.Tree, Why: m.s.Failing.Reason})
}

// skip leaves the current task for the next one. It checkpoints the unfinished work and restores
// the task's start tree, unless --on-failure is keep.
func (m *machine) skip(status TaskStatus, why string) {
	id := m.s.Current
	took := m.s.Elapsed() - m.s.TaskElapsed
	m.dropQuestion(id) // when the loop is reopened the task starts anew
	m.updateTask(id, func(t *Task) { t.Status, t.Why, t.Took = status, why, t.Took+took })
	m.remember(string(status) + ": " + why)
	if m.s.Failing == nil || m.s.Failing.Reason != why {
		m.s.Failing = &Failing{Reason: why, NoWork: status == Blocked}
	}
	m.s.Claim = nil
	if m.mayRestore() {
		m.restore(ThenNext)
		return
	}
	m.s.After = ThenNext
	m.await(Checkpointing, Checkpoint{Task: id, Subject: "task " + id + " skipped"})
}
