package loop

import (
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// ActionKind names something for the owner to do.
type ActionKind string

// The actions. Those marked "ends in" report back with that event. Every action may be performed
// again after a crash and must then have the same result.
const (
	Checkpoint   ActionKind = "checkpoint"    // snapshot of the whole tree; ends in Checkpointed
	RunGates     ActionKind = "run_gates"     // ends in GatesFinished
	BeginTurn    ActionKind = "begin_turn"    // ends in TurnEnded or AgentFailed
	Inspect      ActionKind = "inspect"       // compares the work tree; ends in TreeInspected
	Commit       ActionKind = "commit"        // the gated tree, with the tasks ticked in it; ends in Committed
	Restore      ActionKind = "restore"       // checkpoint, then back to the task's start tree; ends in Restored
	Wait         ActionKind = "wait"          // until a time; ends in TimerFired
	EditPlan     ActionKind = "edit_plan"     // applies the user's edits; ends in PlanEdited
	HandOver     ActionKind = "handover"      // to another owner; ends in HandedOver
	Interrupt    ActionKind = "interrupt"     // cuts off the current turn cleanly
	Deliver      ActionKind = "deliver"       // messages into the current turn, in order; each one accepted is a Delivered
	RestoreFiles ActionKind = "restore_files" // resets protected paths to their originals
	Notify       ActionKind = "notify"        // tells the user
	Finish       ActionKind = "finish"        // the final work after the outcome is decided; ends in Concluded
)

// EndsInEvent reports whether the action ends in an event of its own.
func (k ActionKind) EndsInEvent() bool {
	switch k {
	case Checkpoint, RunGates, BeginTurn, Inspect, Commit, Restore, Wait, EditPlan, HandOver, Finish:
		return true
	case Interrupt, Deliver, RestoreFiles, Notify:
		return false
	}
	return false
}

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

// Action is something to do. Fields other than Do belong to single kinds.
type Action struct {
	Do        ActionKind    `json:"do"`
	ID        int           `json:"id,omitempty"`        // of one that EndsInEvent; that event has it as ActionID
	Task      string        `json:"task,omitempty"`      // BeginTurn, RunGates: the current task; Wait: the task that waits for an answer
	Tasks     []string      `json:"tasks,omitempty"`     // RunGates, Commit: the tasks claimed
	Iteration int           `json:"iteration,omitempty"` // BeginTurn
	Fresh     bool          `json:"fresh,omitempty"`     // BeginTurn: with an empty context
	Situation Situation     `json:"situation,omitempty"` // BeginTurn
	Isolated  bool          `json:"isolated,omitempty"`  // BeginTurn: in a separate session beside the user's
	Owner     Owner         `json:"owner,omitempty"`     // HandOver: the new owner
	Purpose   Purpose       `json:"purpose,omitempty"`   // RunGates
	Undoes    []string      `json:"undoes,omitempty"`    // Commit: tasks whose commits a user's restore removed from the tree
	Rerun     int           `json:"rerun,omitempty"`     // RunGates: number of unknown results before
	Notes     []string      `json:"notes,omitempty"`     // BeginTurn: messages of the user
	Messages  []Message     `json:"messages,omitempty"`  // Deliver
	Deep      bool          `json:"deep,omitempty"`      // Inspect: compare the whole tree with the task's start
	Tree      string        `json:"tree,omitempty"`      // Restore: the target tree; Commit: the gated tree; RunGates: the tree to review, or the tree to leave after a baseline if not the start tree
	From      string        `json:"from,omitempty"`      // Restore: only the changes from it to Tree are applied to the current tree
	Evidence  gate.Evidence `json:"evidence,omitempty"`  // Commit
	Receipt   string        `json:"receipt,omitempty"`   // Commit
	Paths     []string      `json:"paths,omitempty"`     // RestoreFiles
	Edits     []plan.Edit   `json:"edits,omitempty"`     // EditPlan
	Until     time.Time     `json:"until,omitzero"`      // Wait
	Text      string        `json:"text,omitempty"`      // Notify: the message; Wait, Checkpoint, Restore, HandOver, Finish: why
	Level     Level         `json:"level,omitempty"`     // Notify
}

// Level of a notification.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Anomaly Level = "anomaly" // should not happen; journalled and survived
)
