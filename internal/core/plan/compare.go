package plan

import "slices"

// TickedSince returns the ids of the tasks that are done in p and not in an earlier version of it.
func (p Plan) TickedSince(was Plan) (ids []string) {
	had := was.Index()
	for _, t := range p.Tasks {
		if i, ok := had[t.ID]; t.Done && !(ok && was.Tasks[i].Done) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// OnlyAddsTasks reports whether p only has more tasks than an earlier version of it, and these
// have no settings.
func (p Plan) OnlyAddsTasks(was Plan) bool {
	if len(p.Tasks) <= len(was.Tasks) || was.Format != p.Format || was.Title != p.Title || was.Overview != p.Overview || !slices.Equal(was.Gates, p.Gates) {
		return false
	}
	had, has := was.Index(), p.Index()
	for _, old := range was.Tasks {
		if i, ok := has[old.ID]; !ok || !old.SameButMark(p.Tasks[i]) {
			return false
		}
	}
	return !slices.ContainsFunc(p.Tasks, func(t Task) bool {
		_, known := had[t.ID]
		return !known && t.HasSettings()
	})
}

// IsRenumbered reports whether a task has another id than in an earlier version of p: in a plan
// without ids, inserting a task changes the numbers of those after it.
func (p Plan) IsRenumbered(was Plan) bool {
	has := p.Index()
	return slices.ContainsFunc(was.Tasks, func(old Task) bool {
		i, ok := has[old.ID]
		return (!ok || p.Tasks[i].Title != old.Title) && slices.ContainsFunc(p.Tasks, func(n Task) bool { return n.ID != old.ID && n.Title == old.Title })
	})
}

// HasSettings reports whether a task says more than what it asks for: what the agent may do for
// it, or what proves it.
func (t Task) HasSettings() bool {
	return t.Evidence != "" || len(t.Scope) > 0 || t.AllowTestChanges
}
