package watch

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
)

// Styles, as the parameters of an SGR sequence. Bubble Tea leaves them out where the
// terminal has no colours, or NO_COLOR is set; no meaning is in colour alone.
const (
	bold    = "1"
	dim     = "2"
	reverse = "7"
	red     = "31"
	green   = "32"
	yellow  = "33"
)

func paint(style, s string) string {
	if s == "" {
		return ""
	}
	return "\x1b[" + style + "m" + s + "\x1b[m"
}

// fit cuts or pads s to exactly so many columns.
func fit(s string, columns int) string {
	s = ansi.Truncate(s, max(0, columns), "…")
	return s + strings.Repeat(" ", max(0, columns-ansi.StringWidth(s)))
}

// clean makes hostile text safe for one line of the screen.
func clean(s string) string { return withoutControls(ansi.Strip(s)) }

func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
			return -1
		}
		return r
	}, s)
}

// View draws the screen.
func (m Model) View() tea.View {
	var rows []string
	switch {
	case m.mode == reading:
		rows = strings.Split(m.text.View(), "\n")
	case m.loopID != "":
		rows = m.loopView()
	default:
		rows = m.overview()
	}
	body := max(0, m.height-1)
	for len(rows) < body {
		rows = append(rows, "")
	}
	rows = append(rows[:body:body], m.bottomRow())
	for i, r := range rows {
		rows[i] = ansi.Truncate(r, m.width, "…")
	}
	content := strings.Join(rows, "\n")
	if m.ascii {
		content = asciiOnly(content)
	}
	v := tea.NewView(content)
	if m.mode == typing {
		_, column := m.input.view()
		v.Cursor = tea.NewCursor(column, body)
	}
	v.AltScreen, v.WindowTitle = true, m.title()
	return v
}

// asciiOnly replaces the symbols of the screen by ASCII characters.
func asciiOnly(s string) string {
	return strings.NewReplacer("▶", ">", "✓", "x", "○", "o", "✗", "!", "│", "|", "…", "~", "·", "-", "▰", "#", "▱", ".",
		"↑", "^", "↓", "v", "→", ">", "←", "<", "“", `"`, "”", `"`).Replace(s)
}

func (m Model) title() string {
	if m.loopID != "" {
		return "pawl: " + m.loopID
	}
	n := 0
	for _, s := range m.loops {
		if s.Group(m.now) == record.GroupNeedsYou {
			n++
		}
	}
	if n == 0 {
		return "pawl"
	}
	return fmt.Sprintf("pawl: %d need you", n)
}

// bottomRow returns the last row: the input line, a question, an error or a result, else the keys.
func (m Model) bottomRow() string {
	switch {
	case m.mode == typing:
		row, _ := m.input.view()
		return row
	case m.mode == confirming:
		return paint(bold, commandLine(m.pendingCommand)+"? ") + "y yes · any other key: no"
	case m.err != nil:
		return paint(red, "! "+clean(m.err.Error()))
	case m.result != "":
		return m.result
	case m.mode == reading:
		return paint(dim, "↑↓ scroll · esc back")
	case m.loopID != "" && m.diff != nil:
		return paint(dim, "↑↓ task · pgup/pgdn scroll · d, esc back · ? keys · "+m.taskKeysHelp()+"t tell · r report")
	case m.loopID != "" && m.detail.Summary.State == "ended":
		undo := ""
		if m.detail.Summary.CanUndoRestore {
			undo = "u undo · "
		}
		return paint(dim, "↑↓ task · d diff · c calls · ? keys · "+m.taskKeysHelp()+"r report · a approve · x reject · "+undo+"esc back")
	case m.loopID != "":
		return paint(dim, "↑↓ task · d diff · c calls · ? keys · "+m.taskKeysHelp()+"t tell · p pause · s stop · r report · a answer · esc back")
	}
	return paint(dim, "enter open · ? keys · q quit · n start · t tell · p pause · s stop · r report · / search")
}

// overview returns the rows of the loops, by group. If there is no room for all, they are those
// around the cursor.
func (m Model) overview() []string {
	head := "pawl watch   " + groupCounts(m.loops, m.now)
	if m.filter != "" {
		head += "   only “" + m.filter + "” (esc: all)"
	}
	if m.onlyTrouble {
		head += "   only what needs you (esc: all)"
	}
	rows := []string{m.headerRow(head), ""}
	if len(m.loops) == 0 {
		switch {
		case !m.hasLoops:
			return append(rows, "  reading the loops …")
		case m.onlyTrouble:
			return append(rows, "  nothing needs you")
		case m.filter == "":
			return append(rows, "  no loop yet: pawl run starts one")
		}
		return append(rows, "  nothing matches")
	}
	l := m.newLayout()
	rows[1] = paint(dim, "  "+l.columns(cells{"loop", "state", "tasks", "cost", "age", "where"})+"goal")
	var list []func() string // what is not on the screen is not drawn
	at, last := 0, record.Group(-1)
	for i, s := range m.loops {
		if g := s.Group(m.now); g != last {
			if last = g; i > 0 {
				list = append(list, func() string { return "" })
			}
			list = append(list, func() string { return paint(bold, g.String()) })
		}
		if i == m.cursor {
			at = len(list)
		}
		list = append(list, func() string { return m.row(s, l, i == m.cursor) })
	}
	room := max(1, m.height-1-len(rows))
	from := min(max(0, at-room/2), max(0, len(list)-room))
	if at < room-1 {
		from = 0
	}
	for _, draw := range list[from:min(len(list), from+room)] {
		rows = append(rows, draw())
	}
	return rows
}

