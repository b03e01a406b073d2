package memory

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Types of the records in a loop's journal, besides the store's own. Each record of
// TypeEvent is a loop.Event; folding them gives the state of the state machine.
const (
	TypeEvent          = "event"
	TypeSession        = "session"         // data: Session
	TypeBase           = "base"            // data: Base
	TypeBound          = "bound"           // data: Bound
	TypeNote           = "note"            // data: Note
	TypeReceipt        = "receipt"         // data: verify.Receipt, before the event that it belongs to
	TypeCommittedTrees = "committed_trees" // data: CommittedTrees, before the event Committed
	TypeNewFiles       = "new_files"       // data: NewFiles, added to the earlier ones
	TypeAttribution    = "attribution"     // data: Attribution, after the event TreeInspected
	TypeToolClaim      = "tool_claim"      // data: ToolClaim, before the event TurnEnded
	TypePullRequest    = "pull_request"    // data: PullRequest, after the loop's end
	TypeSandbox        = "sandbox"         // data: Sandbox, if it differs from the last one
)

// Types lists all types of records.
func Types() []string {
	return []string{
		TypeEvent, TypeSession, TypeBase, TypeBound, TypeNote, TypeReceipt, TypeCommittedTrees, TypeNewFiles, TypeAttribution,
		TypeToolClaim, TypePullRequest, TypeSandbox,
	}
}

// ErrUnknownType means that a record's type is not in Types: the record is damaged, or a
// newer Pawl wrote it.
var ErrUnknownType = errors.New("unknown type of record")

// Fold returns the memory after a record of the journal, given as its type and its data.
func (m Memory) Fold(kind string, data []byte) (Memory, error) {
	var err error
	switch kind {
	case TypeEvent:
		var e loop.Event
		if e, err = decode[loop.Event](data); err == nil {
			m.Apply(e)
			m.Notices = nil // the writer of the event has sent them
		}
	case TypeSession:
		m.Session, err = decode[Session](data)
	case TypeBase:
		m.Base, err = decode[Base](data)
	case TypeBound:
		m.Bound, err = decode[BoundSession](data)
	case TypeAttribution:
		m.Attribution, err = decode[Attribution](data)
	case TypeSandbox:
		m.Sandbox, err = decode[Sandbox](data)
	case TypePullRequest:
		m.PullRequest, err = decode[PullRequest](data)
	case TypeToolClaim:
		var c ToolClaim
		c, err = decode[ToolClaim](data)
		m.ToolClaim = m.ToolClaim.Merge(c)
	case TypeNewFiles:
		var n NewFiles
		n, err = decode[NewFiles](data)
		m.NewFiles = m.Merge(n)
	case TypeNote:
		var n Note
		n, err = decode[Note](data)
		m.ApplyNote(n)
	case TypeReceipt, TypeCommittedTrees: // for reports; the state depends on events only
	default:
		err = fmt.Errorf("%w %q", ErrUnknownType, kind)
	}
	return m, err
}

// decode reads a record's data. A missing field is empty.
func decode[T any](data []byte) (v T, err error) {
	if err = json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("decode: %w", err)
	}
	return v, nil
}
