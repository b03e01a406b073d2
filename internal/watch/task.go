package watch

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// The purposes of an input with limits: of a loop that one ended, and of one that runs.
const (
	raise = "resume with"
	limit = "limit"
)

// onTask does what keys mean to the selected task, and to the limit that ended the loop.
// Skipping undoes what the agent has begun of the task, so it needs a yes.
func (m Model) onTask(key string) (tea.Model, tea.Cmd) {
	shown := m.shownTask()
	task := shown.ID
	switch {
	case key == "m" && m.detail.More != "":
		m.typeIn(raise, m.detail.More)
	case key == "m" && m.detail.Summary.State == "ended":
		m.notice = "no limit ended this loop"
	case key == "m":
		m.typeIn(limit, m.detail.Limits)
	case key == "S" && task != "":
		m.ask("plan", "skip", m.open, "--", task)
	case key == "b" && task != "" && !shown.Restorable():
		m.notice = "no work of task " + clean(task) + " was undone"
	case key == "b" && task != "":
		m.ask("restore", m.open, "--task", task, "--yes")
	case key == "R" && task != "":
		return m, m.command("plan", "retry", m.open, "--", task)
	}
	return m, nil
}

// taskKeys are the keys of onTask that do something now.
func (m Model) taskKeys() string {
	t, ended := m.shownTask(), m.detail.Summary.State == "ended"
	switch {
	case ended && t.Restorable():
		return "b restore work · "
	case m.detail.More != "":
		return "m raise its limit · "
	case ended || t.ID == "" || t.ID == "goal" || t.Status == loop.Done:
		return ""
	case t.Status == loop.Open:
		return "S skip task · "
	}
	return "R retry task · "
}
