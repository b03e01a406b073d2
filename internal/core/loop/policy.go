package loop

import "time"

// Kind of a goal.
type Kind string

// The kinds of goals.
const (
	Change   Kind = "change"   // a change of the tree, the default
	Answer   Kind = "answer"   // the result is text, no diff is expected
	Explore  Kind = "explore"  // time-boxed: its limit is its end
	Periodic Kind = "periodic" // again every so often
)

// SessionMode says how often the agent gets a fresh session although nothing went wrong.
type SessionMode string

// The session modes.
const (
	PerTask  SessionMode = "task"
	PerTurn  SessionMode = "turn"
	Hybrid   SessionMode = "hybrid" // when Policy.HandoverAt percent are full
	Continue SessionMode = "continue"
)

// Limits of a loop; 0 is not a limit, which only a user may write.
type Limits struct {
	Iterations int           `json:"iterations,omitempty"`
	Duration   time.Duration `json:"duration,omitempty"` // waits for usage limits and pauses aside
	CostUSD    float64       `json:"cost_usd,omitempty"`
	Tokens     int64         `json:"tokens,omitempty"`
}

// With returns l with those limits of given that are set: below 0 one is none.
func (l Limits) With(given Limits) Limits {
	return Limits{
		Iterations: extend(l.Iterations, 0, given.Iterations),
		Duration:   extend(l.Duration, 0, given.Duration),
		CostUSD:    extend(l.CostUSD, 0, given.CostUSD),
		Tokens:     extend(l.Tokens, 0, given.Tokens),
	}
}

// Policy is what the user asked for; only its limits may change while the loop runs.
type Policy struct {
	Kind             Kind          `json:"kind"`
	Limits           Limits        `json:"limits"`
	Session          SessionMode   `json:"session"`
	HandoverAt       int           `json:"handover_at,omitempty"`       // percent, for Hybrid and for Handover
	Handover         bool          `json:"handover,omitempty"`          // a user's session may be left for fresh ones: they agreed to it
	Restore          bool          `json:"restore,omitempty"`           // --on-failure restore; false: keep
	Gates            bool          `json:"gates,omitempty"`             // there is at least one gate
	Reviews          bool          `json:"reviews,omitempty"`           // there is at least one that is a review
	ReviewRounds     int           `json:"review_rounds,omitempty"`     // times that reviews may fail the work of a task, 0: three
	EveryTurn        bool          `json:"every_turn,omitempty"`        // gates run after turns without a claim too: what is red is told
	Verify           bool          `json:"verify,omitempty"`            // a verify loop: green is the goal, gates run every turn
	Attended         bool          `json:"attended,omitempty"`          // the loop begins in a user's session, see State.Attended
	Isolate          bool          `json:"isolate,omitempty"`           // a verify loop in a user's session tries in fresh ones, once its own tries are spent
	Tries            int           `json:"tries,omitempty"`             // failed tries in one session, 0: three, or two that fail the same way
	Every            time.Duration `json:"every,omitempty"`             // for Periodic
	AnswerWithin     time.Duration `json:"answer_within,omitempty"`     // after which what the agent proposed answers its question; 0: never
	Approve          []Approval    `json:"approve,omitempty"`           // where the loop stops for the user's yes
	NoCost           bool          `json:"no_cost,omitempty"`           // the agent reports neither cost nor tokens
	IterationsBefore int           `json:"iterations_before,omitempty"` // iterations that another tool counted before: they go on from there
}
