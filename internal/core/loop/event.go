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
	Concluded           EventKind = "concluded" // the work of the end is done
	LimitHit            EventKind = "limit_hit"
	MessageArrived      EventKind = "message_arrived"
	Delivered           EventKind = "delivered" // the turn under way was given messages
	PauseRequested      EventKind = "pause_requested"
	Resumed             EventKind = "resumed"
	Cancelled           EventKind = "cancelled"
	OwnerLost           EventKind = "owner_lost"            // a new owner goes on with the loop
	Faulted             EventKind = "faulted"               // an action could not be performed at all
	Reopened            EventKind = "reopened"              // a user goes on with a loop that had ended
	HandoverRequested   EventKind = "handover_requested"    // another owner is to go on with the loop
	HandedOver          EventKind = "handed_over"           // the owner named goes on with it: it has it, or it keeps it
	TestChangeRequested EventKind = "test_change_requested" // the agent asks to change existing tests
	Approved            EventKind = "approved"              // a user lets it change them, also after the end
	Rejected            EventKind = "rejected"              // a user does not, also after the end
	LessonLearned       EventKind = "lesson_learned"        // a lesson for the turns to come, of the agent's or a user's
	LessonForgotten     EventKind = "lesson_forgotten"      // a user takes a lesson out
	MergeRequested      EventKind = "merge_requested"       // the agent asks the user to merge its work
	PlanEditRequested   EventKind = "plan_edit_requested"   // a user edits the plan
	PlanEdited          EventKind = "plan_edited"           // their edits are in it
	QuestionAsked       EventKind = "question_asked"        // the agent asks the user
	Answered            EventKind = "answered"              // the user answers
	CheckpointRestored  EventKind = "checkpoint_restored"   // a user restored a checkpoint, also after the end
	LimitsChanged       EventKind = "limits_changed"        // a user gives a running loop other limits
)

// EventKinds lists all kinds.
func EventKinds() []EventKind {
	return []EventKind{
		Started, Checkpointed, GatesFinished, TurnEnded, AgentFailed, TreeInspected, Committed, Restored,
		TimerFired, Concluded, LimitHit, MessageArrived, Delivered, PauseRequested, Resumed, Cancelled, OwnerLost, Faulted, Reopened, HandoverRequested, HandedOver,
		TestChangeRequested, Approved, Rejected, LessonLearned, LessonForgotten, MergeRequested, QuestionAsked, Answered, PlanEditRequested, PlanEdited, CheckpointRestored, LimitsChanged,
	}
}

