package loop

import (
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// EventKind names what happened.
type EventKind string

// The events.
const (
	Started             EventKind = "started"
	Checkpointed        EventKind = "checkpointed"
	GatesFinished       EventKind = "gates_finished"
	TurnEnded           EventKind = "turn_ended"
	AgentFailed         EventKind = "agent_failed"
	TreeInspected       EventKind = "tree_inspected"
	Committed           EventKind = "committed"
	Restored            EventKind = "restored"
	TimerFired          EventKind = "timer_fired"
	Concluded           EventKind = "concluded" // the final work is done
	LimitHit            EventKind = "limit_hit"
	MessageArrived      EventKind = "message_arrived"
	Delivered           EventKind = "delivered" // the current turn received messages
	PauseRequested      EventKind = "pause_requested"
	Resumed             EventKind = "resumed"
	Cancelled           EventKind = "cancelled"
	OwnerLost           EventKind = "owner_lost"            // a new owner continues the loop
	Faulted             EventKind = "faulted"               // an action could not be performed
	Reopened            EventKind = "reopened"              // a user continues a loop that had ended
	HandoverRequested   EventKind = "handover_requested"    // another owner should continue the loop
	HandedOver          EventKind = "handed_over"           // the handover ended: the named owner has the loop
	TestChangeRequested EventKind = "test_change_requested" // the agent asks to change existing tests
	Approved            EventKind = "approved"              // a user approves it, possibly after the end
	Rejected            EventKind = "rejected"              // a user rejects it, possibly after the end
	LessonLearned       EventKind = "lesson_learned"        // a lesson for later turns, from the agent or a user
	LessonForgotten     EventKind = "lesson_forgotten"      // a user removes a lesson
	MergeRequested      EventKind = "merge_requested"       // the agent asks the user to merge its work
	PlanEditRequested   EventKind = "plan_edit_requested"   // a user edits the plan
	PlanEdited          EventKind = "plan_edited"           // the edits were tried
	QuestionAsked       EventKind = "question_asked"        // the agent asks the user
	Answered            EventKind = "answered"              // the user answers
	CheckpointRestored  EventKind = "checkpoint_restored"   // a user restored a checkpoint, possibly after the end
	LimitsChanged       EventKind = "limits_changed"        // a user changes the limits of a running loop
)

// EventKinds lists all kinds.
func EventKinds() []EventKind {
	return []EventKind{
		Started, Checkpointed, GatesFinished, TurnEnded, AgentFailed, TreeInspected, Committed, Restored,
		TimerFired, Concluded, LimitHit, MessageArrived, Delivered, PauseRequested, Resumed, Cancelled, OwnerLost, Faulted, Reopened, HandoverRequested, HandedOver,
		TestChangeRequested, Approved, Rejected, LessonLearned, LessonForgotten, MergeRequested, QuestionAsked, Answered, PlanEditRequested, PlanEdited, CheckpointRestored, LimitsChanged,
	}
}

// Event is something that happened. Only the fields of its kind are set.
type Event struct {
	Kind              EventKind     `json:"kind"`
	ID                string        `json:"id,omitempty"`        // of a message; the same ID again is the same message
	ActionID          int           `json:"action_id,omitempty"` // ID of the action that it ends; 0: nobody was asked, as for most turns of a user's session
	At                time.Time     `json:"at"`
	Start             *Start        `json:"start,omitempty"`               // Started; Reopened: the new limits
	Tree              string        `json:"tree,omitempty"`                // Checkpointed, Restored, Committed: the current tree
	WithEdits         string        `json:"with_edits,omitempty"`          // Checkpointed: the tree with the user's uncommitted edits, if Tree lacks them
	UnfinishedTree    string        `json:"unfinished_tree,omitempty"`     // Checkpointed: the tree with an earlier loop's work on the task, if Tree lacks it
	Gates             *Gates        `json:"gates,omitempty"`               // GatesFinished
	Question          *Question     `json:"question,omitempty"`            // QuestionAsked; Answered: the answered one, matched by its time; nil: the first
	Turn              *Turn         `json:"turn,omitempty"`                // TurnEnded; AgentFailed: what is known of it
	Failure           *Failure      `json:"failure,omitempty"`             // AgentFailed
	Inspection        *Inspection   `json:"inspection,omitempty"`          // TreeInspected
	Unchanged         bool          `json:"unchanged,omitempty"`           // Restored: the tree was the same already, so there is nothing to undo
	Commit            string        `json:"commit,omitempty"`              // Committed: its hash, "" if the loop makes no commits
	Receipt           string        `json:"receipt,omitempty"`             // Committed
	Limit             Outcome       `json:"limit,omitempty"`               // LimitHit: Iterations, Duration or Budget
	Limits            *Limits       `json:"limits,omitempty"`              // LimitsChanged: totals since the loop began; 0: unchanged, below 0: unlimited
	Text              string        `json:"text,omitempty"`                // MessageArrived: the note; Answered: the answer; MergeRequested: what is to be merged; Cancelled: its cause; Faulted: what failed; Committed: why git's index does not follow; HandoverRequested, HandedOver: why; LessonLearned, LessonForgotten: the lesson
	Now               bool          `json:"now,omitempty"`                 // MessageArrived: for the current turn
	IDs               []string      `json:"ids,omitempty"`                 // Delivered: of messages
	Owner             Owner         `json:"owner,omitempty"`               // HandoverRequested, HandedOver, Reopened ("": as it was)
	HandoverFailed    bool          `json:"handover_failed,omitempty"`     // HandedOver: the present owner keeps the loop
	ByUser            bool          `json:"by_user,omitempty"`             // LessonLearned: a user wrote it
	Tasks             []string      `json:"tasks,omitempty"`               // CheckpointRestored: tasks done in the checkpoint; Approved: tasks whose work is accepted; Answered: the task that asked, none: the first; Committed: done tasks whose commits are gone
	Edits             []plan.Edit   `json:"edits,omitempty"`               // PlanEditRequested: the requested edits; first event of an owner: edits queued before; PlanEdited: those tried
	Plan              []Task        `json:"plan,omitempty"`                // PlanEdited: all tasks, if the whole plan was replaced
	Added             []Task        `json:"added,omitempty"`               // Committed, PlanEdited, Resumed, Reopened: plan tasks that are new to the loop or have a new title
	UnappliedEditFile string        `json:"unapplied_edit_file,omitempty"` // Committed: file with a plan edit that was not applied
	Isolated          bool          `json:"isolated,omitempty"`            // TurnEnded, AgentFailed: of an isolated turn
	Hint              string        `json:"hint,omitempty"`                // Faulted, Committed; Cancelled: what the user did to stop the loop
	Tested            time.Duration `json:"tested,omitempty"`              // Concluded: time of mutation testing after the outcome
	Paths             []string      `json:"paths,omitempty"`               // TestChangeRequested, Approved (none: all), Rejected: tests; Restored: files that could not be restored; relative to the root, with slashes
}

// Start is what a loop begins with.
type Start struct {
	Policy    Policy `json:"policy"`
	Tasks     []Task `json:"tasks"`                // in the plan's order; done ones are DoneEarlier
	FirstTask string `json:"first_task,omitempty"` // task that an earlier loop began; it goes first
}

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
	CannotStart         bool          `json:"cannot_start,omitempty"`          // Unknown, because the command is missing
	ChangesTrackedFiles bool          `json:"changes_tracked_files,omitempty"` // ForBaseline: Unknown, because a gate changes tracked files in every run
	Receipt             string        `json:"receipt,omitempty"`
	Message             string        `json:"message,omitempty"` // of the commit, as edited by the user's hooks
	Results             []gate.Result `json:"results,omitempty"` // without test maps, for display and the report

	Failures
	Proof
	TestChanges
	ReviewResult
	PlanState
}

