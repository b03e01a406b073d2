package watch

import (
	"context"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// mode decides what keys do.
type mode int

const (
	browsing   mode = iota
	typing          // a message or a search, in input
	confirming      // a command waits for a yes
	reading         // the output of a command, or the keys
)

// startPurpose is the purpose of an input for the goal of a new loop.
const startPurpose = "start a loop, with its goal or a plan file"

// Model is the state of the screen.
type Model struct {
	ctx       context.Context
	source    Source
	firstRead tea.Cmd // reads what the first screen shows

	width, height int
	ascii         bool // the terminal only shows ASCII
	now           time.Time
	err           error // of the last read, or nil

	hasLoops bool             // the loops were read at least once
	loops    []record.Summary // in the order of the overview
	cursor   int
	filter   string

	loopID string // id of the loop that is shown, "" = the overview
	detail Detail
	task   int // index of the selected task, or currentTask
	scroll int // lines of the history below the screen; 0 follows it

	diff        *diffPane // nil: the history is shown, or the tool calls
	showsCalls  bool      // the tool calls are shown
	calls       []record.Call
	onlyTrouble bool // show only problems and what needs the user

	mode           mode
	input          lineEditor
	purpose        string         // of the input: search, or a command that sends it: tell, tell now, answer
	pendingCommand []string       // the command that waits for a yes
	targetLoop     record.Summary // the loop of that input or command, as it was when the user began
	text           viewport.Model // in mode reading
	result         string         // output of the last command, one line
}

// NewModel returns a screen that starts with the overview, or with one loop.
func NewModel(ctx context.Context, s Source, o Options) Model {
	m := Model{ctx: ctx, source: s, loopID: o.ID, ascii: o.ASCII, task: currentTask, width: 80, height: 24, now: time.Now()}
	m.firstRead = m.readNow()
	return m
}

// Init starts reading.
func (m Model) Init() tea.Cmd { return tea.Batch(m.firstRead, nextTick()) }

func nextTick() tea.Cmd {
	return tea.Tick(refreshInterval, func(t time.Time) tea.Msg { return tick(t) })
}

// Update handles a message of Bubble Tea.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.fitPages()
	case tick:
		m.now = time.Time(msg)
		return m, tea.Batch(m.readNow(), nextTick())
	case loopsRead:
		m.err, m.hasLoops = nil, true
		m.setLoops(msg)
	case detailRead:
		if m.err = nil; msg.Summary.ID == m.loopID {
			m.detail = Detail(msg)
			m.task = min(m.task, max(0, len(m.detail.State.Tasks)-1))
		}
	case callsRead:
		if msg.id == m.loopID {
			m.calls = msg.calls
		}
	case diffRead:
		if m.diff != nil && m.diff.task == msg.task {
			m.diff = &diffPane{msg.task, msg.text, true, m.diff.firstLine}
		}
	case readFailed:
		m.err = msg.err
	case commandResult:
		return m.showResult(msg)
	case tea.PasteMsg:
		if m.mode == typing {
			m.input.insert(msg.Content)
		}
	case tea.KeyPressMsg:
		return m.handleKey(msg)
	}
	return m, nil
}

// setLoops replaces the list of loops. The cursor stays on the same loop.
func (m *Model) setLoops(loops []record.Summary) {
	id := m.selected().ID
	m.loops = record.FilterAndGroup(loops, m.filter, m.now)
	if m.onlyTrouble {
		m.loops = slices.DeleteFunc(m.loops, func(s record.Summary) bool { return s.Group(m.now) != record.GroupNeedsYou })
	}
	if i := slices.IndexFunc(m.loops, func(s record.Summary) bool { return s.ID == id }); i >= 0 {
		m.cursor = i
	}
	m.cursor = max(0, min(m.cursor, len(m.loops)-1))
}

// selected returns the loop that keys apply to.
func (m Model) selected() record.Summary {
	switch {
	case m.loopID != "":
		s := m.detail.Summary
		s.ID = m.loopID
		return s
	case m.cursor < len(m.loops):
		return m.loops[m.cursor]
	}
	return record.Summary{}
}

// showResult shows the output of a command: one line in the bottom row, more as a text to scroll.
func (m Model) showResult(a commandResult) (tea.Model, tea.Cmd) {
	lines := strings.Split(strings.TrimRight(a.text, "\n"), "\n")
	if a.err != nil && strings.TrimSpace(a.text) == "" {
		lines = []string{a.err.Error()}
	}
	m.result = ""
	if len(lines) == 1 {
		m.result = clean(lines[0])
		return m, m.readNow()
	}
	m.showText(append([]string{"$ " + a.command, ""}, lines...))
	return m, m.readNow()
}

// readNow reads what the screen shows, once.
func (m Model) readNow() tea.Cmd {
	switch {
	case m.loopID != "" && m.showsCalls:
		return tea.Batch(m.readDetail, m.readCalls)
	case m.loopID != "":
		return m.readDetail
	}
	return m.readLoops
}

func (m Model) handleKey(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	if k.String() == "ctrl+c" {
		return m, tea.Quit
	}
	switch m.mode {
	case typing:
		return m.handleInputKey(k)
	case confirming:
		m.mode, m.result = browsing, ""
		if s := k.String(); s == "y" || s == "Y" {
			sent, cmd := m.send(m.pendingCommand)
			if cmd != nil {
				sent.result = commandLine(m.pendingCommand) + " …"
			}
			return sent, cmd
		}
		return m, nil
	case reading:
		return m.handleTextKey(k)
	}
	m.result = ""
	if acted, cmd, ok := m.handleCommonKey(k.String()); ok {
		return acted, cmd
	}
	if m.loopID != "" {
		return m.handleLoopKey(k.String())
	}
	return m.handleOverviewKey(k.String())
}

