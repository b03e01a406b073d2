package watch

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/report"
)

// diffPane shows the diff of a task in place of the loop's history.
type diffPane struct {
	task      string
	text      []report.DiffLine
	loaded    bool // text was read
	firstLine int  // index of the first line shown
}

// handleDiffKey handles a key that opens, closes or moves the diff. It returns false for other keys.
func (m Model) handleDiffKey(key string) (Model, tea.Cmd, bool) {
	page := max(1, m.height/2)
	switch {
	case key == "d" && m.diff == nil:
		m.diff = &diffPane{task: m.shownTask().ID}
		return m, m.readDiff, m.diff.task != ""
	case m.diff == nil:
		return m, nil, false
	}
	d := *m.diff
	switch key {
	case "d", "esc", "left", "h":
		m.diff = nil
		return m, nil, true
	case "pgdown", "space":
		d.firstLine = min(d.firstLine+page, max(0, len(d.text)-1))
	case "pgup":
		d.firstLine = max(0, d.firstLine-page)
	case "home", "g":
		d.firstLine = 0
	case "end", "G":
		d.firstLine = max(0, len(d.text)-page)
	case "down", "j":
		m.task = min(m.selectedIndex()+1, max(0, len(m.detail.State.Tasks)-1))
	case "up", "k":
		m.task = max(0, m.selectedIndex()-1)
	default:
		return m, nil, false
	}
	m.diff = &d
	if id := m.shownTask().ID; id != d.task {
		m.diff = &diffPane{task: id}
		return m, m.readDiff, true
	}
	return m, nil, true
}

// readDiff reads the diff of the selected task.
func (m Model) readDiff() tea.Msg {
	ctx, cancel := context.WithTimeout(m.ctx, commandTimeout)
	defer cancel()
	text, err := m.source.Diff(ctx, m.loopID, m.diff.task)
	if err != nil {
		return readFailed{err}
	}
	return diffRead{m.diff.task, text}
}

// diffView returns the rows of the diff that fit.
func (m Model) diffView(room, columns int) []string {
	d := m.diff
	if room <= 0 {
		return nil
	}
	switch {
	case !d.loaded:
		return []string{paint(dim, "reading the diff …")}
	case len(d.text) == 0:
		return []string{paint(dim, "this task has changed no files")}
	}
	last := min(len(d.text), d.firstLine+room-1)
	rows := []string{paint(dim, fit(fmt.Sprintf("diff of task %s, lines %d to %d of %d", d.task, d.firstLine+1, last, len(d.text)), columns))}
	for _, l := range d.text[d.firstLine:last] {
		rows = append(rows, paint(diffStyle(l.Kind), ansi.Truncate(clean(strings.ReplaceAll(l.Text, "\t", "    ")), columns, "…")))
	}
	return rows
}

func diffStyle(kind string) string {
	switch kind {
	case "add":
		return green
	case "del":
		return red
	case "at":
		return dim
	case "file":
		return bold
	}
	return "0"
}
