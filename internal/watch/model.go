package watch

import (
	"context"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// mode is what keys mean.
type mode int

const (
	browsing  mode = iota
	typing         // a message or a search, in input
	confirmed      // a command waits for a yes
	reading        // the output of a command, or the keys
)

// begin is the purpose of an input with the goal of a loop that is to begin.
const begin = "start a loop, with its goal or a plan file"

// Model is the state of the screen.
type Model struct {
	ctx    context.Context
	source Source
	first  tea.Cmd // reads what is shown first

	width, height int
	ascii         bool // the terminal has no signs beyond ASCII
	now           time.Time
	err           error // of the last reading, nil if it went well

	listed bool             // loops were read
	loops  []record.Summary // grouped, as they are shown
	cursor int
	filter string

	open   string // id of the loop that is shown, "" = the overview
	detail Detail
	task   int // selected
	scroll int // lines of the history below the screen; 0 follows it

	diff    *diffPane // nil: the history is shown, or the tool calls
	feeding bool      // the tool calls are shown
	calls   []record.Call
	trouble bool // only what went wrong, or needs the user, is shown

	mode    mode
	input   textinput.Model
	purpose string         // of the input: search, or a command that sends it: tell, tell now, answer
	pending []string       // the command that waits for a yes
	target  record.Summary // the loop of that input or command, as it was when the user began
	text    viewport.Model // that is read
	notice  string         // what the last command said
}

// NewModel begins with the overview, or with one loop.
func NewModel(ctx context.Context, s Source, o Options) Model {
	m := Model{ctx: ctx, source: s, open: o.ID, ascii: o.ASCII, task: currentTask, width: 80, height: 24, now: time.Now()}
	m.first = m.readNow()
	return m
}

// Init shows what is read already.
func (m Model) Init() tea.Cmd { return tea.Batch(m.first, nextTick()) }

// read reads what is on the screen, and asks to be told a moment later.
func (m Model) read() tea.Cmd { return tea.Batch(m.readNow(), nextTick()) }

func nextTick() tea.Cmd {
	return tea.Tick(refresh, func(t time.Time) tea.Msg { return tick(t) })
}

// Update takes one message.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.fitPages()
	case tick:
		m.now = time.Time(msg)
		return m, m.read()
	case loopsRead:
		m.err, m.listed = nil, true
		m.take(msg)
	case detailRead:
		if m.err = nil; msg.Summary.ID == m.open {
			m.detail = Detail(msg)
			m.task = min(m.task, max(0, len(m.detail.State.Tasks)-1))
		}
	case callsRead:
		if msg.id == m.open {
			m.calls = msg.calls
		}
	case diffRead:
		if m.diff != nil && m.diff.task == msg.task {
			m.diff = &diffPane{msg.task, msg.text, true, m.diff.line}
		}
	case failed:
		m.err = msg.err
	case answered:
		return m.answered(msg)
	case tea.PasteMsg:
		if m.mode == typing {
			m.input, _ = m.input.Update(msg)
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return m, nil
}

// take shows loops, and keeps the cursor on the same one.
func (m *Model) take(loops []record.Summary) {
	id := m.selected().ID
	m.loops = record.FilterAndGroup(loops, m.filter, m.now)
	if m.trouble {
		m.loops = slices.DeleteFunc(m.loops, func(s record.Summary) bool { return s.Group(m.now) != record.GroupNeedsYou })
	}
	if i := slices.IndexFunc(m.loops, func(s record.Summary) bool { return s.ID == id }); i >= 0 {
		m.cursor = i
	}
	m.cursor = max(0, min(m.cursor, len(m.loops)-1))
}

// selected is the loop that keys are about.
func (m Model) selected() record.Summary {
	switch {
	case m.open != "":
		s := m.detail.Summary
		s.ID = m.open
		return s
	case m.cursor < len(m.loops):
		return m.loops[m.cursor]
	}
	return record.Summary{}
}

// answered shows what a command said: one line at the bottom, more as a text.
func (m Model) answered(a answered) (tea.Model, tea.Cmd) {
	lines := strings.Split(strings.TrimRight(a.text, "\n"), "\n")
	if a.err != nil && strings.TrimSpace(a.text) == "" {
		lines = []string{a.err.Error()}
	}
	m.notice = ""
	if len(lines) == 1 {
		m.notice = clean(lines[0])
		return m, m.readNow()
	}
	m.show(append([]string{"$ " + a.command, ""}, lines...))
	return m, m.readNow()
}

// readNow reads what is on the screen once, beside the ticks.
func (m Model) readNow() tea.Cmd {
	switch {
	case m.open != "" && m.feeding:
		return tea.Batch(m.readDetail, m.readCalls)
	case m.open != "":
		return m.readDetail
	}
	return m.readLoops
}

func (m Model) key(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	if k.String() == "ctrl+c" {
		return m, tea.Quit
	}
	switch m.mode {
	case typing:
		return m.typed(k)
	case confirmed:
		m.mode, m.notice = browsing, ""
		if s := k.String(); s == "y" || s == "Y" {
			sent, cmd := m.send(m.pending)
			if cmd != nil {
				sent.notice = commandLine(m.pending) + " …"
			}
			return sent, cmd
		}
		return m, nil
	case reading:
		return m.readText(k)
	}
	m.notice = ""
	if acted, cmd, ok := m.act(k.String()); ok {
		return acted, cmd
	}
	if m.open != "" {
		return m.inLoop(k.String())
	}
	return m.inOverview(k.String())
}

// act does what keys mean on both screens.
func (m Model) act(key string) (Model, tea.Cmd, bool) {
	s := m.selected()
	switch key {
	case "?":
		m.show(strings.Split(keysText, "\n"))
		return m, nil, true
	case "q":
		return m, tea.Quit, true
	case "o":
		m.trouble, m.scroll = !m.trouble, 0
		return m, m.readNow(), true
	}
	if s.ID == "" {
		return m, nil, false
	}
	switch key {
	case "t":
		m.typeIn("tell", "")
	case "!":
		m.typeIn("tell now", "")
	case "p":
		if s.State == "ended" {
			m.notice = s.ID + " has ended: there is nothing to pause"
			return m, nil, true
		}
		if s.State == "paused" {
			return m, m.command("resume", s.ID), true
		}
		return m, m.command("pause", s.ID), true
	case "r":
		return m, m.command("report", s.ID), true
	case "s":
		m.ask("stop", s.ID)
	case "u":
		if !s.CanUndoRestore {
			m.notice = "nothing was restored in " + s.ID
			return m, nil, true
		}
		m.ask("undo", s.ID, "--yes") // the screen has asked
	case "a":
		if s.Question == nil || s.Question.Approve != "" {
			m.ask("approve", s.ID)
			break
		}
		m.typeIn("answer", "")
	case "x":
		if q := s.Question; q != nil && q.Approve != "" {
			m.typeIn("reject, because", "")
			break
		}
		m.ask("reject", s.ID)
	default:
		return m, nil, false
	}
	return m, nil, true
}

// ask has a command wait for a yes.
func (m *Model) ask(command ...string) {
	m.mode, m.pending, m.target = confirmed, command, m.selected()
}

func (m Model) inOverview(key string) (tea.Model, tea.Cmd) {
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
		m.typeIn(begin, "")
	case "/":
		m.typeIn("search", m.filter)
	case "esc":
		m.filter, m.trouble = "", false
		return m, m.readLoops
	case "enter", "right", "l":
		if s := m.selected(); s.ID != "" {
			m.open, m.detail, m.task, m.scroll = s.ID, Detail{Summary: s}, currentTask, 0
			return m, m.readDetail
		}
	}
	return m, nil
}

