package loop

import (
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// ActionKind names what to do.
type ActionKind string

// The actions. Those marked "ends in" report back with that event; the others
// are done when they are done. Every action may be performed again after a
// crash and must then come to the same end.
const (
	Checkpoint   ActionKind = "checkpoint"    // snapshot of the whole tree; ends in Checkpointed
	RunGates     ActionKind = "run_gates"     // ends in GatesFinished
	BeginTurn    ActionKind = "begin_turn"    // ends in TurnEnded or AgentFailed
	Inspect      ActionKind = "inspect"       // at the work tree; ends in TreeSeen
	Commit       ActionKind = "commit"        // the judged tree with the tasks ticked in it; ends in Committed
	Restore      ActionKind = "restore"       // checkpoint, then back to the tree the task started from; ends in Restored
	Wait         ActionKind = "wait"          // until a time; ends in TimerFired
	EditPlan     ActionKind = "edit_plan"     // as the user wants it; ends in PlanEdited
	HandOver     ActionKind = "handover"      // to another owner; ends in HandedOver
	Interrupt    ActionKind = "interrupt"     // the turn under way, cleanly
	Deliver      ActionKind = "deliver"       // messages into the turn under way, in order; each that the agent takes is a Delivered
	RestoreFiles ActionKind = "restore_files" // protected paths as they were
	Notify       ActionKind = "notify"        // tell the user
	Finish       ActionKind = "finish"        // the work of the end: the loop has its outcome; ends in Concluded
)

// Asks tells whether the action ends in an event of its own.
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
	GatesFailed  Situation = "gates_failed"  // the claim was judged and did not hold
	ClaimRefused Situation = "claim_refused" // all green, but nothing tells
	WasRestored  Situation = "restored"
	FreshRecap   Situation = "fresh" // a fresh session goes on with a task
	Violation    Situation = "violation"
	Interruption Situation = "interrupted" // the turn was cut off: limit, crash, restart
)

// Action is something to do. Fields beside Do belong to single kinds.
type Action struct {
	Do        ActionKind    `json:"do"`
	ID        int           `json:"id,omitempty"`        // of one that Asks: the event that it ends in has it as Of
	Task      string        `json:"task,omitempty"`      // BeginTurn, RunGates: the task at work; Wait: the one that waits for an answer
	Tasks     []string      `json:"tasks,omitempty"`     // RunGates, Commit: the tasks claimed
	Iteration int           `json:"iteration,omitempty"` // BeginTurn
	Fresh     bool          `json:"fresh,omitempty"`     // BeginTurn: with an empty context
	Situation Situation     `json:"situation,omitempty"` // BeginTurn
	Isolated  bool          `json:"isolated,omitempty"`  // BeginTurn: in a session of its own, beside the user's
	Owner     Owner         `json:"owner,omitempty"`     // HandoverTo: to whom
	Purpose   Purpose       `json:"purpose,omitempty"`   // RunGates
	Undoes    []string      `json:"undoes,omitempty"`    // Commit: tasks whose committed work a user's restore took out of the tree
	Rerun     int           `json:"rerun,omitempty"`     // RunGates: how often the result was unknown before
	Notes     []string      `json:"notes,omitempty"`     // BeginTurn: messages of the user
	Messages  []Message     `json:"messages,omitempty"`  // Deliver
	Deep      bool          `json:"deep,omitempty"`      // Look: compare the whole tree with the task's start
	Tree      string        `json:"tree,omitempty"`      // Restore: the tree to go back to; Commit: the gated tree; RunGates: the tree to review, or of a baseline the one to leave behind where it is not the task's start
	From      string        `json:"from,omitempty"`      // Restore: what changed between it and Tree is brought into the tree as it is, which stays otherwise
	Evidence  gate.Evidence `json:"evidence,omitempty"`  // Commit
	Receipt   string        `json:"receipt,omitempty"`   // Commit
	Paths     []string      `json:"paths,omitempty"`     // PutBack
	Edits     []plan.Edit   `json:"edits,omitempty"`     // EditPlan
	Until     time.Time     `json:"until,omitzero"`      // Wait
	Text      string        `json:"text,omitempty"`      // Notify, Wait, Checkpoint, HandoverTo: why
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