// handleCommonKey handles keys that work both in the overview and in a loop. It returns false for
// other keys.
func (m Model) handleCommonKey(key string) (Model, tea.Cmd, bool) {
	s := m.selected()
	switch key {
	case "?":
		m.showText(strings.Split(keysText, "\n"))
		return m, nil, true
	case "q":
		return m, tea.Quit, true
	case "o":
		m.onlyTrouble, m.scroll = !m.onlyTrouble, 0
		return m, m.readNow(), true
	}
	if s.ID == "" {
		return m, nil, false
	}
	switch key {
	case "t":
		m.startInput("tell", "")
	case "!":
		m.startInput("tell now", "")
	case "p":
		if s.State == "ended" {
			m.result = s.ID + " has ended: there is nothing to pause"
			return m, nil, true
		}
		if s.State == "paused" {
			return m, m.command("resume", s.ID), true
		}
		return m, m.command("pause", s.ID), true
	case "r":
		return m, m.command("report", s.ID), true
	case "s":
		m.confirm("stop", s.ID)
	case "u":
		if !s.CanUndoRestore {
			m.result = "nothing was restored in " + s.ID
			return m, nil, true
		}
		m.confirm("undo", s.ID, "--yes") // the screen has asked
	case "a":
		if s.Question == nil || s.Question.Approve != "" {
			m.confirm("approve", s.ID)
			break
		}
		m.startInput("answer", "")
	case "x":
		if q := s.Question; q != nil && q.Approve != "" {
			m.startInput("reject, because", "")
			break
		}
		m.confirm("reject", s.ID)
	default:
		return m, nil, false
	}
	return m, nil, true
}

// confirm asks the user whether to run a command.
func (m *Model) confirm(command ...string) {
	m.mode, m.pendingCommand, m.targetLoop = confirming, command, m.selected()
}

func (m Model) handleOverviewKey(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "down", "j":
		m.cursor = min(m.cursor+1, max(0, len(m.loops)-1))
	case "up", "k":
		m.cursor = max(0, m.cursor-1)
	case "pgdown":
		m.cursor = min(m.cursor+10, max(0, len(m.loops)-1))
	case "pgup":
		m.cursor = max(0, m.cursor-10)
	case "home", "g":
		m.cursor = 0
	case "end", "G":
		m.cursor = max(0, len(m.loops)-1)
	case "n":
		m.startInput(startPurpose, "")
	case "/":
		m.startInput("search", m.filter)
	case "esc":
		m.filter, m.onlyTrouble = "", false
		return m, m.readLoops
	case "enter", "right", "l":
		if s := m.selected(); s.ID != "" {
			m.loopID, m.detail, m.task, m.scroll = s.ID, Detail{Summary: s}, currentTask, 0
			return m, m.readDetail
		}
	}
	return m, nil
}

// currentTask selects the task in progress or, after the loop's end, the first that needs the user.
const currentTask = -1

func (m Model) handleLoopKey(key string) (tea.Model, tea.Cmd) {
	if shown, cmd, ok := m.handleDiffKey(key); ok {
		return shown, cmd
	}
	page := max(1, m.height/2)
	switch key {
	case "down", "j":
		m.task = min(m.selectedIndex()+1, max(0, len(m.detail.State.Tasks)-1))
	case "up", "k":
		m.task = max(0, m.selectedIndex()-1)
	case "pgup":
		rows := len(m.historyLines())
		if m.showsCalls {
			rows = len(m.shownCalls())
		}
		m.scroll = min(m.scroll+page, max(0, rows-1))
	case "pgdown":
		m.scroll = max(0, m.scroll-page)
	case "end", "G":
		m.scroll, m.task = 0, currentTask
	case "c":
		m.showsCalls, m.scroll = !m.showsCalls, 0
		return m, m.readNow()
	case "esc", "left", "h":
		if m.showsCalls {
			m.showsCalls, m.scroll = false, 0
			return m, nil
		}
		m.loopID, m.detail, m.calls = "", Detail{}, nil
		return m, m.readLoops
	default:
		return m.handleTaskKey(key)
	}
	return m, nil
}

// selectedIndex returns the index of the selected task.
func (m Model) selectedIndex() int {
	if m.task != currentTask {
		return m.task
	}
	st := m.detail.State
	if i := slices.IndexFunc(st.Tasks, loop.Task.NeedsUser); i >= 0 && m.detail.Summary.Outcome != "" {
		return i
	}
	return max(0, slices.IndexFunc(st.Tasks, func(t loop.Task) bool { return t.ID == st.Current }))
}

func (m Model) shownTask() loop.Task {
	if tasks := m.detail.State.Tasks; m.selectedIndex() < len(tasks) {
		return tasks[m.selectedIndex()]
	}
	return loop.Task{}
}

// inputCommand returns the pawl command for the text that the user typed.
func (m Model) inputCommand(text string) []string {
	s := m.targetLoop
	switch {
	case m.purpose == startPurpose:
		return []string{"run", "--detach", "--yes", "--", text}
	case m.purpose == "tell now":
		return []string{"tell", s.ID, "--now", "--", text}
	case m.purpose == "reject, because":
		return []string{"reject", s.ID, "--why=" + text}
	case m.purpose == raisePurpose:
		return append([]string{"resume", s.ID, "--detach"}, strings.Fields(text)...)
	case m.purpose == limitPurpose:
		return append([]string{"limit", s.ID}, strings.Fields(text)...)
	case m.purpose == "answer" && s.Question != nil && s.Question.Task != "":
		return []string{"answer", s.ID, "--task", s.Question.Task, "--", text}
	}
	return []string{m.purpose, s.ID, "--", text}
}