// groupCounts returns the number of loops in each group, in words.
func groupCounts(loops []record.Summary, now time.Time) string {
	counts := map[record.Group]int{}
	for _, s := range loops {
		counts[s.Group(now)]++
	}
	return fmt.Sprintf("%d need you · %d working · %d ended", counts[record.GroupNeedsYou], counts[record.GroupWorking], counts[record.GroupEnded])
}

// headerRow returns the first row, which ends with the time of day.
func (m Model) headerRow(text string) string {
	clock := m.now.Format("15:04:05")
	return paint(bold, fit(text, m.width-len(clock)-1)) + " " + clock
}

// layout holds the widths of the columns of the overview.
type layout struct {
	id, where    int               // widths; where is 0 if all loops have one repository
	cost         bool              // there is room for the cost
	repositories map[string]string // names by root
}

// minIDWidth is the width that most ids need.
const minIDWidth = 18

// newLayout returns the layout for all loops. Ids are only cut on a narrow screen.
func (m Model) newLayout() layout {
	l := layout{id: minIDWidth, cost: m.width >= 80, repositories: repositoryNames(m.loops)}
	for _, s := range m.loops {
		l.id = max(l.id, ansi.StringWidth(s.ID))
	}
	for _, place := range l.repositories {
		l.where = min(max(l.where, ansi.StringWidth(place), len("where")), m.width/5)
	}
	l.id = min(l.id, max(minIDWidth, m.width/3))
	return l
}

// cells are the texts of a row.
type cells struct{ id, state, tasks, cost, age, where string }

// columns returns the first cells of a row of the overview, or of its heading.
func (l layout) columns(c cells) string {
	text := fit(c.id, l.id) + " " + fit(c.state, 11) + fit(c.tasks, 6)
	if l.cost {
		text += fit(c.cost, 8)
	}
	text += fit(c.age, 5)
	if l.where > 0 {
		text += fit(c.where, l.where) + " "
	}
	return text
}

// repositoryNames returns the names of the loops' repositories by root, nil if there is only one. A
// name is the folder's, or the whole path if two folders have the same name.
func repositoryNames(loops []record.Summary) map[string]string {
	roots := map[string]string{}
	named := map[string]int{}
	for _, s := range loops {
		if _, known := roots[s.Root]; !known && s.Root != "" {
			roots[s.Root] = filepath.Base(s.Root)
			named[roots[s.Root]]++
		}
	}
	if len(roots) < 2 {
		return nil
	}
	for root, base := range roots {
		if named[base] > 1 {
			base = root
		}
		roots[root] = clean(base)
	}
	return roots
}

// row returns the row of a loop in the overview.
func (m Model) row(s record.Summary, l layout, selected bool) string {
	text := l.columns(cells{s.ID, stateOrOutcome(s), cmp.Or(s.TaskProgress(), "-"), narrate.Cost(s), loopAge(s, m.now), l.repositories[s.Root]})
	goal, room := goalText(s), m.width-2-ansi.StringWidth(text)
	if need := clean(narrate.NeedsUser(s, m.now)); need != "" {
		goal = ansi.Truncate(goal, max(8, room/3), "…") + ": " + need
	}
	text += goal
	if selected {
		return paint(reverse, fit("> "+text, m.width))
	}
	return "  " + paint(m.rowStyle(s), text)
}

// stateOrOutcome returns a loop's state or, after its end, its outcome.
func stateOrOutcome(s record.Summary) string { return cmp.Or(string(s.Outcome), s.State) }

// loopAge returns how long ago a loop ended or, if it has not, started.
func loopAge(s record.Summary, now time.Time) string {
	return formatAge(now.Sub(cmp.Or(s.EndedAt, s.StartedAt, s.CreatedAt)))
}

func goalText(s record.Summary) string { return clean(cmp.Or(s.Goal, s.Name)) }

// rowStyle returns the style of a loop's row.
func (m Model) rowStyle(s record.Summary) string {
	switch s.Group(m.now) {
	case record.GroupNeedsYou:
		return yellow
	case record.GroupWorking:
		return green
	}
	return dim
}

// formatAge returns a duration as one number and a unit: 12s, 5m, 3h, 9d.
func formatAge(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// keysText explains the keys.
const keysText = `keys

  enter, →    open a loop
  esc, ←      back
  ↑ ↓, j k    select a loop or a task
  pgup pgdn   scroll; end follows the whole loop
  d, c        diff of the task; tool calls
  o           only trouble, or all
  /           search loops
  n           start a loop                  pawl run

  t, !        tell the agent; ! now         pawl tell
  p           pause, or continue            pawl pause
  s           stop the loop                 pawl stop
  S, R        skip the task, try it again   pawl plan skip
  b           restore a task's undone work  pawl restore
  m           change its limits             pawl limit
  r           read the report               pawl report
  a           answer the agent's question   pawl answer
  a, x        approve or reject changes     pawl approve
  u           undo the last restore         pawl undo

  q, ctrl+c   leave; loops continue`
