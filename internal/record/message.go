package record

import "github.com/pawl-dev/pawl/internal/core/loop"

// Kinds of messages that anyone may leave for a loop.
const (
	MessageNote    = "note"
	MessagePause   = "pause"
	MessageResume  = "resume"
	MessageStop    = "stop"
	MessageLeave   = "leave"   // a user's session, for fresh ones that a runner begins
	MessageTake    = "take"    // a user's session takes the loop from its runner
	MessageApprove = "approve" // a user lets it change Paths; none = all
	MessageReject  = "reject"  // a user does not
	MessageLearn   = "learn"   // a lesson for the turns to come
	MessageForget  = "forget"  // a lesson is taken out

	// What the agent leaves by its tools.
	MessageClaim   = "claim"   // {Tasks, Text}: it says that these are done, and the gates passed when it did
	MessagePartial = "partial" // {Tasks, Text}: what it has done of a task so far
	MessageBlocked = "blocked" // {Tasks, Text}: it cannot go on, and why
	MessageMerge   = "merge"   // {Text}: it asks for its work to be merged
	MessageTests   = "tests"   // {Paths, Text}: it asks to be allowed to change these tests
)

// Message is the body of what anyone leaves in a loop's inbox.
type Message struct {
	Kind string `json:"kind"` // one of the Message constants
	Text string `json:"text,omitempty"`
	// ByPerson says that a user wrote it and not the agent, by the word of whoever
	// left the message.
	ByPerson bool `json:"by_person,omitempty"`

	Paths []string `json:"paths,omitempty"` // relative to the root, slashes
	Tasks []string `json:"tasks,omitempty"` // ids
	// Of a claim.
	Turn              int  `json:"turn,omitempty"` // that it was made in, see Claimed
	NoBehaviourChange bool `json:"no_behaviour_change,omitempty"`
}

// Event is what a message means to the machine; ok is false for an unknown kind.
func (m Message) Event() (loop.Event, bool) {
	switch m.Kind {
	case MessageNote:
		return loop.Event{Kind: loop.MessageArrived, Text: m.Text}, true
	case MessagePause:
		return loop.Event{Kind: loop.PauseAsked}, true
	case MessageResume:
		return loop.Event{Kind: loop.Resumed}, true
	case MessageStop:
		return loop.Event{Kind: loop.Cancelled, Text: loop.ByStop, Hint: m.Text}, true
	case MessageLeave:
		return loop.Event{Kind: loop.HandoverAsked, Owner: loop.OwnerRunner, Text: m.Text}, true
	case MessageTake:
		return loop.Event{Kind: loop.HandoverAsked, Owner: loop.OwnerSession, Text: m.Text}, true
	case MessageTests:
		return loop.Event{Kind: loop.TestsAsked, Paths: m.Paths, Text: m.Text}, true
	case MessageApprove:
		return loop.Event{Kind: loop.Approved, Paths: m.Paths, Text: m.Text}, true
	case MessageReject:
		return loop.Event{Kind: loop.Rejected, Paths: m.Paths, Text: m.Text}, true
	case MessageLearn:
		return loop.Event{Kind: loop.Learnt, Text: m.Text, ByPerson: m.ByPerson}, true
	case MessageForget:
		return loop.Event{Kind: loop.Forgot, Text: m.Text}, true
	case MessageMerge:
		return loop.Event{Kind: loop.MergeAsked, Text: m.Text}, true
	}
	return loop.Event{}, false
}
