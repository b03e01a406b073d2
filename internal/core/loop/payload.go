package loop

import (
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Started begins the loop.
type Started struct {
	Policy    Policy `json:"policy"`
	Tasks     []Task `json:"tasks"`                // in the plan's order; done ones are DoneEarlier
	FirstTask string `json:"first_task,omitempty"` // task that an earlier loop began; it goes first
}

// Reopened means that a user continues a loop that had ended.
type Reopened struct {
	Limits Limits `json:"limits,omitzero"` // from the current usage; 0: unchanged, below 0: unlimited
	Owner  Owner  `json:"owner,omitempty"` // "": as it was
	Added  []Task `json:"added,omitempty"` // plan tasks that are new to the loop or have a new title
	// Ticked are tasks that the user ticked since the end.
	Ticked []string `json:"ticked,omitempty"`
}

// OwnerChanged means that a new owner continues the loop.
type OwnerChanged struct{}

// HandoverRequested means that another owner should continue the loop.
type HandoverRequested struct {
	To  Owner  `json:"to"`
	Why string `json:"why,omitempty"`
}

// HandedOver ends a HandOver. A new owner may also take the loop unasked.
type HandedOver struct {
	To     Owner  `json:"to"` // who drives the loop now
	Failed bool   `json:"failed,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Checkpointed ends a Checkpoint.
type Checkpointed struct {
	Tree           string `json:"tree"`
	WithEdits      string `json:"with_edits,omitempty"`      // the tree with the user's uncommitted edits, if Tree lacks them
	UnfinishedTree string `json:"unfinished_tree,omitempty"` // the tree with an earlier loop's work on the task, if Tree lacks it
	// PutAway is restored work on other tasks, which the tree must not have while this task is worked on.
	PutAway []PutAwayWork `json:"put_away,omitempty"`
}

// AllTrees returns the trees that the loop needs later.
func (c Checkpointed) AllTrees() []string {
	trees := []string{c.Tree, c.WithEdits, c.UnfinishedTree}
	for _, work := range c.PutAway {
		trees = append(trees, work.Base, work.Work)
	}
	return trees
}

// GatesFinished ends a RunGates.
type GatesFinished struct {
	Gates Gates `json:"gates"`
}

// TurnEnded ends a BeginTurn. A turn of a user's session may end unasked.
type TurnEnded struct {
	Turn     Turn `json:"turn"`
	Isolated bool `json:"isolated,omitempty"`
}

// AgentFailed ends a BeginTurn whose turn was cut off.
type AgentFailed struct {
	Failure  Failure `json:"failure"`
	Turn     *Turn   `json:"turn,omitempty"` // what is known about the turn
	Isolated bool    `json:"isolated,omitempty"`
}

// TreeInspected ends an Inspect.
type TreeInspected struct {
	Inspection Inspection `json:"inspection"`
}

// Committed ends a Commit.
type Committed struct {
	Commit            string   `json:"commit,omitempty"` // its hash, "" if the loop makes no commits
	Receipt           string   `json:"receipt,omitempty"`
	Tree              string   `json:"tree"`                          // the current tree
	LostTasks         []string `json:"lost_tasks,omitempty"`          // done tasks whose commits are gone
	Added             []Task   `json:"added,omitempty"`               // plan tasks that are new to the loop or have a new title
	UnappliedEditFile string   `json:"unapplied_edit_file,omitempty"` // file with a plan edit that was not applied
	IndexError        string   `json:"index_error,omitempty"`         // why git's index does not follow the commit
	Hint              string   `json:"hint,omitempty"`                // what to do about IndexError
}

// Restored ends a Restore.
type Restored struct {
	Tree      string `json:"tree"`                // the current tree
	Unchanged bool   `json:"unchanged,omitempty"` // the tree was the same already, so there is nothing to undo
}

// WorkReapplied ends a ReapplyWork.
type WorkReapplied struct {
	Tree      string   `json:"tree"`                // the current tree
	Conflicts []string `json:"conflicts,omitempty"` // files that stay as other tasks left them
}

// TimerFired ends a Wait.
type TimerFired struct{}

// PlanEdited ends an EditPlan.
type PlanEdited struct {
	Edits []plan.Edit `json:"edits,omitempty"` // those tried
	Plan  []Task      `json:"plan,omitempty"`  // all tasks, if the whole plan was replaced
	Added []Task      `json:"added,omitempty"` // plan tasks that are new to the loop
}

// Concluded ends a Finish.
type Concluded struct {
	Tested time.Duration `json:"tested,omitempty"` // time of mutation testing after the outcome
}

// Faulted means that an action could not be performed.
type Faulted struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	Lost  bool   `json:"lost,omitempty"` // git does not have an object any more, so a repetition would fail, too
	// NeedsUser means that the user can do at once what the hint says: the loop waits.
	NeedsUser bool `json:"needs_user,omitempty"`
	// Moved means that the branch is not where it was when the gates ran: they run again.
	Moved bool `json:"moved,omitempty"`
}

// LimitHit means that the owner noticed a limit.
type LimitHit struct {
	Limit Outcome `json:"limit"` // Iterations, Duration or Budget
}

// LimitsChanged means that a user changes the limits of a running loop.
type LimitsChanged struct {
	Limits Limits `json:"limits"` // totals since the loop started; 0: unchanged, below 0: unlimited
}

// PauseRequested means that a user pauses the loop.
type PauseRequested struct{}

// Resumed means that a user continues a paused loop.
type Resumed struct {
	Added  []Task   `json:"added,omitempty"`  // plan tasks that are new to the loop or have a new title
	Ticked []string `json:"ticked,omitempty"` // tasks that the user ticked in the pause
}

// Cancelled means that a user stops the loop.
type Cancelled struct {
	Cause  string `json:"cause"`            // ByStop, ByInterrupt, ByTerm, ByHangup or ByPipe
	Reason string `json:"reason,omitempty"` // what the user did, if not one of these
}

// MessageArrived means that a user writes to the agent.
type MessageArrived struct {
	Text string `json:"text"`
	Now  bool   `json:"now,omitempty"` // for the current turn
}

// Delivered means that the current turn received messages.
type Delivered struct {
	MessageIDs []string `json:"message_ids"`
}

// QuestionAsked means that the agent asks the user.
type QuestionAsked struct {
	Question Question `json:"question"`
}

// Answered means that the user answers a question.
type Answered struct {
	Answer   string    `json:"answer"`
	Task     string    `json:"task,omitempty"`     // the task that asked, "": the first
	Question *Question `json:"question,omitempty"` // the answered one, matched by its time; nil: the first
}

// MergeRequested means that the agent asks the user to merge its work.
type MergeRequested struct {
	Summary string `json:"summary"`
}

// TestChangeRequested means that the agent asks to change existing tests.
type TestChangeRequested struct {
	Paths []string `json:"paths"` // relative to the root, with slashes
	Why   string   `json:"why,omitempty"`
}

// Approved means that a user approves changes of tests or accepts work, possibly after the end.
type Approved struct {
	Paths []string `json:"paths,omitempty"` // tests; none: all
	Tasks []string `json:"tasks,omitempty"` // tasks whose work is accepted, instead of tests
}

// Rejected means that a user rejects changes of tests, possibly after the end.
type Rejected struct {
	Paths []string `json:"paths,omitempty"` // tests, or AllTests
	Why   string   `json:"why,omitempty"`
}

// LessonLearned adds a lesson for later turns.
type LessonLearned struct {
	Lesson string `json:"lesson"`
	ByUser bool   `json:"by_user,omitempty"` // a user wrote it, not the agent
}

// LessonForgotten removes a lesson.
type LessonForgotten struct {
	Lesson string `json:"lesson"`
}

// PlanEditRequested means that a user edits the plan.
type PlanEditRequested struct {
	Edits []plan.Edit `json:"edits"`
}

// CheckpointRestored means that a user restored a checkpoint, possibly after the end.
type CheckpointRestored struct {
	Summary   string       `json:"summary,omitempty"`    // what they restored, in words
	DoneTasks []string     `json:"done_tasks,omitempty"` // tasks done in the checkpoint
	Work      RestoredWork `json:"work,omitzero"`        // undone work that it brought back
	// Kept is undone work of other tasks that was restored before and is still in the tree.
	Kept RestoredWorks `json:"kept,omitempty"`
}

// Unrecognized is an event of an unknown kind, which a newer Pawl wrote. It changes nothing.
type Unrecognized struct {
	Name EventKind `json:"-"`
}
