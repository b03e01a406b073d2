package launch

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// EndsAtOnce reports how the loop would end as soon as it begins, since the plan has no
// open task. The machine decides that. Where the gates run first it has no outcome yet.
func (p *Prepared) EndsAtOnce() (ended loop.State, ok bool) {
	if !p.Spec.AllDone() {
		return loop.State{}, false
	}
	s, _ := loop.Step(loop.State{}, loop.Event{Kind: loop.Started, Start: &loop.Start{Policy: p.Spec.Policy, Tasks: p.Spec.Tasks}})
	return s, s.Outcome != "" || s.Phase == loop.Judging
}

// earlierResult is what an earlier loop found of a task.
type earlierResult struct {
	evidence gate.Evidence
	accepted bool      // by a user, in that loop or in a later one
	began    time.Time // that loop
}

// earlierEvidence returns what earlier loops with the same plan found of the tasks that
// they finished. The newest loop that finished a task counts.
func earlierEvidence(st *store.Store, root, planPath string) (map[string]earlierResult, error) {
	found := map[string]earlierResult{}
	if planPath == "" {
		return found, nil
	}
	loops, err := st.Loops()
	if err != nil {
		return nil, fmt.Errorf("read earlier loops: %w", err)
	}
	accepted := map[string]time.Time{} // in loops that found the task done
	for _, l := range loops {
		spec, err := record.ReadSpec(l)
		if err != nil || spec.Root != root || spec.Plan != planPath {
			continue
		}
		m, _, err := record.Load(l)
		if err != nil {
			continue // a damaged loop says nothing
		}
		for _, t := range m.State.Tasks {
			switch {
			case t.Earlier && t.Accepted && spec.CreatedAt.After(accepted[t.ID]):
				accepted[t.ID] = spec.CreatedAt
			case t.Evidence != "" && !t.Earlier && !spec.CreatedAt.Before(found[t.ID].began):
				found[t.ID] = earlierResult{t.Evidence, t.Accepted, spec.CreatedAt}
			}
		}
	}
	for id, at := range accepted {
		if r, ok := found[id]; ok && at.After(r.began) {
			r.accepted = true
			found[id] = r
		}
	}
	return found, nil
}
