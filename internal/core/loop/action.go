package loop

import (
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Action is something for the owner to do. Its payload says what. An action may be performed again
// after a crash and must then have the same result.
type Action struct {
	ID      int // of one that EndsInEvent; that event has it as ActionID
	Payload ActionPayload
}

// ActionPayload holds the data of an action. Its type is the kind of the action.
type ActionPayload interface{ kind() ActionKind }

// ActionKind names an action in a snapshot and in messages.
type ActionKind string

// Checkpoint makes a checkpoint of the whole tree. It ends in Checkpointed.
type Checkpoint struct {
	Task    string `json:"task"` // the one that begins, or whose work is put away
	Subject string `json:"subject"`
}

// RunGates ends in GatesFinished.
type RunGates struct {
	Purpose        Purpose  `json:"purpose"`
	Task           string   `json:"task,omitempty"`            // the current one
	Claimed        []string `json:"claimed,omitempty"`         // tasks
	ReviewTree     string   `json:"review_tree,omitempty"`     // ForReview: the tree to review
	UnfinishedTree string   `json:"unfinished_tree,omitempty"` // ForBaseline: an earlier loop's work, laid aside meanwhile
	Again          bool     `json:"again,omitempty"`           // ForBaseline: known results do not count, the task before failed
}

// BeginTurn ends in TurnEnded or AgentFailed.
type BeginTurn struct {
	Iteration int       `json:"iteration"`
	Task      string    `json:"task"`
	Situation Situation `json:"situation"`
	Fresh     bool      `json:"fresh,omitempty"`    // with an empty context
	Isolated  bool      `json:"isolated,omitempty"` // in a separate session instead of the user's
	Notes     []string  `json:"notes,omitempty"`    // messages for the prompt
}

// Inspect compares the work tree. It ends in TreeInspected.
type Inspect struct {
	Deep bool `json:"deep,omitempty"` // compare the whole tree with the task's start
}

// Commit commits the gated tree, with the tasks ticked in it. It ends in Committed.
type Commit struct {
	Tasks    []string      `json:"tasks"`            // those claimed
	Undoes   []string      `json:"undoes,omitempty"` // tasks whose commits a user's restore removed from the tree
	Tree     string        `json:"tree"`             // the gated one
	Evidence gate.Evidence `json:"evidence,omitempty"`
	Receipt  string        `json:"receipt,omitempty"`
}

// Restore makes a checkpoint and goes back to the task's start tree. It ends in Restored.
type Restore struct {
	Task string `json:"task"`
	Tree string `json:"tree"` // the start tree
	Why  string `json:"why"`
}

// ReapplyWork applies a task's saved work to the current tree. It ends in WorkReapplied.
type ReapplyWork struct {
	Task string `json:"task"`
	SavedWork
}

// Wait waits until a time. It ends in TimerFired.
type Wait struct {
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
	Task  string    `json:"task,omitempty"` // the one that waits for an answer
}

// EditPlan applies the user's edits. It ends in PlanEdited.
type EditPlan struct {
	Edits []plan.Edit `json:"edits"`
}

// HandOver gives the loop to another owner. It ends in HandedOver.
type HandOver struct {
	To  Owner  `json:"to"`
	Why string `json:"why"`
}

// Finish does the final work after the outcome is decided. It ends in Concluded.
type Finish struct{}

// Interrupt cuts off the current turn cleanly.
type Interrupt struct{}

// Deliver sends messages into the current turn, in order. Each one accepted is a Delivered.
type Deliver struct {
	Messages []Message `json:"messages"`
}

// RestoreFiles resets protected files to their originals.
type RestoreFiles struct {
	Paths []string `json:"paths"`
}

// Note writes a line to the log for the user. It sends no notice: package core/notice decides what
// an absent user gets.
type Note struct {
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

// Level of a note.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Anomaly Level = "anomaly" // should not happen; journalled and survived
)

// Situation selects the template of a prompt (internal/prompt).
type Situation string

// The situations.
const (
	FirstTurn    Situation = "first"
	NextTask     Situation = "next_task"
	NoClaim      Situation = "no_claim"      // the turn ended without a claim
	GatesFailed  Situation = "gates_failed"  // the claim failed the gates
	ClaimRefused Situation = "claim_refused" // all gates passed, but nothing proves the work
	WasRestored  Situation = "restored"
	FreshRecap   Situation = "fresh" // a fresh session continues the task
	Violation    Situation = "violation"
	Interruption Situation = "interrupted" // the turn was cut off: limit, crash, restart
)
