// Package loop is the machine that drives a goal to its outcome.
//
// Step takes a state and an event (past tense: a turn ended, gates finished)
// and returns the next state and the actions to perform (imperative: run the
// gates, begin a turn). It is pure: no clock, no files, no goroutines; an event
// carries its time. Whoever owns a loop (the runner, the hooks of a user's
// session, later the distributed worker) performs the actions, reports what came
// of them as events, and writes each event to the journal before it acts. The
// state is the fold of the journal, so an owner that dies at any moment is
// replaced by one that folds, feeds OwnerLost, and performs the pending actions
// once more.
//
// Files: step.go is the table of phases and events. turn.go decides after a turn, claim.go after
// the gates, review.go after a review, agentfailure.go after a failed turn. ladder.go picks the next
// attempt at a failing task. testapproval.go and rejection.go apply the user's decisions on changed
// tests. usersession.go handles turns that the loop did not begin, isolated.go those in a separate
// session. handover.go changes the owner, message.go queues messages, limits are in limit.go,
// outcomes in outcome.go.
package loop

import (
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Phase is what the loop is waiting for.
type Phase string

// The phases. In each but New, Paused and Ended exactly one action is under
// way whose end is reported as an event.
const (
	New             Phase = "new"
	Checkpointing   Phase = "checkpointing"    // for Checkpointed
	Baseline        Phase = "baseline"         // for GatesFinished on the tree a task starts from
	Turning         Phase = "turning"          // for TurnEnded or AgentFailed
	Inspecting      Phase = "inspecting"       // for TreeSeen
	Judging         Phase = "judging"          // for GatesFinished on the agent's work
	Committing      Phase = "committing"       // for Committed
	Restoring       Phase = "restoring"        // for Restored
	Waiting         Phase = "waiting"          // for TimerFired
	TurningIsolated Phase = "turning_isolated" // for TurnEnded or AgentFailed of an isolated try
	Editing         Phase = "editing"          // for PlanEdited
	HandingOver     Phase = "handing_over"     // for HandedOver
	Paused          Phase = "paused"           // for Resumed
	Finishing       Phase = "finishing"        // for Concluded: the outcome stands, the work of the end is under way
	Ended           Phase = "ended"            // for nothing
)

// Phases lists all phases, in the order of a loop's life.
func Phases() []Phase {
	return []Phase{New, Checkpointing, Baseline, Turning, Inspecting, Judging, Committing, Restoring, Waiting, TurningIsolated, Editing, HandingOver, Paused, Finishing, Ended}
}

// AtWork tells whether the phase waits for something that the owner itself is to
// do now: it ends in an event as soon as that is done.
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

// Tokens is the sum that --max-tokens limits: input and output, cache included.
func (u Usage) Tokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// BeforeFirstTurn reports whether no turn has begun.
func (s State) BeforeFirstTurn() bool { return s.Iteration <= s.Policy.IterationsBefore }

// CostUnknown reports whether the agent tells neither cost nor tokens of its turns: one that
// is a program cannot, and the client of a user's session does not. A loop that ended before
// its first turn has cost nothing.
func (s State) CostUnknown() bool {
	if s.Phase == Ended && s.BeforeFirstTurn() {
		return false
	}
	return (s.Policy.NoCost || !s.BeforeFirstTurn() || s.Attended) && s.Usage == (Usage{})
}

// Add returns the sum of both, within bounds: an infinite cost could not be written.
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
	LastAgentLine string `json:"last_agent_line,omitempty"` // the last line of what the agent said
}

// RedGate is a gate that failed, with all tests that it named; none if it named none.
type RedGate struct {
	Gate  string   `json:"gate"`
	Tests []string `json:"tests,omitempty"`
}

// Failing is what failed last, for the next prompt.
type Failing struct {
	Reason       string   `json:"reason"`
	Tests        []string `json:"tests,omitempty"`
	FirstError   string   `json:"first_error,omitempty"`
	Review       bool     `json:"review,omitempty"`         // it is a review's word
	NoWork       bool     `json:"no_work,omitempty"`        // no work was judged: the agent died, did nothing, or says that it cannot
	GateTimedOut bool     `json:"gate_timed_out,omitempty"` // a gate came to its time limit
	FailedBefore bool     `json:"failed_before,omitempty"`  // nothing is worse than it was, and it has to pass
	Signs        []string `json:"signs,omitempty"`          // in the work of the claim, those that the agent was not told of yet
	Remedy       string   `json:"remedy,omitempty"`         // what would make the claim count; "": a test that fails without the work
	NeededInputs []string `json:"needed_inputs,omitempty"`  // gate inputs without whose change the gates do not pass
}

