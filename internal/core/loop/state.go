// Package loop is the machine that drives a goal to its outcome.
//
// Step takes a state and an event (past tense: a turn ended, gates finished)
// and returns the next state and the actions to perform (imperative: run the
// gates, begin a turn). It is pure: no clock, no files, no goroutines; an event
// carries its time. Whoever owns a loop (the runner, the hooks of a user's
// session, later the distributed worker) performs the actions, reports what came
// of them as events, and writes each event to the journal before it acts. The
// state is the fold of the journal, so an owner that dies at any moment is
// replaced by one that folds, feeds OwnerChanged, and performs the pending actions
// once more.
//
// Files: payload.go lists the events with what each brings, action.go the actions. step.go sends
// each event to its handler. turn.go decides after a turn, claim.go after the gates, review.go after
// a review, commit.go after a commit, agentfailure.go after a failed turn.
// ladder.go picks the next attempt at a failing task. testapproval.go and rejection.go apply the
// user's decisions on changed tests. usersession.go handles turns that the loop did not start,
// isolated.go those in a separate session. handover.go changes the owner, message.go queues
// messages, limits are in limit.go, outcomes in outcome.go.
package loop

import (
	"cmp"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Phase says what the loop waits for.
type Phase string

// The phases. In each but New, Paused and Ended, exactly one action that ends in an event is
// pending.
const (
	New             Phase = "new"
	Checkpointing   Phase = "checkpointing"    // for Checkpointed
	Baseline        Phase = "baseline"         // for GatesFinished on the task's start tree
	Turning         Phase = "turning"          // for TurnEnded or AgentFailed
	Inspecting      Phase = "inspecting"       // for TreeInspected
	Judging         Phase = "judging"          // for GatesFinished on the agent's work
	Committing      Phase = "committing"       // for Committed
	Restoring       Phase = "restoring"        // for Restored or WorkReapplied
	Waiting         Phase = "waiting"          // for TimerFired
	TurningIsolated Phase = "turning_isolated" // for TurnEnded or AgentFailed of an isolated turn
	Editing         Phase = "editing"          // for PlanEdited
	HandingOver     Phase = "handing_over"     // for HandedOver
	Paused          Phase = "paused"           // for Resumed
	Finishing       Phase = "finishing"        // for Concluded: the outcome is decided
	Ended           Phase = "ended"            // for nothing
)

// Phases lists all phases, in the order of a loop's life.
func Phases() []Phase {
	return []Phase{New, Checkpointing, Baseline, Turning, Inspecting, Judging, Committing, Restoring, Waiting, TurningIsolated, Editing, HandingOver, Paused, Finishing, Ended}
}

// OwnerActs reports whether the owner itself has to act now, and the phase ends as soon as it is
// done.
func (p Phase) OwnerActs() bool {
	switch p {
	case New, Checkpointing, Baseline, Inspecting, Judging, Committing, Restoring, TurningIsolated, Editing, HandingOver, Finishing:
		return true
	}
	return false
}

// Usage counts tokens and money.
type Usage struct {
	Input      int64   `json:"input"`
	Output     int64   `json:"output"`
	CacheRead  int64   `json:"cache_read"`
	CacheWrite int64   `json:"cache_write"`
	CostUSD    float64 `json:"cost_usd"`
}

// Tokens returns the sum that --max-tokens limits: input and output, cache included.
func (u Usage) Tokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// BeforeFirstTurn reports whether no turn has begun.
func (s State) BeforeFirstTurn() bool { return s.Iteration <= s.Policy.IterationsBefore }

// CostUnknown reports whether the agent reports neither cost nor tokens: a plain program cannot,
// and the client of a user's session does not. A loop that ended before its first turn cost
// nothing.
func (s State) CostUnknown() bool {
	if s.Phase == Ended && s.BeforeFirstTurn() {
		return false
	}
	return (s.Policy.NoCost || !s.BeforeFirstTurn() || s.InSession) && s.Usage == (Usage{})
}

// Add returns the sum, clamped so that it can be encoded as JSON.
func (u Usage) Add(v Usage) Usage {
	const most, mostUSD = 1e15, 1e9
	tokens := func(a, b int64) int64 { return min(max(a, 0), most) + min(max(b, 0), most) }
	return Usage{
		Input: tokens(u.Input, v.Input), Output: tokens(u.Output, v.Output),
		CacheRead: tokens(u.CacheRead, v.CacheRead), CacheWrite: tokens(u.CacheWrite, v.CacheWrite),
		CostUSD: min(max(u.CostUSD, 0)+max(v.CostUSD, 0), mostUSD),
	}
}

// RecapLine is one line of the recap.
type RecapLine struct {
	Iteration     int    `json:"iteration"`
	Task          string `json:"task"`
	What          string `json:"what"`
	LastAgentLine string `json:"last_agent_line,omitempty"` // see Conversation
}

// RedGate is a failing gate with its failing tests, if it names them.
type RedGate struct {
	Gate  string   `json:"gate"`
	Tests []string `json:"tests,omitempty"`
}

// Failing is the last failure, for the next prompt.
type Failing struct {
	Reason       string   `json:"reason"`
	Tests        []string `json:"tests,omitempty"`
	FirstError   string   `json:"first_error,omitempty"`
	Review       bool     `json:"review,omitempty"`  // a review failed it
	NoWork       bool     `json:"no_work,omitempty"` // no work was gated: the agent crashed, did nothing, or is blocked
	GateTimedOut bool     `json:"gate_timed_out,omitempty"`
	FailedBefore bool     `json:"failed_before,omitempty"` // nothing regressed, but it has to pass
	Signs        []string `json:"signs,omitempty"`         // signs in the claimed work that were not reported to the agent yet
	OnlyText     bool     `json:"only_text,omitempty"`     // the claimed work changed documents and comments alone
	Remedy       string   `json:"remedy,omitempty"`        // what would make the claim count; "": a test that fails without the work
	NeededInputs []string `json:"needed_inputs,omitempty"` // changed gate inputs that the gates need to pass
}

// After says what follows a checkpoint, a restore, a wait, a pause, or the reopening of a loop.
type After string

// The next steps.
const (
	ThenBaseline After = "baseline"  // run the gates on the task's start tree
	ThenNext     After = "next"      // take the next task
	ThenTurn     After = "turn"      // begin a turn
	ThenGates    After = "gates"     // run the gates again, for State.Gates.Purpose
	ThenCommit   After = "commit"    // retry the commit that failed when the loop ended
	ThenApproved After = "approved"  // apply the user's answer, see askapproval.go
	ThenSaveWork After = "save_work" // save the work on a task that waits for an answer
)

// State is the state of a loop. It is plain data that survives JSON. The zero value is a loop
// before Started.
type State struct {
	Phase      Phase    `json:"phase"`
	Policy     Policy   `json:"policy"`
	Tasks      Tasks    `json:"tasks"`
	Pending    []Action `json:"pending,omitempty"`     // repeated if the owner dies
	LastAction int      `json:"last_action,omitempty"` // ID of the last action that EndsInEvent
	After      After    `json:"after,omitempty"`       // what follows a checkpoint, a restore, a wait, a pause or an edit of the plan

	Clock
	Ownership
	Counts
	Work
	Trouble Trouble   `json:"trouble,omitzero"`
	Gates   GateState `json:"gates,omitzero"`
	Next    NextTurn  `json:"next,omitzero"`
	Requests
	Conversation
	TurnHistory
	Stop Stop `json:"stop,omitzero"`
	End
}

// Clock is the loop's time.
type Clock struct {
	StartedAt time.Time     `json:"started_at,omitzero"`
	Now       time.Time     `json:"now,omitzero"`       // of the last event; never goes back
	Away      time.Duration `json:"away,omitempty"`     // time that does not count for limits: usage limits and pauses
	AwayFrom  time.Time     `json:"away_from,omitzero"` // start of the current such time, zero if none
	Idle      time.Duration `json:"idle,omitempty"`     // time between an end and the reopening
}

// Ownership is who drives the loop, and who will.
type Ownership struct {
	InSession      bool     `json:"in_session,omitempty"`      // a user's session is the owner, not a runner
	Waited         []string `json:"waited,omitempty"`          // its background work that the loop already waited for
	ContextPercent int      `json:"context_percent,omitempty"` // how full the agent's context is
	Handover       Handover `json:"handover,omitzero"`
}

// Handover is a requested or completed change of the owner.
type Handover struct {
	To              Owner  `json:"to,omitempty"`               // the requested owner
	Why             string `json:"why,omitempty"`              // the reason
	Failed          bool   `json:"failed,omitempty"`           // do not retry automatically
	IsolationFailed bool   `json:"isolation_failed,omitempty"` // isolated turns do not work: the session continues alone
}

// Counts cover the whole loop.
type Counts struct {
	Iteration    int     `json:"iteration"`
	Turns        int     `json:"turns"`
	Usage        Usage   `json:"usage"`
	Reviews      Reviews `json:"reviews,omitzero"` // their part of the usage
	Refusals     int     `json:"refusals,omitempty"`
	Restores     int     `json:"restores,omitempty"`
	UserRestores int     `json:"user_restores,omitempty"` // checkpoints that the user restored
	Violations   int     `json:"violations,omitempty"`    // since the loop started or was reopened
}

// Work is the current task and its progress.
type Work struct {
	FirstTask      string        `json:"first_task,omitempty"`    // task that an earlier loop began; it goes first
	Restored       RestoredWorks `json:"restored,omitempty"`      // undone work that the user restored and no task has begun with
	Current        string        `json:"current,omitempty"`       // ID of the current task
	PreviousTask   string        `json:"previous_task,omitempty"` // ID of the task before
	TaskElapsed    time.Duration `json:"task_elapsed,omitempty"`  // State.Elapsed when it began
	Start          TaskStart     `json:"start,omitzero"`
	TreeReplaced   bool          `json:"tree_replaced,omitempty"` // a user restored a checkpoint since the task started
	Ladder         Ladder        `json:"ladder"`
	Failing        *Failing      `json:"failing,omitempty"`
	Claim          *OpenClaim    `json:"claim,omitempty"`           // at the gates
	OutsideChanges []string      `json:"outside_changes,omitempty"` // Inspection.OutsideChanges of the last claim without a change
	Isolated       *IsolatedTurn `json:"isolated,omitempty"`        // the last isolated turn
}

// TaskStart are the trees that a task starts from.
type TaskStart struct {
	Task           string `json:"task,omitempty"`            // the current one once its checkpoint is made
	Tree           string `json:"tree,omitempty"`            // the last verified commit and the user's changes since
	WithEdits      string `json:"with_edits,omitempty"`      // Tree with the user's uncommitted edits, if it lacks them
	UnfinishedTree string `json:"unfinished_tree,omitempty"` // tree for the first turn, if not Tree: earlier work on the task
	// UnfinishedPaths are the files of that work, if the user restored it.
	UnfinishedPaths []string `json:"unfinished_paths,omitempty"`
}

// InWorkTree returns the tree of the work tree, including the user's edits.
func (s TaskStart) InWorkTree() string { return cmp.Or(s.WithEdits, s.Tree) }

// Trouble counts failures since a turn last ended normally.
type Trouble struct {
	Failures         int    `json:"failures,omitempty"`           // failed turns: network, overloaded, interrupted
	Crashes          int    `json:"crashes,omitempty"`            // crashed turns
	UsageLimits      int    `json:"usage_limits,omitempty"`       // usage limits
	UnknownResults   int    `json:"unknown_results,omitempty"`    // unknown gate results in a row
	ExternalCause    string `json:"external_cause,omitempty"`     // why the last turn failed, if network, overload or usage limit
	BranchMoves      int    `json:"branch_moves,omitempty"`       // commits that failed because the branch had moved since the gates ran
	HoldReason       string `json:"hold_reason,omitempty"`        // what the user has to fix before the loop continues
	StaleIndexCommit string `json:"stale_index_commit,omitempty"` // commit that git's index does not follow, which ended the loop
}

// GateState holds the purpose of the current gate run, and the last results.
type GateState struct {
	Purpose    Purpose   `json:"purpose,omitempty"`
	TurnSince  bool      `json:"turn_since,omitempty"`   // a turn ended after the last gate run
	Green      bool      `json:"green,omitempty"`        // every gate passed in full
	RedReason  string    `json:"red_reason,omitempty"`   // why gates fail, "" if none do or the result is unknown
	RedAtStart []RedGate `json:"red_at_start,omitempty"` // what failed before the first turn
	StillRed   []string  `json:"still_red,omitempty"`    // tests and gates of RedAtStart that failed in the last run
}

// NextTurn is how the next turn begins.
type NextTurn struct {
	Situation Situation `json:"situation,omitempty"`
	Fresh     bool      `json:"fresh,omitempty"` // in a fresh context
	Retry     bool      `json:"retry,omitempty"` // repeats one that was cut off
}

// Requests are open requests of the user and the agent.
type Requests struct {
	Pause              bool                `json:"pause,omitempty"`
	LimitsChanged      bool                `json:"limits_changed,omitempty"`       // during the current turn
	Edits              []plan.Edit         `json:"edits,omitempty"`                // of the plan, applied before the next turn
	UnappliedEditFiles []string            `json:"unapplied_edit_files,omitempty"` // files with plan edits that were not applied
	PlanApproved       bool                `json:"plan_approved,omitempty"`
	TestRequests       []TestChangeRequest `json:"test_requests,omitempty"` // test changes that the agent asks for
	Permissions
}

// Permissions are the user's decisions on changes of tests and other gate inputs.
type Permissions struct {
	Approved []string    `json:"approved,omitempty"` // paths; AllTests for all tests
	Rejected []Rejection `json:"rejected,omitempty"`
}

// Conversation holds the messages between user and agent.
type Conversation struct {
	Messages      []Message  `json:"messages,omitempty"`        // to the agent, until their turn ends
	ReadMessages  []Message  `json:"read_messages,omitempty"`   // the last received ones
	ReceivedIDs   []string   `json:"received_ids,omitempty"`    // IDs of the last messages, to dedupe them
	Questions     []Question `json:"questions,omitempty"`       // to the user, one per task
	Merge         *Merge     `json:"merge,omitempty"`           // what the agent asks the user to merge
	LastAgentLine string     `json:"last_agent_line,omitempty"` // last line of the agent's final message in the previous turn
	Answer        string     `json:"answer,omitempty"`          // result of an Answer goal
}

// TurnHistory holds facts about earlier turns for the next prompts.
type TurnHistory struct {
	History []RecapLine `json:"history,omitempty"` // the last attempts
	Lessons []Lesson    `json:"lessons,omitempty"`
}

// Stop is why the loop ends before its next turn: a limit or the user.
type Stop struct {
	Limit  Outcome `json:"limit,omitempty"`  // that was reached
	Cause  string  `json:"cause,omitempty"`  // of a cancellation: stop, int, term, hup
	Reason string  `json:"reason,omitempty"` // how the user stopped it, if not by a command
}

// End is how the loop ended or will end.
type End struct {
	Outcome Outcome       `json:"outcome,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Hint    string        `json:"hint,omitempty"`
	EndedAt time.Time     `json:"ended_at,omitzero"`
	Tested  time.Duration `json:"tested,omitempty"` // mutation testing after EndedAt
}

// IsNew reports whether an event is new: neither a message received before nor the end of an action
// that is not pending.
func (s State) IsNew(e Event) bool {
	if e.ID != "" && slices.Contains(s.ReceivedIDs, e.ID) {
		return false
	}
	return e.ActionID == 0 || slices.ContainsFunc(s.Pending, func(a Action) bool { return a.ID == e.ActionID })
}

// CommitPending reports whether the loop ended because accepted work could not be committed.
func (s State) CommitPending() bool { return s.Outcome != "" && s.After == ThenCommit }

// Task returns the task with that ID.
func (s State) Task(id string) (Task, bool) { return s.Tasks.Task(id) }

// ChangedTasks returns the tasks that are new or changed status since before. Both states usually
// share the plan's order, which avoids a search per task.
func (s State) ChangedTasks(before State) []Task {
	var changed []Task
	for i, t := range s.Tasks {
		was, known := Task{}, i < len(before.Tasks) && before.Tasks[i].ID == t.ID
		if known {
			was = before.Tasks[i]
		} else {
			was, known = before.Task(t.ID)
		}
		if !known || was.Status != t.Status {
			changed = append(changed, t)
		}
	}
	return changed
}

// ProvedBy returns the done task that a flipped test or gate proved. It regresses when the test
// fails again.
func (s State) ProvedBy(test string) (Task, bool) {
	for _, t := range s.Tasks {
		if t.Status == Done && slices.Contains(t.Flipped, test) {
			return t, true
		}
	}
	return Task{}, false
}

// HasWorkLeft reports whether the loop can be continued: it never started, has open tasks, edits or
// messages, ended by a fault or a user before its final gates, or ended with a failing gate.
func (s State) HasWorkLeft() bool {
	unfinished := func(t Task) bool { return t.Status != Done && !t.LeftOut }
	switch {
	case s.StartedAt.IsZero(), s.Outcome == Errored, s.Outcome == CancelledEnd, s.endedRed():
		return true
	case len(s.Edits) > 0, len(s.Unread()) > 0:
		return true
	}
	return slices.ContainsFunc(s.Tasks, unfinished)
}

func (s State) endedRed() bool { return s.Outcome == Unverified && s.Gates.RedReason != "" }
