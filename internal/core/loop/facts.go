package loop

import "time"

// Facts are what the performers of actions need to know of the loop, besides the action
// itself. They see no State: what follows from it is for Step to decide.
type Facts struct {
	StartedAt   time.Time
	Elapsed     time.Duration // that counts against the limit
	Limits      Limits
	Usage       Usage
	Iteration   int
	Turns       int
	First       bool // no turn has begun
	Attended    bool // a user's session is the owner
	Verify      bool // green gates are the goal
	HandoverWhy string
	Outcome     Outcome
	OwesCommit  bool
	Behind      string // Trouble.Behind

	Tasks   Tasks
	Aside   []string // files that keep edits of the plan which were not applied
	Permits          // of the user to change tests and other gate inputs
	Pending []string // State.AwaitingApproval

	// Of the task at work.
	Current   string
	Start     string // tree that it starts from
	WithEdits string // the same with what the user had edited and not committed, where that is not Start
	HalfDone  string // tree that its first turn finds, where that is not Start
	Unjudged  bool   // a turn has ended since the gates last ran
	Claimed   bool
	Answer    string
	Found     *Gates    // for the claim being reviewed or committed
	JudgedAt  time.Time // when the gates found it

	// For the next prompt.
	Failing *Failing
	Tested  *TestRun
	Lessons []Lesson
	History []RecapLine
}

// Facts returns what performers need to know of the loop now.
func (s State) Facts() Facts {
	return Facts{
		StartedAt: s.StartedAt, Elapsed: s.Elapsed(), Limits: s.Policy.Limits, Usage: s.Usage,
		Iteration: s.Iteration, Turns: s.Turns, First: s.BeforeFirstTurn(), Attended: s.Attended, Verify: s.Policy.Verify,
		HandoverWhy: s.HandoverWhy, Outcome: s.Outcome, OwesCommit: s.OwesCommit(), Behind: s.Behind,
		Tasks: s.Tasks, Aside: s.Aside, Permits: s.Permits, Pending: s.AwaitingApproval(),
		Current: s.Current, Start: s.Base, WithEdits: s.WithEdits, HalfDone: s.HalfDone, Unjudged: s.Unjudged, Claimed: s.Claim != nil,
		Answer: s.Answer, Found: s.Found, JudgedAt: s.JudgedAt,
		Failing: s.Failing, Tested: s.Ladder.Tested, Lessons: s.Lessons, History: s.History,
	}
}
