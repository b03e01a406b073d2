package record

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/claim"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/store"
)

// Kinds of messages to a loop.
const (
	MessageNote      = "note"
	MessagePause     = "pause"
	MessageResume    = "resume"
	MessageStop      = "stop"
	MessageToRunner  = "leave"   // hand the loop over from a session to a runner
	MessageToSession = "take"    // hand the loop over from its runner to a session
	MessageApprove   = "approve" // the user approves changes of tests in Paths; none: all
	MessageReject    = "reject"  // the user rejects them
	MessageLearn     = "learn"   // add a lesson for later turns
	MessageForget    = "forget"  // remove a lesson
	MessagePlan      = "plan"    // the user edits the plan: Edit
	MessageLimits    = "limits"  // the user gives the loop other limits: Limits
	MessageAnswer    = "answer"  // the user answers the agent's question

	// From the agent's tools.
	MessageClaim    = "claim"    // {Tasks, Text}: these are done, and the gates passed
	MessagePartial  = "partial"  // {Tasks, Text}: what is done of a task so far
	MessageBlocked  = "blocked"  // {Tasks, Text}: it cannot continue, and why
	MessageQuestion = "question" // {Question}: it asks the user
	MessageMerge    = "merge"    // {Text}: it asks for its work to be merged
	MessageTests    = "tests"    // {Paths, Text}: it asks to change these tests
)

// Message is the body of a message in a loop's inbox.
type Message struct {
	Kind string `json:"kind"` // one of the Message constants
	Text string `json:"text,omitempty"`
	// ByUser means that a user wrote it and not the agent, according to the sender.
	ByUser bool `json:"by_user,omitempty"`
	// DuringTurn means that a note is for the turn under way.
	DuringTurn bool `json:"now,omitempty"`

	Question *loop.Question `json:"question,omitempty"` // of an answer: the one that it is to, by its time
	Paths    []string       `json:"paths,omitempty"`    // relative to the root, slashes
	Tasks    []string       `json:"tasks,omitempty"`    // ids
	// Edit is the edit that a user makes to the plan.
	Edit *plan.Edit `json:"edit,omitempty"`
	// Limits are those that a user sets; 0 leaves one as it is, below 0 is unlimited.
	Limits *loop.Limits `json:"limits,omitempty"`

	Turn              int  `json:"turn,omitempty"` // of a claim, see memory.ToolClaim
	NoBehaviourChange bool `json:"no_behaviour_change,omitempty"`
}

// Event returns the event that the message means to the state machine. It returns false
// for other kinds.
func (m Message) Event() (loop.Event, bool) {
	switch m.Kind {
	case MessageNote:
		return loop.Event{Payload: loop.MessageArrived{Text: m.Text, Now: m.DuringTurn}}, true
	case MessagePause:
		return loop.Event{Payload: loop.PauseRequested{}}, true
	case MessageResume:
		return loop.Event{Payload: loop.Resumed{}}, true
	case MessageStop:
		return loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop, Reason: m.Text}}, true
	case MessageToRunner:
		return loop.Event{Payload: loop.HandoverRequested{To: loop.OwnerRunner, Why: m.Text}}, true
	case MessageToSession:
		return loop.Event{Payload: loop.HandoverRequested{To: loop.OwnerSession, Why: m.Text}}, true
	case MessageTests:
		return loop.Event{Payload: loop.TestChangeRequested{Paths: m.Paths, Why: m.Text}}, true
	case MessageApprove:
		return loop.Event{Payload: loop.Approved{Paths: m.Paths}}, true
	case MessageReject:
		return loop.Event{Payload: loop.Rejected{Paths: m.Paths, Why: m.Text}}, true
	case MessageLearn:
		return loop.Event{Payload: loop.LessonLearned{Lesson: m.Text, ByUser: m.ByUser}}, true
	case MessageForget:
		return loop.Event{Payload: loop.LessonForgotten{Lesson: m.Text}}, true
	case MessagePlan:
		if m.Edit != nil {
			return loop.Event{Payload: loop.PlanEditRequested{Edits: []plan.Edit{*m.Edit}}}, true
		}
	case MessageLimits:
		if m.Limits != nil {
			return loop.Event{Payload: loop.LimitsChanged{Limits: *m.Limits}}, true
		}
	case MessageQuestion:
		if m.Question != nil {
			return loop.Event{Payload: loop.QuestionAsked{Question: *m.Question}}, true
		}
	case MessageAnswer:
		answered := loop.Answered{Answer: m.Text, Question: m.Question}
		if len(m.Tasks) > 0 {
			answered.Task = m.Tasks[0]
		}
		return loop.Event{Payload: answered}, true
	case MessageMerge:
		return loop.Event{Payload: loop.MergeRequested{Summary: m.Text}}, true
	}
	return loop.Event{}, false
}

