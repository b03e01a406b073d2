package watch

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestLimitMayBeRaisedWhereItEndedTheLoop: the option that pawl resume takes is there to change, and it is shown
// only where a limit ended the loop.
func TestLimitMayBeRaisedWhereItEndedTheLoop(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops(), detail: detail(), says: "said"}
	s.detail.Summary.ID, s.detail.Summary.State, s.detail.More = "lost-moth-33cc", "ended", "--max-iterations 10"
	m := screen(t, s, Options{}, 120, 30, "enter")
	if got := shown(m); !strings.Contains(got, "m raise its limit") || strings.Contains(got, "S skip") {
		t.Errorf("the keys:\n%s", got)
	}
	m = press(m, "m")
	if got := shown(m); !strings.Contains(got, "resume with lost-moth-33cc: --max-iterations 10") {
		t.Errorf("asked:\n%s", got)
	}
	for _, k := range []string{"backspace", "backspace", "25", "enter"} {
		m = press(m, k)
	}
	if got := strings.Join(s.commands, "\n"); got != "resume lost-moth-33cc --detach --max-iterations 25" || !strings.Contains(shown(m), "said") {
		t.Errorf("%q, and\n%s", got, shown(m))
	}
}

// TestCommandOutputIsShownAsAPage: what a command prints is read as a page, and left.
func TestCommandOutputIsShownAsAPage(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops(), says: strings.Repeat("a line\n", 50) + "the last"}
	m := screen(t, s, Options{}, 60, 15, "r")
	if got := shown(m); !strings.HasPrefix(got, "$ pawl report lost-moth-33cc") || strings.Contains(got, "the last") {
		t.Errorf("the page begins:\n%s", got)
	}
	for range 5 {
		m = press(m, "pgdown")
	}
	if got := shown(m); !strings.Contains(got, "the last") {
		t.Errorf("the page ends:\n%s", got)
	}
	if got := shown(press(m, "esc")); !strings.Contains(got, "NEEDS YOU") {
		t.Errorf("behind it:\n%s", got)
	}
}

// TestLongInputShowsItsEnd: the end of what is typed is seen, with the terminal's cursor behind it.
func TestLongInputShowsItsEnd(t *testing.T) {
	t.Parallel()
	m := screen(t, &double{loops: loops()}, Options{}, 60, 15, "t", strings.Repeat("long ", 20)+"end")
	rows := strings.Split(shown(m), "\n")
	last := strings.TrimRight(rows[len(rows)-1], " ")
	if !strings.HasPrefix(last, "tell lost-moth-33cc: ") || !strings.HasSuffix(last, " end") {
		t.Errorf("bottom row %q", last)
	}
	if c := m.View().Cursor; c == nil || c.X != ansi.StringWidth(last) || c.Y != 14 {
		t.Errorf("cursor %+v behind %d columns", c, ansi.StringWidth(last))
	}
}
