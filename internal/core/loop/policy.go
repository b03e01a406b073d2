package loop

import "time"

// GoalKind is the kind of a goal.
type GoalKind string

// The kinds of goals.
const (
	Change   GoalKind = "change"   // a change of the tree, the default
	Answer   GoalKind = "answer"   // the result is text, without a diff
	Explore  GoalKind = "explore"  // time-boxed: ends with its limit
	Periodic GoalKind = "periodic" // repeats at an interval
)

// SessionMode says how often the agent gets a fresh session when nothing went wrong.
type SessionMode string

// The session modes.
const (
	PerTask  SessionMode = "task"
	PerTurn  SessionMode = "turn"
	Hybrid   SessionMode = "hybrid" // when the context is Policy.HandoverAt percent full
	Continue SessionMode = "continue"
)

// Limits bound a loop; 0 is unlimited, which only a user may set.
type Limits struct {
	Iterations int           `json:"iterations,omitempty"`
	Duration   time.Duration `json:"duration,omitempty"` // without pauses and waits for usage limits
	CostUSD    float64       `json:"cost_usd,omitempty"`
	Tokens     int64         `json:"tokens,omitempty"`
	Turn       time.Duration `json:"turn,omitempty"` // of one turn; it does not add up
}

// With returns l with the set limits of given; below 0 is unlimited.
func (l Limits) With(given Limits) Limits { return l.extended(Limits{}, given) }

// extended returns l with the limits that given sets. They count from the usage so far.
func (l Limits) extended(used, given Limits) Limits {
	return Limits{
		Iterations: extend(l.Iterations, used.Iterations, given.Iterations),
		Duration:   extend(l.Duration, used.Duration, given.Duration),
		CostUSD:    extend(l.CostUSD, used.CostUSD, given.CostUSD),
		Tokens:     extend(l.Tokens, used.Tokens, given.Tokens),
		Turn:       extend(l.Turn, used.Turn, given.Turn),
	}
}

// Policy holds the user's settings. Only the limits may change while the loop runs.
type Policy struct {
	Kind             GoalKind      `json:"kind"`
	Limits           Limits        `json:"limits"`
	Session          SessionMode   `json:"session"`
	HandoverAt       int           `json:"handover_at,omitempty"`       // percent, for Hybrid and for Handover
	Handover         bool          `json:"handover,omitempty"`          // the user allows fresh sessions to continue theirs
	Restore          bool          `json:"restore,omitempty"`           // --on-failure restore; false: keep
	Gates            bool          `json:"gates,omitempty"`             // there is a gate
	Reviews          bool          `json:"reviews,omitempty"`           // at least one gate is a review
	ReviewRounds     int           `json:"review_rounds,omitempty"`     // reviews that may fail a task's work, 0: three
	EveryTurn        bool          `json:"every_turn,omitempty"`        // gates also run after turns without a claim, and failures are reported
	Verify           bool          `json:"verify,omitempty"`            // a verify loop: green is the goal, gates run after every turn
	InSession        bool          `json:"in_session,omitempty"`        // the loop starts in a user's session, see State.InSession
	Isolate          bool          `json:"isolate,omitempty"`           // a verify loop in a user's session uses isolated turns once its own tries are used up
	Tries            int           `json:"tries,omitempty"`             // failed tries in one session, 0: three, or two identical failures
	Every            time.Duration `json:"every,omitempty"`             // for Periodic
	AnswerWithin     time.Duration `json:"answer_within,omitempty"`     // timeout after which the agent's proposal answers its question; 0: never
	Approve          []Approval    `json:"approve,omitempty"`           // where the loop stops for the user's approval
	NoCost           bool          `json:"no_cost,omitempty"`           // the agent reports neither cost nor tokens
	IterationsBefore int           `json:"iterations_before,omitempty"` // iterations that another tool counted; counting continues from there
}
