package watch

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/record"
)

// startInput opens the input line for a purpose, filled with a text.
func (m *Model) startInput(purpose, text string) {
	m.mode, m.purpose, m.targetLoop = typing, purpose, m.selected()
	prompt := purpose + " " + m.targetLoop.ID + ": "
	switch purpose {
	case "search":
		prompt = "/"
	case startPurpose:
		prompt = startPurpose + ": "
	}
	m.input = newLineEditor(prompt, text, m.width)
}

// handleInputKey handles a key in the input line.
func (m Model) handleInputKey(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch k.String() {
	case "esc":
		m.mode = browsing
		return m, nil
	case "enter":
		m.mode = browsing
		text := strings.TrimSpace(m.input.value())
		if m.purpose == "search" {
			m.filter = text
			return m, m.readLoops
		}
		if text == "" {
			return m, nil
		}
		return m.send(m.inputCommand(text))
	}
	m.input.handleKey(k)
	return m, nil
}

// send runs a command that the user typed or confirmed. It does not run an answer to a question that
// the loop no longer asks: the loop may have changed since the user began to type.
func (m Model) send(command []string) (Model, tea.Cmd) {
	m.result = ""
	switch command[0] {
	case "answer", "approve", "reject":
		if !m.stillAsks() {
			m.result = m.targetLoop.ID + " no longer asks that: nothing was done"
			return m, nil
		}
	}
	return m, m.command(command...)
}

// stillAsks reports whether the loop asks the same as when the user began to answer. A loop that
// the screen no longer lists asks what it asked.
func (m Model) stillAsks() bool {
	was, now := m.targetLoop, m.targetLoop
	if m.loopID == was.ID {
		now = m.detail.Summary
	} else if i := slices.IndexFunc(m.loops, func(s record.Summary) bool { return s.ID == was.ID }); i >= 0 {
		now = m.loops[i]
	}
	if (was.Question == nil) != (now.Question == nil) || !slices.Equal(was.Tests, now.Tests) {
		return false
	}
	return was.Question == nil || was.Question.Is(*now.Question)
}

// showText shows a text to scroll.
func (m *Model) showText(lines []string) {
	m.mode, m.text = reading, viewport.New()
	m.text.SoftWrap = true
	for i, l := range lines {
		lines[i] = withoutControls(strings.ReplaceAll(ansi.Strip(l), "\t", "    "))
	}
	m.text.SetContentLines(lines)
	m.fitPages()
}

// handleTextKey handles a key while a text is shown.
func (m Model) handleTextKey(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch k.String() {
	case "esc", "q", "enter", "left", "h", "?":
		m.mode = browsing
		return m, nil
	case "home", "g":
		m.text.GotoTop()
		return m, nil
	case "end", "G":
		m.text.GotoBottom()
		return m, nil
	}
	var cmd tea.Cmd
	m.text, cmd = m.text.Update(k)
	return m, cmd
}

// fitPages sets the size of the text and of the input line. The bottom row is not part of the text.
func (m *Model) fitPages() {
	m.text.SetWidth(m.width)
	m.text.SetHeight(max(1, m.height-1))
	m.input.resize(m.width)
}
