package loop

import "encoding/json"

// actionTypes lists all types of payloads.
var actionTypes = []variant[ActionPayload]{
	action[Checkpoint](), action[RunGates](), action[BeginTurn](), action[Inspect](), action[Commit](),
	action[Restore](), action[ReapplyWork](), action[Wait](), action[EditPlan](), action[HandOver](),
	action[Finish](), action[Interrupt](), action[Deliver](), action[RestoreFiles](), action[Note](),
}

func action[T ActionPayload]() variant[ActionPayload] { return variantOf[T, ActionPayload]() }

func (Checkpoint) kind() ActionKind   { return "checkpoint" }
func (RunGates) kind() ActionKind     { return "run_gates" }
func (BeginTurn) kind() ActionKind    { return "begin_turn" }
func (Inspect) kind() ActionKind      { return "inspect" }
func (Commit) kind() ActionKind       { return "commit" }
func (Restore) kind() ActionKind      { return "restore" }
func (ReapplyWork) kind() ActionKind  { return "reapply_work" }
func (Wait) kind() ActionKind         { return "wait" }
func (EditPlan) kind() ActionKind     { return "edit_plan" }
func (HandOver) kind() ActionKind     { return "handover" }
func (Finish) kind() ActionKind       { return "finish" }
func (Interrupt) kind() ActionKind    { return "interrupt" }
func (Deliver) kind() ActionKind      { return "deliver" }
func (RestoreFiles) kind() ActionKind { return "restore_files" }
func (Note) kind() ActionKind         { return "note" }

// Kind returns what kind of action it is, "" without a payload.
func (a Action) Kind() ActionKind { return kindOf(a.Payload) }

// EndsInEvent reports whether an event ends the action.
func (a Action) EndsInEvent() bool {
	switch a.Payload.(type) {
	case nil, Interrupt, Deliver, RestoreFiles, Note:
		return false
	}
	return true
}

// FindAction returns the first action of type P.
func FindAction[P ActionPayload](actions []Action) (P, bool) {
	for _, a := range actions {
		if p, ok := a.Payload.(P); ok {
			return p, true
		}
	}
	var none P
	return none, false
}

// actionHeader is the part of an action's JSON that all kinds share.
type actionHeader struct {
	Kind ActionKind `json:"kind"`
	ID   int        `json:"id,omitempty"`
}

// MarshalJSON encodes the action as one object: {"kind":"inspect","id":3,"deep":true}.
func (a Action) MarshalJSON() ([]byte, error) {
	return encode(actionHeader{Kind: a.Kind(), ID: a.ID}, a.Payload)
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (a *Action) UnmarshalJSON(data []byte) error {
	var header actionHeader
	if err := json.Unmarshal(data, &header); err != nil {
		return err
	}
	var err error
	a.ID = header.ID
	a.Payload, err = decode(data, header.Kind, actionTypes, nil)
	return err
}

// Variants returns a value of each type that the JSON of an action may have. A snapshot with other
// types is not read.
func (Action) Variants() []any {
	var all []any
	for _, v := range actionTypes {
		all = append(all, v.zero)
	}
	return all
}
