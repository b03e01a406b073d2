package record

import "github.com/pawl-dev/pawl/internal/core/loop"

// Kinds of messages that anyone may leave for a loop.
const (
	MessageNote   = "note"
	MessagePause  = "pause"
	MessageResume = "resume"
	MessageStop   = "stop"
)

// Message is the body of what anyone leaves in a loop's inbox.
type Message struct {
	Kind string `json:"kind"` // one of the Message constants
	Text string `json:"text,omitempty"`
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
		return loop.Event{Kind: loop.Cancelled, Text: loop.ByStop}, true
	}
	return loop.Event{}, false
}
