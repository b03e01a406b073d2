package loop

import "time"

// Turn is the result of one turn.
type Turn struct {
	Claim           *Claim        `json:"claim,omitempty"`
	ByUser          bool          `json:"by_user,omitempty"` // begun by the user's own prompt
	Usage           Usage         `json:"usage"`
	ToolCalls       int           `json:"tool_calls"`
	ToolCallsHidden bool          `json:"tool_calls_hidden,omitempty"` // Pawl cannot see this agent's tool calls
	Rounds          int           `json:"rounds,omitempty"`            // requests to the model, if the client reports them
	ContextPercent  int           `json:"context_percent,omitempty"`   // percent full, -1 unknown
	Background      []string      `json:"background,omitempty"`
	SessionID       string        `json:"session_id,omitempty"`
	Text            string        `json:"text,omitempty"`       // the agent's last message, bounded
	Test            *TestRun      `json:"test,omitempty"`       // the agent's last test run
	Question        *Question     `json:"question,omitempty"`   // in its last message
	Partial         string        `json:"partial,omitempty"`    // what the agent reports done of the task, without a claim
	Unreadable      bool          `json:"unreadable,omitempty"` // its last message has a question that cannot be parsed
	OtherPromise    *OtherPromise `json:"other_promise,omitempty"`
}

// OtherPromise is a promise at the end of the agent's last message that is not the one asked for.
type OtherPromise struct {
	Said  string `json:"said"`
	Asked string `json:"asked"`
}

// Claim is the agent's statement that tasks are done or blocked. Pawl verifies it.
type Claim struct {
	Blocked           bool     `json:"blocked,omitempty"`
	Reason            string   `json:"reason,omitempty"` // of Blocked
	Tasks             []string `json:"tasks,omitempty"`  // named ones; empty = the current task
	NoBehaviourChange bool     `json:"no_behaviour_change,omitempty"`
	Summary           string   `json:"summary,omitempty"` // what was done, from the claim tool
}

// OpenClaim is a claim that is not decided yet.
type OpenClaim struct {
	Claim
	Gates   *Gates    `json:"gates,omitempty"`   // that accept it, while it is reviewed, approved or committed
	GatedAt time.Time `json:"gates_at,omitzero"` // when they ran
}

// Inspection is the state of the work tree after a turn.
type Inspection struct {
	Changed           bool     `json:"changed"`                       // the tree differs from the task's start
	OutsideChanges    []string `json:"outside_changes,omitempty"`     // of a claim without a change: new or changed files that are ignored or the user's
	Tampered          []string `json:"tampered,omitempty"`            // protected files that the agent changed without approval
	RejectedTests     []string `json:"rejected_tests,omitempty"`      // changed tests whose change a user rejected
	TickedByAgent     []string `json:"ticked_by_agent,omitempty"`     // tasks that the agent ticked: a claim
	TickedByUser      []string `json:"ticked_by_user,omitempty"`      // tasks that the user ticked: done, and not claimed
	Remarks           []string `json:"remarks,omitempty"`             // for the user and the journal: a branch switched back, an unrelated change kept
	Added             []Task   `json:"added,omitempty"`               // plan tasks that are new to the loop
	UnappliedEditFile string   `json:"unapplied_edit_file,omitempty"` // file with a plan edit that was not applied
	Shallow           bool     `json:"shallow,omitempty"`             // the inspection was shallow, so Changed is unknown
}

// Class classifies a failure of the agent.
type Class string

// The classes. agentfailure.go reacts to each.
const (
	UsageLimit  Class = "usage_limit" // wait until Failure.Until
	Overloaded  Class = "overloaded"  // back off
	Network     Class = "network"     // back off
	Login       Class = "login"       // for the user to fix: hold, or end if they are at a terminal
	Billing     Class = "billing"     // as Login
	Refused     Class = "refused"     // the model refuses
	NotStarted  Class = "not_started" // the client did not start, so no turn began
	Crashed     Class = "crashed"     // the client died
	TimedOut    Class = "timed_out"   // the turn took too long
	Silent      Class = "silent"      // no output for too long
	OverBudget  Class = "over_budget" // the turn cost too much
	Interrupted Class = "interrupted" // the caller ended it
)

// Classes lists all classes.
func Classes() []Class {
	return []Class{UsageLimit, Overloaded, Network, Login, Billing, Refused, NotStarted, Crashed, TimedOut, Silent, OverBudget, Interrupted}
}

// Failure says why a turn failed.
type Failure struct {
	Class        Class     `json:"class"`
	Message      string    `json:"message,omitempty"`
	Hint         string    `json:"hint,omitempty"`
	Until        time.Time `json:"until,omitzero"`          // usage limit: when it resets, zero if unknown
	Status       int       `json:"status,omitempty"`        // of HTTP, 0 if none
	Missing      bool      `json:"missing,omitempty"`       // NotStarted: the program does not exist
	RetriedError string    `json:"retried_error,omitempty"` // Interrupted: the error that the client kept retrying
	Background   bool      `json:"background,omitempty"`    // the owner is a runner without a terminal
}
