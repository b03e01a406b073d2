package loop

import (
	"slices"
	"strings"
)

// A task is done only while its work exists. A user who restores a checkpoint or resets the branch
// removes the work of later tasks, so these are reopened. Otherwise the next commit would delete
// their work unnoticed.

// checkpointRestored updates the tasks after a user restored a checkpoint, in which the tasks of
// DoneTasks were done. The current task starts again from the current tree.
func (m *machine) checkpointRestored(p CheckpointRestored) {
	if m.s.Phase == New {
		m.note(Anomaly, "a checkpoint was restored before the loop started: ignored")
		return
	}
	m.s.UserRestores++
	for i := range m.tasks() {
		t := &m.s.Tasks[i]
		switch in := slices.Contains(p.DoneTasks, t.ID); {
		case t.Status == Done && !in:
			t.Status, t.Undone = Open, true
		case t.Undone && in:
			t.Status, t.Undone = Done, false
		}
	}
	// The task that Pawl opened itself is opened again when it is due.
	m.s.Tasks = slices.DeleteFunc(m.s.Tasks, func(t Task) bool { return t.ID == FinalTask && t.Undone })
	m.s.TreeReplaced, m.s.Restored = true, p.Restored()
	for _, work := range m.s.Restored { // it is in the tree now
		if _, asks := m.s.question(work.Task); !asks {
			m.updateTask(work.Task, func(t *Task) { t.SavedWork = nil })
		}
	}
	if slices.Contains([]Outcome{Verified, Finished, Unverified}, m.s.Outcome) {
		m.s.Outcome, m.s.Reason, m.s.Hint = m.outcome()
	}
}

// HasRestore reports whether there is a restore that a user can undo.
func (s State) HasRestore() bool { return s.Restores+s.UserRestores > 0 }

// tasksTakenAway returns the tasks whose work a restored checkpoint removed.
func (m *machine) tasksTakenAway() []string {
	return m.s.Tasks.IDs(func(t Task) bool { return t.Undone && t.Status == Open })
}

// undoneBy returns the tasks whose commits the next commit undoes: a restore removed their work,
// and the commit belongs to other tasks.
func (m *machine) undoneBy(claimed []string) []string {
	return m.s.Tasks.IDs(func(t Task) bool {
		return t.Undone && t.Status == Open && t.Commit != "" && !slices.Contains(claimed, t.ID)
	})
}

// restartTask drops what was in progress after the tree was replaced.
func (m *machine) restartTask() {
	m.s.Claim, m.s.Next.Retry, m.s.Trouble.UnknownResults = nil, false, 0
	m.next()
}

// commitsLost reopens tasks whose commits are no longer in the branch. It reports whether there
// were any.
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
		m.note(Warning, "open again, since their commits are not in the branch any more: "+strings.Join(lost, ", "))
	}
	return len(lost) > 0
}