// NewID returns a new id for the message. The loop applies only one of two messages with the same id.
func (m Message) NewID() string { return strings.ToLower(m.Kind + "-" + rand.Text()) }

// ToolClaim returns the claim that the message makes. It returns false for other kinds of
// messages.
func (m Message) ToolClaim() (c memory.ToolClaim, ok bool) {
	c.Turn = m.Turn
	switch m.Kind {
	case MessageClaim:
		c.Claim = &loop.Claim{Tasks: m.Tasks, NoBehaviourChange: m.NoBehaviourChange, Summary: m.Text}
	case MessageBlocked:
		c.Claim = &loop.Claim{Blocked: true, Reason: m.Text}
	case MessagePartial:
		c.Partial = m.Text
	default:
		return memory.ToolClaim{}, false
	}
	return c, true
}

// FrozenPlanPath returns the path of the frozen plan: the plan as the user wrote it, with
// the checkboxes that Pawl ticked.
func FrozenPlanPath(l *store.Loop) string { return filepath.Join(l.Dir, "plan.frozen") }

// PendingEdits returns the edits of the plan in the inbox, oldest first.
func PendingEdits(l *store.Loop) ([]plan.Edit, error) {
	messages, err := l.Peek()
	if err != nil {
		return nil, err
	}
	var edits []plan.Edit
	for _, m := range messages {
		var body Message
		if json.Unmarshal(m.Body, &body) == nil && body.Kind == MessagePlan && body.Edit != nil {
			body.Edit.ID = m.ID
			edits = append(edits, *body.Edit)
		}
	}
	return edits, nil
}

// StopWaits reports whether the inbox has a message that stops the loop.
func StopWaits(l *store.Loop) bool {
	messages, _ := l.Peek() // one that cannot be read is met by the loop's owner
	return slices.ContainsFunc(messages, func(m store.Message) bool {
		var body Message
		return json.Unmarshal(m.Body, &body) == nil && body.Kind == MessageStop
	})
}

// FindClaim returns the claim in the agent's last message, or nil. Of several claims, being
// blocked takes precedence: an agent that says both has not finished. Goals that end by
// their own limit accept no claim.
func (s Spec) FindClaim(message string) *loop.Claim {
	if s.Policy.Kind == loop.Explore || s.Policy.Kind == loop.Periodic {
		return nil
	}
	var found *loop.Claim
	for _, c := range claim.Parse(message, s.Promise) {
		if c.Kind == claim.Blocked {
			return &loop.Claim{Blocked: true, Reason: c.Reason}
		}
		if found == nil {
			found = &loop.Claim{}
		}
		found.Tasks = append(found.Tasks, c.Tasks...)
		found.NoBehaviourChange = found.NoBehaviourChange || c.NoBehaviourChange
	}
	return found
}

// FindOtherPromise returns a promise in the agent's last message, in which FindClaim found nothing,
// that is not the one asked for; nil where a goal accepts no claim.
func (s Spec) FindOtherPromise(message string) *loop.OtherPromise {
	if s.Policy.Kind == loop.Explore || s.Policy.Kind == loop.Periodic {
		return nil
	}
	other := loop.OtherPromise{Said: claim.OtherPromise(message), Asked: cmp.Or(s.Promise, claim.DefaultPromise)}
	if other.Said == "" || other.Said == other.Asked {
		return nil
	}
	return &other
}

// FindQuestion returns the question in the agent's last message, or nil.
func FindQuestion(message string) *loop.Question {
	q, ok := claim.ParseQuestion(message)
	if !ok {
		return nil
	}
	return &loop.Question{Text: q.Text, Choices: q.Choices, Proposed: q.Proposed}
}
