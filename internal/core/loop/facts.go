package loop

import "time"

// Facts is the read-only view of the loop for performers of actions. Decisions stay in Step.
type Facts struct {
	StartedAt        time.Time
	Elapsed          time.Duration // that counts against the limit
	Limits           Limits
	Usage            Usage
	Iteration        int
	Turns            int
	BeforeFirstTurn  bool // no turn has begun
	InSession        bool // a user's session is the owner
	Verify           bool // the goal is green gates
	HandoverWhy      string
	Outcome          Outcome
	CommitPending    bool
	StaleIndexCommit string // Trouble.StaleIndexCommit

	Tasks              Tasks
	UnappliedEditFiles []string // files that keep edits of the plan which were not applied
	Permissions                 // of the user to change tests and other gate inputs
	AwaitingApproval   []string // State.AwaitingApproval

	// Of the task at work.
	Current        string
	Restored       RestoredWorks // by the user; no task has begun with it
	Start          TaskStart
	TurnSinceGates bool // a turn ended after the last gate run
	Claimed        bool
	Answer         string
	ClaimGates     *Gates    // of the claim being reviewed or committed
	ClaimGatedAt   time.Time // when they ran

	// For the next prompt.
	Failing     *Failing
	LastTestRun *TestRun
	Lessons     []Lesson
	History     []RecapLine
}

// Facts returns what performers of actions need to know now.
func (s State) Facts() Facts {
	var claim OpenClaim
	if s.Claim != nil {
		claim = *s.Claim
	}
	return Facts{
		StartedAt: s.StartedAt, Elapsed: s.Elapsed(), Limits: s.Policy.Limits, Usage: s.Usage,
		Iteration: s.Iteration, Turns: s.Turns, BeforeFirstTurn: s.BeforeFirstTurn(), InSession: s.InSession, Verify: s.Policy.Verify,
		HandoverWhy: s.Handover.Why, Outcome: s.Outcome, CommitPending: s.CommitPending(), StaleIndexCommit: s.Trouble.StaleIndexCommit,
		Tasks: s.Tasks, UnappliedEditFiles: s.UnappliedEditFiles, Permissions: s.Permissions, AwaitingApproval: s.AwaitingApproval(),
		Current: s.Current, Restored: s.Restored, Start: s.Start, TurnSinceGates: s.Gates.TurnSince, Claimed: s.Claim != nil,
		Answer: s.Answer, ClaimGates: claim.Gates, ClaimGatedAt: claim.GatedAt,
		Failing: s.Failing, LastTestRun: s.Ladder.LastTestRun, Lessons: s.Lessons, History: s.History,
	}
}