// Event is something that happened. The field that belongs to the kind is set,
// the others are zero.
type Event struct {
	Kind              EventKind     `json:"kind"`
	ID                string        `json:"id,omitempty"`        // of a message: the same id again is the same message
	ActionID          int           `json:"action_id,omitempty"` // ID of the action that it ends; 0: the owner was not asked, as for most turns of a user's session
	At                time.Time     `json:"at"`
	Start             *Start        `json:"start,omitempty"`               // Started, Reopened (the limits that it is given)
	Tree              string        `json:"tree,omitempty"`                // Checkpointed, Restored, Committed: the tree as it is now
	WithEdits         string        `json:"with_edits,omitempty"`          // Checkpointed: the tree with what the user has edited and not committed, where Tree lacks it
	UnfinishedTree    string        `json:"unfinished_tree,omitempty"`     // Checkpointed: the tree with what an earlier loop did of the task, where Tree lacks it
	Gates             *Gates        `json:"gates,omitempty"`               // GatesFinished
	Question          *Question     `json:"question,omitempty"`            // QuestionAsked; Answered: the one that is answered, by its time, nil: the first
	Turn              *Turn         `json:"turn,omitempty"`                // TurnEnded, AgentFailed (what is known of it)
	Failure           *Failure      `json:"failure,omitempty"`             // AgentFailed
	Inspection        *Inspection   `json:"inspection,omitempty"`          // TreeSeen
	Unchanged         bool          `json:"unchanged,omitempty"`           // Restored: the tree was so already, there is nothing to get back
	Commit            string        `json:"commit,omitempty"`              // Committed: its hash, "" where the loop makes none
	Receipt           string        `json:"receipt,omitempty"`             // Committed
	Limit             Outcome       `json:"limit,omitempty"`               // LimitHit: Iterations, Duration or Budget
	Limits            *Limits       `json:"limits,omitempty"`              // LimitsChanged: in all, counted from the loop's beginning; 0: as it was, below 0: unlimited
	Text              string        `json:"text,omitempty"`                // MessageArrived: the note; Answered: the answer; MergeAsked: what is to be merged; Cancelled: its cause; Faulted: what failed; Committed: why git's index does not follow; HandoverAsked, HandedOver: why; Learnt, Forgot: the lesson
	Now               bool          `json:"now,omitempty"`                 // MessageArrived: for the turn under way
	IDs               []string      `json:"ids,omitempty"`                 // Delivered: of messages
	Owner             Owner         `json:"owner,omitempty"`               // HandoverAsked, HandedOver, Reopened ("": as it was)
	HandoverFailed    bool          `json:"handover_failed,omitempty"`     // HandedOver: it failed, the present owner keeps the loop
	ByUser            bool          `json:"by_user,omitempty"`             // Learnt: a user wrote it
	Tasks             []string      `json:"tasks,omitempty"`               // WentBack: the tasks that are done in the checkpoint; Approved: those whose work a user accepts; Answered: the one that asked, none: the first; Committed: those that were done, and whose commits are gone
	Edits             []plan.Edit   `json:"edits,omitempty"`               // PlanAsked: those that are wanted, and of the first event of an owner, those that waited for one; PlanEdited: those that were tried
	Plan              []Task        `json:"plan,omitempty"`                // PlanEdited: all tasks, if the plan is another one as a whole
	Added             []Task        `json:"added,omitempty"`               // Committed, PlanEdited, Resumed, Reopened: tasks of the plan that the loop does not know, or by another title
	UnappliedEditFile string        `json:"unapplied_edit_file,omitempty"` // Committed: file that keeps an edit of the plan which was not applied
	Isolated          bool          `json:"isolated,omitempty"`            // TurnEnded, AgentFailed: of an isolated try
	Hint              string        `json:"hint,omitempty"`                // Faulted, Committed; Cancelled: what a user did to stop it
	Tested            time.Duration `json:"tested,omitempty"`              // Concluded: time of mutation testing after the outcome
	Paths             []string      `json:"paths,omitempty"`               // TestsAsked, Approved (none: all), Rejected: tests; Restored: files that could not be brought back; relative to the root with slashes
}

// Start is what a loop begins with.
type Start struct {
	Policy    Policy `json:"policy"`
	Tasks     []Task `json:"tasks"`                // in the plan's order; Done ones are Earlier
	FirstTask string `json:"first_task,omitempty"` // task that an earlier loop had begun: it is taken first
}

// Turn is what a turn came to.
type Turn struct {
	Claim           *Claim    `json:"claim,omitempty"`
	ByUser          bool      `json:"by_user,omitempty"` // begun by the user's own prompt
	Usage           Usage     `json:"usage"`
	ToolCalls       int       `json:"tool_calls"`
	ToolCallsHidden bool      `json:"tool_calls_hidden,omitempty"` // tool calls of this agent cannot be seen
	Rounds          int       `json:"rounds,omitempty"`            // requests to the model, where the client tells
	ContextPercent  int       `json:"context_percent,omitempty"`   // percent full, -1 unknown
	Background      []string  `json:"background,omitempty"`
	SessionID       string    `json:"session_id,omitempty"`
	Text            string    `json:"text,omitempty"`       // the agent's last message, bounded
	Test            *TestRun  `json:"test,omitempty"`       // the last test run that the agent made in it
	Question        *Question `json:"question,omitempty"`   // in its last message
	Partial         string    `json:"partial,omitempty"`    // what it says is done of the task, short of a claim
	Unreadable      bool      `json:"unreadable,omitempty"` // its last message has a question that cannot be read
}

// Claim is the agent's word: a request to be verified.
type Claim struct {
	Blocked           bool     `json:"blocked,omitempty"`
	Reason            string   `json:"reason,omitempty"` // of Blocked
	Tasks             []string `json:"tasks,omitempty"`  // named ones; empty = the current task
	NoBehaviourChange bool     `json:"no_behaviour_change,omitempty"`
	Summary           string   `json:"summary,omitempty"` // what was done, of a claim made by a tool
}