// Ladder is where the current task stands on it.
type Ladder struct {
	Attempt            int      `json:"attempt"`                        // 0 same session, 1 fresh session, 2 restored, 3 skipped
	Tries              int      `json:"tries,omitempty"`                // failed tries in this attempt
	Fingerprint        string   `json:"fingerprint,omitempty"`          // of the last failed try
	SameFailures       int      `json:"same_failures,omitempty"`        // tries in a row that failed just as the one before
	IdleTurns          int      `json:"idle_turns,omitempty"`           // turns in a row without a tool call
	ToolCallsHidden    bool     `json:"tool_calls_hidden,omitempty"`    // the tool calls of the agent cannot be seen
	Refused            bool     `json:"refused,omitempty"`              // a claim without evidence was refused once
	RefusedForInputs   bool     `json:"refused_for_inputs,omitempty"`   // a claim was refused once because it needs changed gate inputs
	RefusedClaim       *Claim   `json:"refused_claim,omitempty"`        // the refused claim, while nothing came of the refusal
	RefusedStillRed    bool     `json:"refused_still_red,omitempty"`    // a claim was refused over gates that are red as before
	SeenRed            bool     `json:"seen_red,omitempty"`             // Pawl saw a red gate since the task began
	ReviewFailures     int      `json:"review_failures,omitempty"`      // times that a review failed the task's work
	ReportedSigns      []string `json:"reported_signs,omitempty"`       // that the agent was told of
	LastTestRun        *TestRun `json:"last_test_run,omitempty"`        // the last test run of the last turn, nil without
	TestRunFingerprint string   `json:"test_run_fingerprint,omitempty"` // its fingerprint, if it failed
	SameRedRuns        int      `json:"same_red_runs,omitempty"`        // turns in a row with that
	TreeChanges        int      `json:"tree_changes,omitempty"`         // times that the tree changed under a review
}

// After says what follows a checkpoint, a restore, a wait, a pause, or the end of
// a loop that is reopened.
type After string

// What may follow.
const (
	ThenBaseline After = "baseline"  // run the gates on the tree the task starts from
	ThenNext     After = "next"      // take the next task
	ThenTurn     After = "turn"      // begin a turn
	ThenGates    After = "gates"     // run the gates again, for State.Purpose
	ThenCommit   After = "commit"    // make the commit that failed when the loop ended
	ThenApproved After = "approved"  // what the user's answer says, see askapproval.go
	ThenSaveWork After = "save_work" // put the work on a task that asks away
)

// State of a loop. Plain data: it survives JSON, and the zero value is a loop
// before Started. What it holds is grouped by what it is about, and by what ends it.
type State struct {
	Phase      Phase    `json:"phase"`
	Policy     Policy   `json:"policy"`
	Tasks      Tasks    `json:"tasks"`
	Pending    []Action `json:"pending,omitempty"`     // to perform again if the owner dies
	LastAction int      `json:"last_action,omitempty"` // ID of the last action that asks
	After      After    `json:"after,omitempty"`       // what follows a checkpoint, a restore, a wait, a pause or an edit of the plan

	Clock
	Ownership
	Counts
	Work
	Trouble
	GateState
	NextTurn
	Requests
	Conversation
	TurnHistory
	End
}

// Clock is the loop's time.
type Clock struct {
	StartedAt time.Time     `json:"started_at,omitzero"`
	Now       time.Time     `json:"now,omitzero"`       // of the last event; never goes back
	Away      time.Duration `json:"away,omitempty"`     // waits for usage limits and pauses: count against nothing
	AwayFrom  time.Time     `json:"away_from,omitzero"` // since when away, zero if not
}

// Ownership is who drives the loop, and who is to.
type Ownership struct {
	Attended bool     `json:"attended,omitempty"` // a user's session is the owner, not a runner
	Waited   []string `json:"waited,omitempty"`   // its background work that was waited for
	Handover
}