// currentTask selects the task that is worked on, once it is known; of a loop that has
// ended, the first that needs the user.
const currentTask = -1

func (m Model) inLoop(key string) (tea.Model, tea.Cmd) {
	if shown, cmd, ok := m.inDiff(key); ok {
		return shown, cmd
	}
	page := max(1, m.height/2)
	switch key {
	case "down", "j":
		m.task = min(m.at()+1, max(0, len(m.detail.State.Tasks)-1))
	case "up", "k":
		m.task = max(0, m.at()-1)
	case "pgup":
		m.scroll = min(m.scroll+page, max(0, m.below()-1))
	case "pgdown":
		m.scroll = max(0, m.scroll-page)
	case "end", "G":
		m.scroll, m.task = 0, currentTask
	case "c":
		m.feeding, m.scroll = !m.feeding, 0
		return m, m.readNow()
	case "esc", "left", "h":
		if m.feeding {
			m.feeding, m.scroll = false, 0
			return m, nil
		}
		m.open, m.detail, m.calls = "", Detail{}, nil
		return m, m.readLoops
	default:
		return m.onTask(key)
	}
	return m, nil
}

// at is the index of the selected task.
func (m Model) at() int {
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
	if tasks := m.detail.State.Tasks; m.at() < len(tasks) {
		return tasks[m.at()]
	}
	return loop.Task{}
}

// sends is the command that sends what was typed.
func (m Model) sends(text string) []string {
	s := m.target
	switch {
	case m.purpose == begin:
		return []string{"run", "--detach", "--yes", "--", text}
	case m.purpose == "tell now":
		return []string{"tell", s.ID, "--now", "--", text}
	case m.purpose == "reject, because":
		return []string{"reject", s.ID, "--why=" + text}
	case m.purpose == raise:
		return append([]string{"resume", s.ID, "--detach"}, strings.Fields(text)...)
	case m.purpose == limit:
		return append([]string{"limit", s.ID}, strings.Fields(text)...)
	case m.purpose == "answer" && s.Question != nil && s.Question.Task != "":
		return []string{"answer", s.ID, "--task", s.Question.Task, "--", text}
	}
	return []string{m.purpose, s.ID, "--", text}
}
