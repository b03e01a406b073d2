package watch

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/record"
)

// callsView returns the rows of the agent's tool calls, the newest unless the user scrolled. Below a
// failed call it adds the last line of its output.
func (m Model) callsView(room, columns int) []string {
	if room <= 0 {
		return nil
	}
	calls := m.shownCalls()
	if len(calls) == 0 {
		none := "no tool call to show: Pawl sees those of Claude Code"
		if m.onlyTrouble {
			none = "no tool call failed (o: show all)"
		}
		return []string{paint(dim, fit(none, columns))}
	}
	end := max(0, len(calls)-m.scroll)
	var rows []string
	for _, c := range calls[max(0, end-room):end] {
		rows = append(rows, callRows(c, columns)...)
	}
	return rows[max(0, len(rows)-room):]
}

// shownCalls returns the tool calls, or only the failed ones.
func (m Model) shownCalls() []record.Call {
	if !m.onlyTrouble {
		return m.calls
	}
	return slices.DeleteFunc(slices.Clone(m.calls), func(c record.Call) bool { return c.Status != record.CallFailed })
}

// callRows returns the row of a call, and the last line of output of a failed one.
func callRows(c record.Call, columns int) []string {
	mark, style, took := "✓", "0", figure.Brief(c.Took)
	switch c.Status {
	case record.CallRunning:
		mark, style, took = "▶", bold, ""
	case record.CallFailed:
		mark, style = "✗", red
	case record.CallInterrupted:
		mark, style, took = "○", dim, "interrupted"
	}
	text := c.At.Format("15:04:05") + "  " + mark + " " + clean(c.Tool+"  "+c.Detail)
	rows := []string{paint(style, fit(text, max(0, columns-len(took)-1))) + " " + paint(dim, took)}
	if c.Status == record.CallFailed {
		output := strings.TrimSpace(c.Output)
		if last := clean(output[strings.LastIndexByte(output, '\n')+1:]); last != "" {
			rows = append(rows, paint(dim, ansi.Truncate(strings.Repeat(" ", stampColumns)+"  "+last, columns, "…")))
		}
	}
	return rows
}
