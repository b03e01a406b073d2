package loop

import "time"

// Facts are what the performers of actions need to know of the loop, besides the action
// itself. They see no State: what follows from it is for Step to decide.
type Facts struct {
	StartedAt        time.Time
	Elapsed          time.Duration // that counts against the limit
	Limits           Limits
	Usage            Usage
	Iteration        int
	Turns            int
	BeforeFirstTurn  bool // no turn has begun
	Attended         bool // a user's session is the owner
	Verify           bool // green gates are the goal
	HandoverWhy      string
	Outcome          Outcome
	CommitPending    bool
	StaleIndexCommit string // Trouble.Behind

	Tasks              Tasks
	UnappliedEditFiles []string // files that keep edits of the plan which were not applied
	Permissions                 // of the user to change tests and other gate inputs
	Pending            []string // State.AwaitingApproval

	// Of the task at work.
	Current        string
	StartTree      string // tree that it starts from
	WithEdits      string // the same with what the user had edited and not committed, where that is not Start
	UnfinishedTree string // tree that its first turn finds, where that is not Start
	TurnSinceGates bool   // a turn has ended since the gates last ran
	Claimed        bool
	Answer         string
	ClaimGates     *Gates    // for the claim being reviewed or committed
	ClaimGatesAt   time.Time // when the gates found it

	// For the next prompt.
	Failing     *Failing
	LastTestRun *TestRun
	Lessons     []Lesson
	History     []RecapLine
}

// Facts returns what performers need to know of the loop now.
func (s State) Facts() Facts {
	return Facts{
		StartedAt: s.StartedAt, Elapsed: s.Elapsed(), Limits: s.Policy.Limits, Usage: s.Usage,
		Iteration: s.Iteration, Turns: s.Turns, BeforeFirstTurn: s.BeforeFirstTurn(), Attended: s.Attended, Verify: s.Policy.Verify,
		HandoverWhy: s.HandoverWhy, Outcome: s.Outcome, CommitPending: s.CommitPending(), StaleIndexCommit: s.StaleIndexCommit,
		Tasks: s.Tasks, UnappliedEditFiles: s.UnappliedEditFiles, Permissions: s.Permissions, Pending: s.AwaitingApproval(),
		Current: s.Current, StartTree: s.StartTree, WithEdits: s.WithEdits, UnfinishedTree: s.UnfinishedTree, TurnSinceGates: s.TurnSinceGates, Claimed: s.Claim != nil,
		Answer: s.Answer, ClaimGates: s.ClaimGates, ClaimGatesAt: s.ClaimGatesAt,
		Failing: s.Failing, LastTestRun: s.Ladder.LastTestRun, Lessons: s.Lessons, History: s.History,
	}
}
