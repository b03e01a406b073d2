package loop

import (
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Purpose says what a gate run is for.
type Purpose string

// The purposes.
const (
	ForBaseline Purpose = "baseline"
	ForClaim    Purpose = "claim"
	ForTurn     Purpose = "turn"   // after a turn without a claim: reported to the agent, not counted
	ForLimit    Purpose = "limit"  // the final run before a limit ends the loop
	ForFinal    Purpose = "final"  // no task left: all gates on the final tree
	ForReview   Purpose = "review" // reviews of work that passes the commands
)

// Gates is the result of a gate run.
type Gates struct {
	Purpose             Purpose       `json:"purpose"`
	Tree                string        `json:"tree"`
	Head                string        `json:"head,omitempty"` // commit at HEAD when the tree was taken
	Status              gate.Status   `json:"status"`         // relative to the baseline
	Green               bool          `json:"green"`          // everything passed, apart from gates with baseline = allow
	Reason              string        `json:"reason,omitempty"`
	RedIsGoal           bool          `json:"red_is_goal,omitempty"`           // ForBaseline: the user wants the failing gates fixed
	CannotStart         bool          `json:"cannot_start,omitempty"`          // Unknown, because a program is missing, or nothing passes that passed on this tree before
	ChangesTrackedFiles bool          `json:"changes_tracked_files,omitempty"` // ForBaseline: Unknown, because a gate changes tracked files in every run
	Receipt             string        `json:"receipt,omitempty"`
	Message             string        `json:"message,omitempty"` // of the commit, as edited by the user's hooks
	Results             []gate.Result `json:"results,omitempty"` // without test maps, for display and the report

	WorkResult
	Failures
	Proof
	TestChanges
	ReviewResult
	PlanState
}

// WorkResult is the result of gates, reviews and the user for work. A task that is done keeps it.
type WorkResult struct {
	Evidence     gate.Evidence `json:"evidence,omitempty"`
	Flipped      []string      `json:"flipped,omitempty"`       // tests or gates that failed before it and pass now
	TestsChanged []string      `json:"tests_changed,omitempty"` // the gates pass only with the agent's version of these
	TestsRemoved bool          `json:"tests_removed,omitempty"` // TestsChanged were removed, and the gates pass with the originals
	TestsNotRun  []string      `json:"tests_not_run,omitempty"` // its new tests that no gate runs
	OnlyText     bool          `json:"only_text,omitempty"`     // it changed documents and comments alone
	ChangedTests []TestChange  `json:"changed_tests,omitempty"` // structural changes of old tests
	IfApproved   *IfApproved   `json:"if_approved,omitempty"`   // the evidence if its changes of old tests are approved
	Approved     []string      `json:"approved,omitempty"`      // changed tests that the reviews accept
	Reviewed     ReviewEnd     `json:"reviewed,omitempty"`      // how its reviews ended, "" without
	Findings     []string      `json:"findings,omitempty"`      // of the last review that disagreed: "file:line: what", the worst first
	Accepted     bool          `json:"accepted,omitempty"`      // a user read the work and accepted it
}

// Failures lists the failing tests and gates for the next attempt.
type Failures struct {
	Failing     []string `json:"failing,omitempty"` // of a claim: regressions; without any, what failed before too
	FirstError  string   `json:"first_error,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
	StillRed    []string `json:"still_red,omitempty"` // gates without test IDs that failed before too: they count only at the end
}

// Proof is how the evidence was found, and what it lacks.
type Proof struct {
	FlippedGates      []string `json:"flipped_gates,omitempty"` // gates without test IDs that failed and pass now: they prove every task since
	Labels            []string `json:"labels,omitempty"`
	Remedy            string   `json:"remedy,omitempty"`              // what would make the claim count; "": a test that fails without the work
	Signs             []string `json:"signs,omitempty"`               // suspicious places in the work: file, line and what it does
	OriginalsUnknown  bool     `json:"originals_unknown,omitempty"`   // old tests changed, and the result with the originals is unknown
	OnlyInWorkTree    bool     `json:"only_in_work_tree,omitempty"`   // the gates fail on what the commit would hold, and did not before
	MissingFromCommit []string `json:"missing_from_commit,omitempty"` // untracked files of the user that the gates saw and the commit lacks
}

// TestChanges lists changes of tests and other gate inputs.
type TestChanges struct {
	NeededInputs   []string `json:"needed_inputs,omitempty"`   // those of TestsChanged that are not tests
	AwaitedChanges []string `json:"awaited_changes,omitempty"` // changes of earlier tasks that await approval; the gates pass only with them
	ProtectedTree  string   `json:"protected_tree,omitempty"`  // tree with the protected files after this commit, "" = unchanged
	Tampered       []string `json:"tampered,omitempty"`        // protected files that the agent changed while the gates ran
}

// ReviewResult is how a run of the reviews went, ForReview.
type ReviewResult struct {
	RetriesSpent bool      `json:"retries_spent,omitempty"` // Unknown, and no retry is left
	RetryAt      time.Time `json:"retry_at,omitzero"`       // Unknown, and earliest time to retry
	Usage        Usage     `json:"usage,omitzero"`
}

// PlanState is the plan and its commits at the end, ForFinal.
type PlanState struct {
	Added       []Task   `json:"added,omitempty"`        // plan tasks that are new to the loop
	LostCommits []string `json:"lost_commits,omitempty"` // done tasks whose commits are gone
}

// Red names the failing tests, or the failing gates that name none.
func (g Gates) Red() []string {
	var names []string
	for _, r := range g.Results {
		failing := r.Failing
		if r.Status == gate.Fail && len(failing) == 0 {
			failing = []string{r.Gate}
		}
		for _, name := range failing {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// FailingTests returns the tests in Failing without the gates. A failing gate that several tasks
// flipped does not show which task broke.
func (g Gates) FailingTests() []string {
	isGate := func(name string) bool {
		return slices.ContainsFunc(g.Results, func(r gate.Result) bool { return r.Gate == name })
	}
	return slices.DeleteFunc(slices.Clone(g.Failing), isGate)
}
