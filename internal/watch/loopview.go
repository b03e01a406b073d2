package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
)

// wideColumns is the width from which plan and task are shown side by side.
const wideColumns = 100

// loopView shows one loop: its plan, the selected task, and its history.
func (m Model) loopView() []string {
	d := m.detail
	rows := []string{m.headerRow(m.loopID + "  " + clean(cmp.Or(d.Headline, d.Summary.State)))}
	for _, l := range joinRows(gauges(d, m.width >= wideColumns), m.width) {
		rows = append(rows, paint(dim, l))
	}
	if q := d.Summary.Question; q != nil {
		for _, l := range append([]string{q.Headline()}, q.Lines()...) {
			rows = append(rows, paint(yellow, clean(l)))
		}
	}
	for _, l := range narrate.Messages(loop.Conversation{Messages: d.State.Messages}) {
		rows = append(rows, paint(dim, fit(clean("told: "+l), m.width)))
	}
	room := max(2, m.height-1-len(rows))
	if m.width < wideColumns {
		top := append(m.plan(max(3, room/3), m.width), m.taskFacts(m.width)...)
		top = top[:min(len(top), room/2)]
		return append(append(rows, top...), m.pane(room-len(top), m.width)...)
	}
	left := min(m.width*2/5, 60)
	right := m.width - left - 3
	facts := m.taskFacts(right)
	facts = facts[:min(len(facts), room/2)]
	side := slices.Concat(facts, m.pane(room-len(facts), right))
	plan := lipgloss.NewStyle().Width(left + 2).Height(room).BorderStyle(lipgloss.NormalBorder()).BorderRight(true)
	both := lipgloss.JoinHorizontal(lipgloss.Top, plan.Render(strings.Join(m.plan(room, left), "\n")), " "+strings.Join(side, "\n "))
	return append(rows, strings.Split(both, "\n")...)
}

// gauges returns how much a loop has used of its limits and of the agent's context.
func gauges(d Detail, bars bool) []string {
	st := d.State
	limits := st.Policy.Limits
	of := func(used, limit string, share float64) string {
		if share < 0 {
			return used
		}
		if bars {
			used = bar(share) + " " + used
		}
		return used + " of " + limit
	}
	share := func(used, limit float64) float64 {
		if limit <= 0 {
			return -1
		}
		return used / limit
	}
	parts := []string{
		of(fmt.Sprintf("iteration %d", st.Iteration), fmt.Sprint(limits.Iterations), share(float64(st.Iteration), float64(limits.Iterations))),
		of(figure.Duration(st.Elapsed()), figure.Chosen(limits.Duration), share(st.Elapsed().Seconds(), limits.Duration.Seconds())),
		of("cost "+narrate.Cost(d.Summary), figure.Money(limits.CostUSD), share(st.Usage.CostUSD, limits.CostUSD)),
	}
	if used := st.Usage.Tokens(); used > 0 || !st.CostUnknown() { // the agent reports them
		parts = append(parts, of(figure.Tokens(used)+" tokens", figure.Tokens(limits.Tokens), share(float64(used), float64(limits.Tokens))))
	}
	if st.ContextPercent > 0 {
		parts = append(parts, of(fmt.Sprintf("context %d %%", st.ContextPercent), "the window", float64(st.ContextPercent)/100))
	}
	if left := narrate.TimeLeft(st); left != "" {
		parts = append(parts, "left: "+left)
	}
	return parts
}

// joinRows joins parts to rows of at most so many columns.
func joinRows(parts []string, columns int) (rows []string) {
	for _, p := range parts {
		last := len(rows) - 1
		if last >= 0 && ansi.StringWidth(rows[last]+" · "+p) <= columns {
			rows[last] += " · " + p
			continue
		}
		rows = append(rows, p)
	}
	return rows
}

// bar draws a share between 0 and 1.
func bar(share float64) string {
	const cells = 5
	full := min(cells, int(share*cells+0.5))
	return strings.Repeat("▰", full) + strings.Repeat("▱", cells-full)
}

