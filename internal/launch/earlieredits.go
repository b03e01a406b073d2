package launch

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// EarlierEdits are edits of the plan that its last loop had not made when it ended.
type EarlierEdits struct {
	Loop   string
	Taken  []plan.Edit // tasks that are added: this loop makes them
	Others []plan.Edit // name tasks by ids, which may have changed since
}

// earlierEdits finds the edits of the plan that its last loop had not made when it ended.
func earlierEdits(st *store.Store, root, planPath string) (EarlierEdits, error) {
	if planPath == "" {
		return EarlierEdits{}, nil
	}
	loops, err := st.Loops()
	if err != nil {
		return EarlierEdits{}, fmt.Errorf("read earlier loops: %w", err)
	}
	var last *store.Loop
	var began time.Time
	for _, l := range loops {
		spec, err := record.ReadSpec(l)
		if err == nil && spec.Root == root && spec.Plan == planPath && !spec.CreatedAt.Before(began) {
			last, began = l, spec.CreatedAt
		}
	}
	if last == nil {
		return EarlierEdits{}, nil
	}
	m, _, err := record.Load(last)
	if err != nil || m.State.Phase != loop.Ended {
		return EarlierEdits{}, nil //nolint:nilerr // a damaged loop says nothing
	}
	e := EarlierEdits{Loop: last.ID}
	for _, edit := range m.State.Edits {
		if edit.Do == plan.Add {
			e.Taken = append(e.Taken, edit)
		} else {
			e.Others = append(e.Others, edit)
		}
	}
	return e, nil
}

// post has a loop make the edits that are taken over before its first turn.
func (e EarlierEdits) post(l *store.Loop) error {
	for i, edit := range e.Taken {
		edit.ID = ""
		if err := l.Post(fmt.Sprintf("earlier-%d", i), record.Message{Kind: record.MessagePlan, Edit: &edit}); err != nil {
			return fmt.Errorf("take over edits of loop %s: %w", e.Loop, err)
		}
	}
	return nil
}
