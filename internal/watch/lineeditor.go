package watch

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// lineEditor is a line that the user types, with the keys of a shell. It is Pawl's own because the text input of
// package bubbles looks for five clipboard programs in PATH whenever any program that contains it
// starts, and because that one puts the cursor in the wrong column behind wide characters.
type lineEditor struct {
	prompt string
	text   []string // what is typed, by character as people count them: with accents and joined emoji
	cursor int      // index into text: what is typed comes before it
	first  int      // index of the first character on the screen
	width  int      // columns for the prompt, the text and the cursor behind it
}

// newLineEditor returns a line with a text and the cursor behind it.
func newLineEditor(prompt, text string, width int) lineEditor {
	e := lineEditor{prompt: prompt, width: width}
	e.insert(text)
	return e
}

// value returns the typed text.
func (e *lineEditor) value() string { return strings.Join(e.text, "") }

// resize sets how many columns there are, and scrolls so that the cursor is seen, and as much else as fits.
func (e *lineEditor) resize(width int) {
	e.width = width
	e.first = min(max(min(e.first, e.cursor), e.fitting(e.cursor)), e.fitting(len(e.text)))
}

// fitting is the index of the first of the characters that fit on the screen if those up to end are its last.
func (e *lineEditor) fitting(end int) int {
	room := max(1, e.width-ansi.StringWidth(e.prompt)-1)
	for ; end > 0; end-- {
		if room -= ansi.StringWidth(e.text[end-1]); room < 0 {
			break
		}
	}
	return end
}

// view returns the row that shows the line, and the column of the cursor.
func (e *lineEditor) view() (row string, column int) {
	before := e.prompt + strings.Join(e.text[e.first:e.cursor], "")
	return ansi.Truncate(before+strings.Join(e.text[e.cursor:], ""), max(1, e.width), ""), min(ansi.StringWidth(before), max(0, e.width-1))
}

// insert adds a text at the cursor. It becomes one line without control characters.
func (e *lineEditor) insert(text string) {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
	after := strings.Join(e.text[e.cursor:], "")
	e.text = characters(strings.Join(e.text[:e.cursor], "") + text) // an accent joins the letter before it
	e.cursor = len(e.text)
	e.text = append(e.text, characters(after)...)
	e.resize(e.width)
}

func characters(text string) (all []string) {
	for text != "" {
		c, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		all, text = append(all, c), text[len(c):]
	}
	return all
}

// handleKey edits the line.
func (e *lineEditor) handleKey(k tea.KeyPressMsg) {
	end := len(e.text)
	switch k.String() {
	case "left", "ctrl+b":
		e.cursor = max(0, e.cursor-1)
	case "right", "ctrl+f":
		e.cursor = min(end, e.cursor+1)
	case "home", "ctrl+a":
		e.cursor = 0
	case "end", "ctrl+e":
		e.cursor = end
	case "alt+left", "ctrl+left", "alt+b":
		e.cursor = e.wordStart()
	case "alt+right", "ctrl+right", "alt+f":
		e.cursor = e.wordEnd()
	case "backspace", "ctrl+h":
		e.remove(max(0, e.cursor-1), e.cursor)
	case "delete", "ctrl+d":
		e.remove(e.cursor, min(end, e.cursor+1))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.remove(e.wordStart(), e.cursor)
	case "alt+d", "alt+delete", "ctrl+delete":
		e.remove(e.cursor, e.wordEnd())
	case "ctrl+u":
		e.remove(0, e.cursor)
	case "ctrl+k":
		e.remove(e.cursor, end)
	default:
		e.insert(k.Text)
	}
	e.resize(e.width)
}

// remove deletes the characters from one index up to another, and leaves the cursor there.
func (e *lineEditor) remove(from, to int) {
	e.text, e.cursor = slices.Concat(e.text[:from], e.text[to:]), from
}

// wordStart is the index of the first character of the word before the cursor.
func (e *lineEditor) wordStart() int {
	i := e.cursor
	for i > 0 && e.text[i-1] == " " {
		i--
	}
	for i > 0 && e.text[i-1] != " " {
		i--
	}
	return i
}

// wordEnd is the index behind the last character of the word after the cursor.
func (e *lineEditor) wordEnd() int {
	i := e.cursor
	for i < len(e.text) && e.text[i] == " " {
		i++
	}
	for i < len(e.text) && e.text[i] != " " {
		i++
	}
	return i
}
