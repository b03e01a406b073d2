package launch

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// earlierLoop is a loop that worked on the same plan.
type earlierLoop struct {
	id      string
	created time.Time
	memory  memory.Memory
	damaged bool // its memory says nothing
}

// earlierLoops returns the loops that worked on a plan, the oldest first.
func earlierLoops(st *store.Store, root, planPath string) ([]earlierLoop, error) {
	if planPath == "" {
		return nil, nil
	}
	loops, err := st.Loops()
	if err != nil {
		return nil, fmt.Errorf("read earlier loops: %w", err)
	}
	var found []earlierLoop
	for _, l := range loops {
		spec, err := record.ReadSpec(l)
		if err != nil || spec.Root != root || spec.Plan != planPath {
			continue
		}
		m, _, err := record.Load(l)
		found = append(found, earlierLoop{l.ID, spec.CreatedAt, m, err != nil})
	}
	slices.SortStableFunc(found, func(x, y earlierLoop) int { return x.created.Compare(y.created) })
	return found, nil
}

// EarlierEdits are edits of the plan that its last loop had not applied when it ended.
type EarlierEdits struct {
	Loop      string
	Additions []plan.Edit // added tasks: this loop applies them
	Others    []plan.Edit // edits that name tasks by id, which may have changed since
}

// pendingEdits finds the edits of the plan that the last of its loops had not made when it
// ended.
func pendingEdits(loops []earlierLoop) EarlierEdits {
	if len(loops) == 0 {
		return EarlierEdits{}
	}
	last := loops[len(loops)-1]
	if last.damaged || last.memory.State.Phase != loop.Ended {
		return EarlierEdits{}
	}
	e := EarlierEdits{Loop: last.id}
	for _, edit := range last.memory.State.Edits {
		if edit.Do == plan.Add {
			e.Additions = append(e.Additions, edit)
		} else {
			e.Others = append(e.Others, edit)
		}
	}
	return e
}

// post sends the additions to a loop, which applies them before its first turn.
func (e EarlierEdits) post(l *store.Loop) error {
	for i, edit := range e.Additions {
		edit.ID = ""
		if err := l.Post(fmt.Sprintf("earlier-%d", i), record.Message{Kind: record.MessagePlan, Edit: &edit}); err != nil {
			return fmt.Errorf("take over edits of loop %s: %w", e.Loop, err)
		}
	}
	return nil
}

// earlierResult is the evidence that an earlier loop found for a task.
type earlierResult struct {
	evidence gate.Evidence
	accepted bool // by a user, in that loop or in a later one
}

// earlierResults returns what earlier loops found of the tasks that they finished. The newest
// loop that finished a task counts.
func earlierResults(loops []earlierLoop) map[string]earlierResult {
	found := map[string]earlierResult{}
	for _, l := range loops {
		if l.damaged {
			continue
		}
		for _, t := range l.memory.State.Tasks {
			switch r, known := found[t.ID]; {
			case !t.DoneEarlier && t.Evidence != "":
				found[t.ID] = earlierResult{t.Evidence, t.Accepted}
			case t.DoneEarlier && t.Accepted && known:
				found[t.ID] = earlierResult{r.evidence, true}
			}
		}
	}
	return found
}
