package loop

import (
	"slices"
	"strings"
)

// A task is done as long as its work is there. A user who goes back to a checkpoint
// takes the work of later tasks away, and one who resets the branch takes a commit
// away: these tasks are open again. Otherwise the next commit would delete their work
// unseen, and the loop would still call them done.

// checkpointRestored follows a user who restored a checkpoint, in which these tasks
// were done. The task at work begins anew, from the tree as it is now.
func (m *machine) checkpointRestored(done []string) {
	if m.s.Phase == New {
		m.notify(Anomaly, "a checkpoint was restored before the loop had begun: ignored")
		return
	}
	m.s.UserRestores++
	for i := range m.tasks() {
		t := &m.s.Tasks[i]
		switch in := slices.Contains(done, t.ID); {
		case t.Status == Done && !in:
			t.Status, t.Undone = Open, true
		case t.Undone && in:
			t.Status, t.Undone = Done, false
		}
	}
	// The task that Pawl opened itself is opened again when it is due.
	m.s.Tasks = slices.DeleteFunc(m.s.Tasks, func(t Task) bool { return t.ID == FinalTask && t.Undone })
	m.s.TreeReplaced = true
	if slices.Contains([]Outcome{Verified, Finished, Unverified}, m.s.Outcome) {
		m.s.Outcome, m.s.Reason, m.s.Hint = m.outcome()
	}
}

// WasRestored reports whether there is a restore that a user can undo.
func (s State) HasRestore() bool { return s.Restores+s.UserRestores > 0 }

// takenAway are the tasks whose work a restored checkpoint took away.
func (m *machine) tasksTakenAway() (ids []string) {
	for _, t := range m.s.Tasks {
		if t.Undone && t.Status == Open {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// undoneBy are the tasks whose committed work the next commit undoes: a restore took it away,
// no commit has been made since, and the next one is not theirs.
func (m *machine) undoneBy(claimed []string) (ids []string) {
	for _, t := range m.s.Tasks {
		if t.Undone && t.Status == Open && t.Commit != "" && !slices.Contains(claimed, t.ID) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// restartTask drops what was under way on a tree that is no longer there.
func (m *machine) restartTask() {
	m.s.Claim, m.s.ClaimGates, m.s.Retry, m.s.UnknownResults = nil, nil, false, 0
	m.next()
}

// commitsLost opens tasks again whose commits are no longer in the branch, and tells
// whether there were any.
func (m *machine) commitsLost(ids []string) bool {
	var lost []string
	for _, id := range ids {
		m.updateTask(id, func(t *Task) {
			if t.Status == Done && t.Commit != "" {
				t.Status, t.Commit, t.Why = Open, "", "its commit is not in the branch any more"
				lost = append(lost, id)
			}
		})
	}
	if len(lost) > 0 {
		m.notify(Warning, "open again, since their commits are not in the branch any more: "+strings.Join(lost, ", "))
	}
	return len(lost) > 0
}
