package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// TestLimitMayBeRaisedWhereItEndedTheLoop: the option that pawl resume takes is there to change, and it is shown
// only where a limit ended the loop.
func TestLimitMayBeRaisedWhereItEndedTheLoop(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops(), detail: detail(), says: "said"}
	s.detail.Summary.ID, s.detail.Summary.State, s.detail.RaiseOption = "lost-moth-33cc", "ended", "--max-iterations 10"
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

// TestLateAnswers: what is typed is for the loop and the question that the user saw when they began,
// whatever the screen shows meanwhile.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	asks := func(at time.Time) *loop.Question {
		return &loop.Question{Text: "accept the work: task 1", Task: "1", Approve: loop.ApproveTask, At: at}
	}
	tests := []struct {
		name           string
		keys, then     []string
		meanwhile      func(*double)
		command, below string
	}{
		{"the loop leaves the list", []string{"o", "t", "use the fake"}, []string{"enter"}, func(d *double) {
			d.loops = slices.DeleteFunc(d.loops, func(s record.Summary) bool { return s.ID == "lost-moth-33cc" })
		}, "tell lost-moth-33cc -- use the fake", "said"},
		{"nothing changes", []string{"a"}, []string{"y"}, func(*double) {}, "approve lost-moth-33cc", "said"},
		{"other work waits", []string{"a"}, []string{"y"}, func(d *double) { d.loops[3].Question = asks(now.Add(time.Minute)) }, "", "lost-moth-33cc no longer asks that: nothing was done"},
		{"other work waits, rejected", []string{"x", "not like this"}, []string{"enter"}, func(d *double) { d.loops[3].Question = asks(now.Add(time.Minute)) }, "", "lost-moth-33cc no longer asks that: nothing was done"},
		{"it was approved elsewhere", []string{"a"}, []string{"y"}, func(d *double) { d.loops[3].Question = nil }, "", "lost-moth-33cc no longer asks that: nothing was done"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &double{loops: loops(), says: "said"}
			s.loops[3].Question = asks(now)
			m := screen(t, s, Options{}, 120, 30, tt.keys...)
			tt.meanwhile(s)
			m = settle(m, m.readNow())
			for _, k := range tt.then {
				m = press(m, k)
			}
			rows := strings.Split(shown(m), "\n")
			if got, last := strings.Join(s.commands, "\n"), rows[len(rows)-1]; got != tt.command || !strings.HasPrefix(last, tt.below) {
				t.Errorf("commands %q, want %q; bottom row %q, want %q", got, tt.command, last, tt.below)
			}
		})
	}
}