// Inspection is what a look at the work tree found after a turn.
type Inspection struct {
	Changed           bool     `json:"changed"`                       // anything differs from the task's start
	OutsideChanges    []string `json:"outside_changes,omitempty"`     // of a claim without a change: what came or changed since the loop began, and is the user's or ignored by git
	Tampered          []string `json:"tampered,omitempty"`            // protected files that the agent changed without approval
	RejectedTests     []string `json:"rejected_tests,omitempty"`      // tests that differ from the judge's copies, and that a user rejected
	TickedByAgent     []string `json:"ticked_by_agent,omitempty"`     // tasks that the agent ticked itself: a claim
	TickedByUser      []string `json:"ticked_by_user,omitempty"`      // tasks that the user ticked: done, and nobody's claim
	Remarks           []string `json:"remarks,omitempty"`             // to be told and journalled: a branch switched back, a foreign change kept
	Added             []Task   `json:"added,omitempty"`               // tasks of the plan that the loop does not know
	UnappliedEditFile string   `json:"unapplied_edit_file,omitempty"` // file that keeps an edit of the plan which was not applied
	Shallow           bool     `json:"shallow,omitempty"`             // the look was shallow: Changed says nothing
}

// Purpose of a run of the gates.
type Purpose string

// The purposes.
const (
	ForBaseline Purpose = "baseline"
	ForClaim    Purpose = "claim"
	ForTurn     Purpose = "turn"   // after a turn without a claim: told, not counted
	ForLimit    Purpose = "limit"  // the last word before a limit ends the loop
	ForFinal    Purpose = "final"  // nothing left: all gates on the final tree
	ForReview   Purpose = "review" // of work that passes the commands and would be kept
)

// Gates is what a run of the gates came to.
type Gates struct {
	Purpose             Purpose       `json:"purpose"`
	Tree                string        `json:"tree"`
	Head                string        `json:"head,omitempty"` // commit that HEAD was at when the tree was taken
	Status              gate.Status   `json:"status"`         // relative to the baseline
	Green               bool          `json:"green"`          // in full, but for what baseline = allow excepts
	Reason              string        `json:"reason,omitempty"`
	RedIsGoal           bool          `json:"red_is_goal,omitempty"`           // ForBaseline: the user says that what is red is part of the work
	CannotStart         bool          `json:"cannot_start,omitempty"`          // Unknown, because the command is not there
	ChangesTrackedFiles bool          `json:"changes_tracked_files,omitempty"` // ForBaseline: Unknown, because a gate changes tracked files in every run
	Receipt             string        `json:"receipt,omitempty"`
	Message             string        `json:"message,omitempty"` // of the commit, as the user's hooks left it
	Results             []gate.Result `json:"results,omitempty"` // without test maps, for display and the report

	Failures
	Proof
	TestChanges
	ReviewResult
	PlanState
}