// Failures is what fails, for the next attempt.
type Failures struct {
	Failing     []string `json:"failing,omitempty"` // of a claim: regressions; without any, what failed before too
	FirstError  string   `json:"first_error,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
	StillRed    []string `json:"still_red,omitempty"` // gates without test IDs that failed before too: they count only at the end
}

// Proof is the evidence for the work.
type Proof struct {
	Evidence          gate.Evidence `json:"evidence,omitempty"`
	Flipped           []string      `json:"flipped,omitempty"`
	FlippedGates      []string      `json:"flipped_gates,omitempty"` // gates without test IDs that failed and pass now: they prove every task since
	Labels            []string      `json:"labels,omitempty"`
	Remedy            string        `json:"remedy,omitempty"`              // what would make the claim count; "": a test that fails without the work
	Signs             []string      `json:"signs,omitempty"`               // suspicious places in the work: file, line and what it does
	OriginalsUnknown  bool          `json:"originals_unknown,omitempty"`   // old tests changed, and the result with the originals is unknown
	MissingFromCommit []string      `json:"missing_from_commit,omitempty"` // untracked files of the user that the gates saw and the commit lacks
}

// TestChanges is what happened to tests and other gate inputs, for the user's approval.
type TestChanges struct {
	TestsChanged   []string     `json:"tests_changed,omitempty"`   // the gates pass only with the agent's version of these
	TestsRemoved   bool         `json:"tests_removed,omitempty"`   // TestsChanged were removed, and the gates pass with the originals
	NeededInputs   []string     `json:"needed_inputs,omitempty"`   // those of TestsChanged that are not tests
	AwaitedChanges []string     `json:"awaited_changes,omitempty"` // changes of earlier tasks that await approval; the gates pass only with them
	ChangedTests   []TestChange `json:"changed_tests,omitempty"`   // structural changes of old tests
	IfApproved     *IfApproved  `json:"if_approved,omitempty"`     // the evidence if its changes of old tests are approved
	ProtectedTree  string       `json:"protected_tree,omitempty"`  // tree with the protected files after this commit, "" = unchanged
	Tampered       []string     `json:"tampered,omitempty"`        // protected files that the agent changed while the gates ran
}

// ReviewResult is the result of the reviews: ForReview, and kept with the work.
type ReviewResult struct {
	RetriesSpent bool      `json:"retries_spent,omitempty"` // Unknown, and no retry is left
	RetryAt      time.Time `json:"retry_at,omitzero"`       // Unknown, and earliest time to retry
	Findings     []string  `json:"findings,omitempty"`      // "file:line: what", the worst first
	Approved     []string  `json:"approved,omitempty"`      // changed tests that the reviews accept
	Reviewed     ReviewEnd `json:"reviewed,omitempty"`      // how its reviews ended
	Accepted     bool      `json:"accepted,omitempty"`      // a user read the work and accepted it
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