// plan returns the rows of the tasks. If there is no room for all, they are those around the
// selected one.
func (m Model) plan(room, columns int) []string {
	tasks := m.detail.State.Tasks
	at := m.selectedIndex()
	from := min(max(0, at-room/2), max(0, len(tasks)-room))
	var rows []string
	for i := from; i < min(len(tasks), from+room); i++ {
		t := tasks[i]
		mark, style := taskMark(t, narrate.TaskActivity(m.detail.State, t, m.detail.Summary.Outcome == ""))
		text := fit(mark+" "+clean(strings.TrimSpace(taskName(t))), columns-2)
		if i == at {
			rows = append(rows, paint(reverse, "> "+text))
			continue
		}
		rows = append(rows, "  "+paint(style, text))
	}
	return rows
}

func taskName(t loop.Task) string {
	if t.ID == "goal" || t.Title == "" {
		return cmp.Or(t.Title, "the goal")
	}
	return t.ID + "  " + t.Title
}

// taskMark returns the symbol of a task's state, and its style.
func taskMark(t loop.Task, now string) (mark, style string) {
	switch {
	case now == narrate.AtWork:
		return "▶", bold
	case now != "" || t.Unproven():
		return "?", yellow
	case t.Status == loop.Done:
		return "✓", green
	case t.Status == loop.Open:
		return "○", dim
	}
	return "✗", red
}

// taskFacts returns the details of the selected task.
func (m Model) taskFacts(columns int) []string {
	t := m.shownTask()
	if t.ID == "" {
		return nil
	}
	rows := []string{paint(bold, fit(clean(taskName(t)), columns)), narrate.Task(t)}
	if now := narrate.TaskActivity(m.detail.State, t, m.detail.Summary.Outcome == ""); now != "" && now != narrate.AtWork {
		rows = append(rows, paint(yellow, now))
	}
	wrap := func(s string) { rows = append(rows, strings.Split(ansi.Wrap(clean(s), max(10, columns), ""), "\n")...) }
	if len(t.Flipped) > 0 {
		wrap("failed before, passes now: " + strings.Join(t.Flipped[:min(len(t.Flipped), 5)], ", "))
	}
	if t.Why != "" {
		wrap(t.Why)
	}
	if len(t.TestsChanged) > 0 {
		wrap("changed tests: " + strings.Join(t.TestsChanged, ", "))
	}
	return append(rows, "")
}

// pane returns the lines below the selected task: the loop's history, the task's diff, or
// the agent's tool calls.
func (m Model) pane(room, columns int) []string {
	switch {
	case m.diff != nil:
		return m.diffView(room, columns)
	case m.showsCalls:
		return m.callsView(room, columns)
	}
	return m.history(room, columns)
}

// historyLines returns the lines of the history about the task that the user selected, or else all.
func (m Model) historyLines() []Line {
	task := ""
	if m.task != currentTask && len(m.detail.State.Tasks) > 1 {
		task = m.shownTask().ID
	}
	if task == "" && !m.onlyTrouble {
		return m.detail.Lines
	}
	return slices.DeleteFunc(slices.Clone(m.detail.Lines), func(l Line) bool { return m.onlyTrouble && !l.Trouble || task != "" && !slices.Contains(l.Tasks, task) })
}

// stampColumns is the width of the time of day before each line of a history.
const stampColumns = 10

// history returns the rows of the loop's history, the newest unless the user scrolled.
func (m Model) history(room, columns int) []string {
	lines := m.historyLines()
	if len(lines) == 0 {
		none := "no events for this task (end: the whole loop)"
		if m.onlyTrouble {
			none = "no problems (o: show all)"
		}
		return []string{paint(dim, fit(none, columns))}[:min(1, max(0, room))]
	}
	end := max(0, len(lines)-m.scroll)
	var rows []string
	for _, l := range lines[max(0, end-room):end] {
		stamp, text := "", strings.TrimRight(clean(l.Text), " ")
		if len(text) > stampColumns {
			stamp, text = text[:stampColumns], text[stampColumns:]
		}
		for w := range strings.SplitSeq(ansi.Wrap(text, max(10, columns-stampColumns), ""), "\n") {
			rows = append(rows, stamp+w)
			stamp = strings.Repeat(" ", stampColumns)
		}
	}
	if room <= 0 {
		return nil
	}
	return rows[max(0, len(rows)-room):]
}