// Handover is the change of the owner that is wanted, or was made.
type Handover struct {
	HandoverTo      Owner  `json:"handover_to,omitempty"`      // is to go on with the loop, in place of the owner it has
	HandoverWhy     string `json:"handover_why,omitempty"`     // why it is to, or did
	HandoverFailed  bool   `json:"handover_failed,omitempty"`  // a handover failed: do not retry it automatically
	IsolationFailed bool   `json:"isolation_failed,omitempty"` // isolated tries cannot be made: the session tries on
}

// Counts are of the whole loop.
type Counts struct {
	Iteration    int     `json:"iteration"`
	Turns        int     `json:"turns"`
	Usage        Usage   `json:"usage"`
	Reviews      Reviews `json:"reviews,omitzero"` // their part of the usage
	Refusals     int     `json:"refusals,omitempty"`
	Restores     int     `json:"restores,omitempty"`
	UserRestores int     `json:"user_restores,omitempty"` // restores by a user
	Violations   int     `json:"violations,omitempty"`    // since it was begun or reopened
}

// Work is the task at work.
type Work struct {
	FirstTask      string        `json:"first_task,omitempty"`      // task to take first: an earlier loop had begun it
	Current        string        `json:"current,omitempty"`         // id of the task at work
	PreviousTask   string        `json:"previous_task,omitempty"`   // id of the task at work before
	TaskElapsed    time.Duration `json:"task_elapsed,omitempty"`    // State.Elapsed when it began
	StartTree      string        `json:"start_tree,omitempty"`      // tree the task starts from: the last verified commit and what the user did since
	WithEdits      string        `json:"with_edits,omitempty"`      // the same with what the user had edited and not committed, where Base lacks it
	UnfinishedTree string        `json:"unfinished_tree,omitempty"` // tree that the first turn of the task finds, where that is not Base: what an earlier loop did of it
	WorkToRestore  *SavedWork    `json:"work_to_restore,omitempty"` // work of the task that is to be brought back before its first turn
	TreeReplaced   bool          `json:"tree_replaced,omitempty"`   // a user restored a checkpoint since the task began
	Ladder         Ladder        `json:"ladder"`
	Failing        *Failing      `json:"failing,omitempty"`
	Claim          *Claim        `json:"claim,omitempty"`           // being judged
	OutsideChanges []string      `json:"outside_changes,omitempty"` // Inspection.Beside of the last claim without a change
	Isolated       *IsolatedTurn `json:"isolated,omitempty"`        // the last try in a client of its own
}

// Trouble is what went wrong since a turn came to its end.
type Trouble struct {
	Failures         int    `json:"failures,omitempty"`           // dead turns: network, overloaded, interrupted
	Crashes          int    `json:"crashes,omitempty"`            // dead turns of a client that cannot work
	UsageLimits      int    `json:"usage_limits,omitempty"`       // usage limits
	UnknownResults   int    `json:"unknown_results,omitempty"`    // unknown results of the gates in a row
	ExternalCause    string `json:"external_cause,omitempty"`     // what the last dead turn met outside: network, overload, usage limit
	HoldReason       string `json:"hold_reason,omitempty"`        // what only the user can fix, while the loop is held for that
	StaleIndexCommit string `json:"stale_index_commit,omitempty"` // commit that git's index does not follow, which ended the loop
}

// Judgement is what the gates run for, and what they said last.
type GateState struct {
	Purpose        Purpose   `json:"purpose,omitempty"`
	TurnSinceGates bool      `json:"turn_since_gates,omitempty"` // a turn has ended since they last ran
	ClaimGates     *Gates    `json:"claim_gates,omitempty"`      // for the claim being committed
	ClaimGatesAt   time.Time `json:"claim_gates_at,omitzero"`    // when they found it
	Green          bool      `json:"green,omitempty"`            // every gate passed in full
	RedReason      string    `json:"red_reason,omitempty"`       // what was red, "" if they could not tell
	RedAtStart     []RedGate `json:"red_at_start,omitempty"`     // what failed before the first turn
}

// NextTurn is how the next turn begins.
type NextTurn struct {
	Situation      Situation `json:"situation,omitempty"`
	Fresh          bool      `json:"fresh,omitempty"`           // in a fresh context
	Retry          bool      `json:"retry,omitempty"`           // in the place of one that was cut off
	ContextPercent int       `json:"context_percent,omitempty"` // percent full
	LimitsChanged  bool      `json:"limits_changed,omitempty"`  // in the turn under way
}

