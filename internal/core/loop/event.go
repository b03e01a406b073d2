package loop

import (
	"encoding/json"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Event is something that happened. Its payload says what.
type Event struct {
	ID          string      // of a message; the same ID again is the same message
	ActionID    int         // ID of the action that it ends; 0: no action began it, as for most turns of a user's session
	At          time.Time   // when it happened
	QueuedEdits []plan.Edit // first event of an owner: the user's plan edits that waited in the inbox
	Payload     EventPayload
}

// EventPayload holds the data of an event. Its type is the kind of the event.
type EventPayload interface{ kind() EventKind }

// Kind returns what kind of event it is, "" without a payload.
func (e Event) Kind() EventKind { return kindOf(e.Payload) }

// Turn returns the result of the turn that the event ends. It returns false if it ends none or
// nothing is known of it.
func (e Event) Turn() (Turn, bool) {
	switch p := e.Payload.(type) {
	case TurnEnded:
		return p.Turn, true
	case AgentFailed:
		if p.Turn != nil {
			return *p.Turn, true
		}
	}
	return Turn{}, false
}

// eventHeader is the part of an event's JSON that all kinds share.
type eventHeader struct {
	Kind        EventKind   `json:"kind"`
	ID          string      `json:"id,omitempty"`
	ActionID    int         `json:"action_id,omitempty"`
	At          time.Time   `json:"at"`
	QueuedEdits []plan.Edit `json:"queued_edits,omitempty"`
}

// MarshalJSON encodes the event as one object: {"kind":"limit_hit","at":"…","limit":"duration"}.
func (e Event) MarshalJSON() ([]byte, error) {
	return encode(eventHeader{Kind: e.Kind(), ID: e.ID, ActionID: e.ActionID, At: e.At, QueuedEdits: e.QueuedEdits}, e.Payload)
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (e *Event) UnmarshalJSON(data []byte) error {
	var header eventHeader
	if err := json.Unmarshal(data, &header); err != nil {
		return err
	}
	p, err := decode[EventKind, EventPayload](data, header.Kind, eventTypes, Unrecognized{header.Kind})
	*e = Event{ID: header.ID, ActionID: header.ActionID, At: header.At, QueuedEdits: header.QueuedEdits, Payload: p}
	return err
}
