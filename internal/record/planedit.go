package record

import (
	"encoding/json"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/store"
)

// FrozenPlanPath returns the judge's copy of the plan: the plan as the user wrote it,
// with the marks that Pawl set.
func FrozenPlanPath(l *store.Loop) string { return filepath.Join(l.Dir, "plan.frozen") }

// WaitingEdits returns the edits of the plan in the inbox, oldest first.
func WaitingEdits(l *store.Loop) ([]plan.Edit, error) {
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