// Requests are what a user wants of the loop, or has allowed.
type Requests struct {
	Pause              bool                `json:"pause,omitempty"`
	Edits              []plan.Edit         `json:"edits,omitempty"`                // of the plan, before the next turn
	UnappliedEditFiles []string            `json:"unapplied_edit_files,omitempty"` // files that keep edits of the plan which were not applied
	PlanApproved       bool                `json:"plan_approved,omitempty"`
	TestRequests       []TestChangeRequest `json:"test_requests,omitempty"` // tests that the agent wants to change
	Permissions
}

// Permits are the user's words on changes of tests and other gate inputs.
type Permissions struct {
	Approved []string    `json:"approved,omitempty"` // that the agent may change, AllTests for all tests
	Rejected []Rejection `json:"rejected,omitempty"` // that it may not
}

// Conversation is what user and agent say to each other.
type Conversation struct {
	Messages      []Message  `json:"messages,omitempty"`        // to the agent, that it has not acknowledged
	ReadMessages  []Message  `json:"read_messages,omitempty"`   // the last that it has
	ReceivedIDs   []string   `json:"received_ids,omitempty"`    // ids of the last messages
	Questions     []Question `json:"questions,omitempty"`       // that the agent asks the user, one a task
	Merge         *Merge     `json:"merge,omitempty"`           // what the agent asks the user to merge
	LastAgentLine string     `json:"last_agent_line,omitempty"` // the last line of what the agent said in the turn that ended
	Answer        string     `json:"answer,omitempty"`          // of an Answer goal
}

// Past is what the next prompts tell of the turns before.
type TurnHistory struct {
	History []RecapLine `json:"history,omitempty"` // the last attempts
	Lessons []Lesson    `json:"lessons,omitempty"`
}

// End is how the loop ended, or why it is about to.
type End struct {
	Outcome      Outcome       `json:"outcome,omitempty"`
	Reason       string        `json:"reason,omitempty"`
	Hint         string        `json:"hint,omitempty"`
	ReachedLimit Outcome       `json:"reached_limit,omitempty"` // the limit that was reached
	StopCause    string        `json:"stop_cause,omitempty"`    // cause of a cancellation: stop, int, term, hup
	StopReason   string        `json:"stop_reason,omitempty"`   // what a user did to stop it, where it was no command
	EndedAt      time.Time     `json:"ended_at,omitzero"`
	Tested       time.Duration `json:"tested,omitempty"` // of mutation testing after that
}

// Asked is the action of a kind that the loop waits for the end of.
func (s State) PendingAction(do ActionKind) (Action, bool) {
	for _, a := range s.Pending {
		if a.Do == do {
			return a, true
		}
	}
	return Action{}, false
}

// IsNews reports whether an event is one that the loop has not had yet: no message that
// was received before, and no answer to an action whose end it does not wait for.
func (s State) IsNew(e Event) bool {
	if e.ID != "" && slices.Contains(s.ReceivedIDs, e.ID) {
		return false
	}
	return e.ActionID == 0 || slices.ContainsFunc(s.Pending, func(a Action) bool { return a.ID == e.ActionID })
}

// OwesCommit reports whether the loop has ended over the commit of accepted work.
func (s State) CommitPending() bool { return s.Outcome != "" && s.After == ThenCommit }

// Task returns the task with that id.
func (s State) Task(id string) (Task, bool) { return s.Tasks.Task(id) }

// ChangedTasks returns the tasks that are new or have another status than in an earlier
// state. Both hold a plan in the same order, so it is not searched for each task.
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

// ProvedBy returns the done task that a test or gate proved by turning green:
// what breaks when it fails again.
func (s State) ProvedBy(test string) (Task, bool) {
	for _, t := range s.Tasks {
		if t.Status == Done && slices.Contains(t.Flipped, test) {
			return t, true
		}
	}
	return Task{}, false
}

// Left tells whether there is something to do. A loop that could not be set up has
// not begun: all of it is left. Where a fault or a user ended the loop after its last
// task, the final gates are; where a gate is red in the end, that gate is.
func (s State) HasWorkLeft() bool {
	return s.StartedAt.IsZero() || s.Outcome == Errored || s.Outcome == CancelledEnd || s.endedRed() || slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Status != Done && !t.LeftOut }) || len(s.Edits) > 0 || len(s.Unread()) > 0
}

func (s State) endedRed() bool { return s.Outcome == Unverified && s.RedReason != "" }