// Failed is what is red, for the next try.
type Failures struct {
	Failing     []string `json:"failing,omitempty"` // of a claim: what passed when the task began; where nothing such fails, what is red as before
	FirstError  string   `json:"first_error,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
	StillRed    []string `json:"still_red,omitempty"` // gates without test ids, red as before: they judge only the end
}

// Proof is what tells the work from none, for what it is worth.
type Proof struct {
	Evidence          gate.Evidence `json:"evidence,omitempty"`
	Flipped           []string      `json:"flipped,omitempty"`
	FlippedGates      []string      `json:"flipped_gates,omitempty"` // gates without test ids that were red and are green: they prove every task since
	Labels            []string      `json:"labels,omitempty"`
	Remedy            string        `json:"remedy,omitempty"`              // what would make the claim count; "": a test that fails without the work
	Signs             []string      `json:"signs,omitempty"`               // in the work, what a reviewer would look at first: file, line and what it does
	OriginalsUnknown  bool          `json:"originals_unknown,omitempty"`   // old tests were changed, and what the originals say is not known
	MissingFromCommit []string      `json:"missing_from_commit,omitempty"` // untracked files of the user's: the commit, which lacks them, was not seen to pass
}

// TestsFound is what became of tests and other gate inputs, for the user's approval.
type TestChanges struct {
	TestsChanged   []string     `json:"tests_changed,omitempty"`   // passes only with the agent's version of these
	TestsRemoved   bool         `json:"tests_removed,omitempty"`   // these are gone, and it passes with them
	NeededInputs   []string     `json:"needed_inputs,omitempty"`   // those of TestsChanged that are no tests
	AwaitedChanges []string     `json:"awaited_changes,omitempty"` // changed by earlier tasks, waiting for approval: it passes only with these
	ChangedTests   []TestChange `json:"changed_tests,omitempty"`   // of old tests, where their structure shows it
	IfApproved     *IfApproved  `json:"if_approved,omitempty"`     // what it is worth if its changes of old tests are approved
	ProtectedTree  string       `json:"protected_tree,omitempty"`  // tree with the protected files once this is committed, "" = the one there is
	Tampered       []string     `json:"tampered,omitempty"`        // protected files that the agent changed while the gates ran
}

// ReviewResult is what the reviews say: ForReview, and kept with the work.
type ReviewResult struct {
	RetriesSpent bool      `json:"retries_spent,omitempty"` // Unknown, and was asked as often as it is
	RetryAt      time.Time `json:"retry_at,omitzero"`       // Unknown, and cannot be asked before
	Findings     []string  `json:"findings,omitempty"`      // "file:line: what", the worst first
	Approved     []string  `json:"approved,omitempty"`      // changed tests whose change the reviews accept
	Reviewed     ReviewEnd `json:"reviewed,omitempty"`      // how the reviews of it ended
	Accepted     bool      `json:"accepted,omitempty"`      // a user read the work and says that it is right
	Usage        Usage     `json:"usage,omitzero"`
}

// PlanFound is how the plan and its commits stand, ForFinal.
type PlanState struct {
	Added       []Task   `json:"added,omitempty"`        // tasks of the plan that the loop does not know
	LostCommits []string `json:"lost_commits,omitempty"` // tasks that were done, and whose commits are gone
}

// Red names the tests that fail, each once, or the gates that name none.
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

// FailingTests are those of Failing that are tests and not gates: a gate that several
// tasks turned green and that fails now says of none of them that it is broken.
func (g Gates) FailingTests() []string {
	isGate := func(name string) bool {
		return slices.ContainsFunc(g.Results, func(r gate.Result) bool { return r.Gate == name })
	}
	return slices.DeleteFunc(slices.Clone(g.Failing), isGate)
}

// Class of a failure of the agent.
type Class string

// The classes, each with its own reaction (fail.go).
const (
	UsageLimit  Class = "usage_limit" // wait until Failure.Until
	Overloaded  Class = "overloaded"  // back off
	Network     Class = "network"     // back off
	Login       Class = "login"       // for the user to fix: hold, or end where they sit at a terminal
	Billing     Class = "billing"     // as Login
	Refused     Class = "refused"     // the model refuses
	NotStarted  Class = "not_started" // the client did not come up, no turn began
	Crashed     Class = "crashed"     // the client died
	TimedOut    Class = "timed_out"   // the turn took too long
	Silent      Class = "silent"      // no sign of life for too long
	OverBudget  Class = "over_budget" // the turn cost too much
	Interrupted Class = "interrupted" // the caller ended it
)

// Classes lists all classes.
func Classes() []Class {
	return []Class{UsageLimit, Overloaded, Network, Login, Billing, Refused, NotStarted, Crashed, TimedOut, Silent, OverBudget, Interrupted}
}

// Failure tells why a turn died.
type Failure struct {
	Class        Class     `json:"class"`
	Message      string    `json:"message,omitempty"`
	Hint         string    `json:"hint,omitempty"`
	Until        time.Time `json:"until,omitzero"`          // usage limit: when it resets, zero if not told
	Status       int       `json:"status,omitempty"`        // of HTTP, 0 if none
	Missing      bool      `json:"missing,omitempty"`       // NotStarted: there is no such program
	RetriedError string    `json:"retried_error,omitempty"` // Interrupted: the failure that the client met again and again meanwhile
	Background   bool      `json:"background,omitempty"`    // the loop's owner is a runner that has no terminal: nobody reads its end
}
