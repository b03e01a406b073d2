package loop

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Event is something that happened. Its payload says what.
type Event struct {
	ID          string      // of a message; the same ID again is the same message
	ActionID    int         // ID of the action that it ends; 0: nobody was asked, as for most turns of a user's session
	At          time.Time   // when it happened
	QueuedEdits []plan.Edit // first event of an owner: the user's plan edits that waited in the inbox
	Payload     Payload
}

// Payload is what an event brings. Its type is the kind of the event.
type Payload interface{ kind() EventKind }

// Kind returns what kind of event it is, "" without a payload.
func (e Event) Kind() EventKind {
	if e.Payload == nil {
		return ""
	}
	return e.Payload.kind()
}

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

// eventHeader is the part of an event's JSON that all kinds share. The fields of the payload follow
// it in the same object.
type eventHeader struct {
	Kind        EventKind   `json:"kind"`
	ID          string      `json:"id,omitempty"`
	ActionID    int         `json:"action_id,omitempty"`
	At          time.Time   `json:"at"`
	QueuedEdits []plan.Edit `json:"queued_edits,omitempty"`
}

// MarshalJSON encodes the event as one object: {"kind":"limit_hit","at":"…","limit":"duration"}.
func (e Event) MarshalJSON() ([]byte, error) {
	header, err := json.Marshal(eventHeader{Kind: e.Kind(), ID: e.ID, ActionID: e.ActionID, At: e.At, QueuedEdits: e.QueuedEdits})
	if err != nil || e.Payload == nil {
		return header, err
	}
	payload, err := json.Marshal(e.Payload)
	if err != nil || string(payload) == "{}" {
		return header, err
	}
	return append(append(bytes.TrimSuffix(header, []byte("}")), ','), payload[1:]...), nil
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (e *Event) UnmarshalJSON(data []byte) error {
	var header eventHeader
	if err := json.Unmarshal(data, &header); err != nil {
		return err
	}
	*e = Event{ID: header.ID, ActionID: header.ActionID, At: header.At, QueuedEdits: header.QueuedEdits, Payload: Unrecognized{header.Kind}}
	for _, k := range eventKinds() {
		if k.kind == header.Kind {
			var err error
			e.Payload, err = k.decode(data)
			return err
		}
	}
	return nil
}
