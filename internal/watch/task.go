package watch

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// The purposes of an input for limits: of a loop that a limit ended, and of a running one.
const (
	raisePurpose = "resume with"
	limitPurpose = "limit"
)

// handleTaskKey handles keys for the selected task and for the loop's limits. Skipping undoes the
// agent's unfinished work on the task, so the user must confirm it.
func (m Model) handleTaskKey(key string) (tea.Model, tea.Cmd) {
	shown := m.shownTask()
	task := shown.ID
	switch {
	case key == "m" && m.detail.RaiseOption != "":
		m.startInput(raisePurpose, m.detail.RaiseOption)
	case key == "m" && m.detail.Summary.State == "ended":
		m.result = "no limit ended this loop"
	case key == "m":
		m.startInput(limitPurpose, m.detail.LimitOptions)
	case key == "S" && task != "":
		m.confirm("plan", "skip", m.loopID, "--", task)
	case key == "b" && task != "" && !shown.Restorable():
		m.result = "no work of task " + clean(task) + " was undone"
	case key == "b" && task != "":
		m.confirm("restore", m.loopID, "--task", task, "--yes")
	case key == "R" && task != "":
		return m, m.command("plan", "retry", m.loopID, "--", task)
	}
	return m, nil
}

// taskKeysHelp returns the help for the keys of handleTaskKey that work now.
func (m Model) taskKeysHelp() string {
	t, ended := m.shownTask(), m.detail.Summary.State == "ended"
	switch {
	case ended && t.Restorable():
		return "b restore work · "
	case m.detail.RaiseOption != "":
		return "m raise its limit · "
	case ended || t.ID == "" || t.ID == "goal" || t.Status == loop.Done:
		return ""
	case t.Status == loop.Open:
		return "S skip task · "
	}
	return "R retry task · "
}
