package watch

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

var now = time.Date(2026, 3, 1, 22, 15, 4, 0, time.UTC)

func loops() []record.Summary {
	of := func(id, state string, outcome loop.Outcome, done, open int, age time.Duration, goal string) record.Summary {
		s := record.Summary{ID: id, State: state, Outcome: outcome, Goal: goal, CostUSD: 1.25, StartedAt: now.Add(-age), CreatedAt: now.Add(-age)}
		s.Tasks = record.TaskCount{Done: done, Open: open}
		if outcome != "" {
			s.EndedAt = now.Add(-age)
		}
		return s
	}
	waits := of("calm-heron-11aa", "ended", loop.Unverified, 3, 0, 2*time.Hour, "add the log-out")
	waits.Tests = []string{"a_test.go"}
	lost := of("lost-moth-33cc", "orphaned", "", 0, 1, 40*time.Minute, "make the flaky upload test stable")
	lost.CanUndoRestore = true
	return []record.Summary{
		of("brisk-otter-7f3a", "running", "", 2, 8, 5*time.Minute, "plans/shop.md"),
		of("old-badger-0001", "ended", loop.Stuck, 1, 3, 9*24*time.Hour, "an old one"),
		of("quiet-lynx-22bb", "ended", loop.Verified, 4, 0, 26*time.Hour, "export as CSV\x1b[2J"),
		lost,
		waits,
	}
}

func detail() Detail {
	st := loop.State{Policy: loop.Policy{Limits: loop.Limits{Iterations: 25, Duration: 8 * time.Hour}}, Tasks: []loop.Task{
		{ID: "US-1", Title: "a log-out button", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{"TestLogout"}}, Turns: 1, Took: 90 * time.Second, Commit: "64bb3f19"},
		{ID: "US-2", Title: "sessions expire after an hour of doing nothing at all", Status: loop.Open, Turns: 2},
		{ID: "US-3", Title: "describe both", Status: loop.Skipped, Why: "no server here", WorkKept: true},
	}, Counts: loop.Counts{Iteration: 3, Usage: loop.Usage{Input: 120_000, CostUSD: 1.25}}, Work: loop.Work{Current: "US-2"}}
	d := Detail{Summary: loops()[0], Headline: "running · iteration 3 of 25 · the agent works", State: st, LimitOptions: "--max-iterations 25"}
	for i := range 40 {
		d.Lines = append(d.Lines, Line{fmt.Sprintf("22:%02d:00  gate go test ./...: fail (exit 1, 2s) receipt %d", i, i), []string{fmt.Sprintf("US-%d", 1+i/20)}, i%8 == 0})
	}
	return d
}

// screen plays keys on a screen of that size, each with what comes of it.
func screen(t *testing.T, s Source, o Options, width, height int, keys ...string) Model {
	t.Helper()
	m := NewModel(t.Context(), s, o)
	m.now = now
	m = settle(m, m.readNow())
	m = play(m, tea.WindowSizeMsg{Width: width, Height: height})
	for _, k := range keys {
		m = press(m, k)
	}
	return m
}

func play(m Model, msg tea.Msg) Model {
	next, cmd := m.Update(msg)
	return settle(next.(Model), cmd)
}

// settle runs a command and what it leads to.
func settle(m Model, cmd tea.Cmd) Model {
	for cmd != nil {
		msg := cmd()
		if several, ok := msg.(tea.BatchMsg); ok {
			for _, c := range several {
				m = settle(m, c)
			}
			return m
		}
		if _, quits := msg.(tea.QuitMsg); quits {
			return m
		}
		var next tea.Model
		next, cmd = m.Update(msg)
		m = next.(Model)
	}
	return m
}

// press plays a key by its name, or types a text.
func press(m Model, name string) Model {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "backspace": tea.KeyBackspace}
	if code, ok := special[name]; ok {
		return play(m, tea.KeyPressMsg{Code: code})
	}
	for _, r := range name {
		m = play(m, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return m
}

func shown(m Model) string { return ansi.Strip(m.View().Content) }

// Loops of several repositories are told apart, and no id is cut where there is room.
func TestLoopsOfSeveralRepositories(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops()}
	for i, root := range []string{"/src/shop", "/src/wiki", "/old/wiki", "/src/shop", "/src/shop"} {
		s.loops[i].Root = root
	}
	s.loops[0].ID = "thoughtful-wolverine-7f3a"
	got := shown(screen(t, s, Options{}, 110, 30))
	for _, want := range []string{
		"thoughtful-wolverine-7f3a running    2/10  $1.25   5m   shop      plans/shop.md", " /src/wiki ", " /old/wiki ",
		"lost-moth-33cc            orphaned   0/1 ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	s.loops[0].ID = "brisk-otter-7f3a"
	if got := plainly(t, s, Options{}); !strings.Contains(got, "brisk-otter-7f3a in shop: running, 2/10 done") {
		t.Errorf("plain:\n%s", got)
	}
}

// TestScreensMatchGoldenFiles compares both screens at four sizes with golden files, and holds that no
// row is wider and no screen higher than the terminal.
func TestScreensMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 30}, {200, 50}} {
		for name, keys := range map[string][]string{"overview": nil, "loop": {"down", "enter"}, "keys": {"?"}, "diff": {"down", "enter", "up", "d"}} {
			file := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				s := &double{loops: loops(), detail: detail()}
				s.detail.Summary.ID = "calm-heron-11aa"
				got := shown(screen(t, s, Options{}, size[0], size[1], keys...))
				rows := strings.Split(got, "\n")
				if len(rows) > size[1] {
					t.Errorf("%d rows", len(rows))
				}
				for _, r := range rows {
					if ansi.StringWidth(r) > size[0] {
						t.Errorf("%d columns: %s", ansi.StringWidth(r), r)
					}
				}
				golden(t, file, got)
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	lines := strings.Split(got, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got = strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestKeysRunCommands: what keys do is a command line of pawl's, and what could do harm is asked.
func TestKeysRunCommands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		keys     []string
		commands string
		bottom   string
	}{
		{"tell", []string{"t", "use the ", "x", "backspace", "fake", "enter"}, "tell lost-moth-33cc -- use the fake", "said"},
		{"tell, mended in the middle", []string{"t", "use the real", "left", "left", "left", "left", "not ", "enter"}, "tell lost-moth-33cc -- use the not real", "said"},
		{"tell nothing", []string{"t", "enter"}, "", "enter open"},
		{"tell, and leave", []string{"t", "abc", "esc"}, "", "enter open"},
		{"pause", []string{"p"}, "pause lost-moth-33cc", "said"},
		{"stop", []string{"s", "y"}, "stop lost-moth-33cc", "said"},
		{"stop is asked", []string{"s"}, "", "pawl stop lost-moth-33cc? y yes"},
		{"no stop", []string{"s", "n"}, "", "enter open"},
		{"undo, approve, reject", []string{"u", "y", "a", "y", "x", "y"}, "undo lost-moth-33cc --yes\napprove lost-moth-33cc\nreject lost-moth-33cc", "said"},
		{"nothing to undo", []string{"down", "u"}, "", "nothing was restored in calm-heron-11aa"},
		{"nothing to restore", []string{"enter", "b"}, "", "no work of task US-2 was undone"},
		{"another loop", []string{"down", "s", "y"}, "stop calm-heron-11aa", "said"},
		{"search", []string{"/", "shop", "enter", "p"}, "pause brisk-otter-7f3a", "said"},
		{"in a loop", []string{"enter", "r"}, "report lost-moth-33cc", "said"},
		{"skip is asked", []string{"enter", "S"}, "", "pawl plan skip lost-moth-33cc US-2? y yes"},
		{"skip", []string{"enter", "S", "y"}, "plan skip lost-moth-33cc -- US-2", "said"},
		{"retry", []string{"enter", "down", "R"}, "plan retry lost-moth-33cc -- US-3", "said"},
		{"restore is asked", []string{"enter", "down", "b"}, "", "pawl restore lost-moth-33cc --task US-3 --yes? y yes"},
		{"restore", []string{"enter", "down", "b", "y"}, "restore lost-moth-33cc --task US-3 --yes", "said"},
		{"begin", []string{"n", "plan.md", "enter"}, "run --detach --yes -- plan.md", "said"},
		{"begin asks", []string{"n", "plan"}, "", "start a loop, with its goal or a plan file: plan"},
		{"limits", []string{"enter", "m", "backspace", "backspace", "30", "enter"}, "limit lost-moth-33cc --max-iterations 30", "said"},
		{"back from a loop", []string{"enter", "esc", "down", "r"}, "report calm-heron-11aa", "said"},
		{"pause one that has ended", []string{"down", "p"}, "", "calm-heron-11aa has ended: there is nothing to pause"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &double{loops: loops(), detail: detail(), says: "said"}
			s.detail.Summary.ID = "lost-moth-33cc"
			m := screen(t, s, Options{}, 120, 30, tt.keys...)
			if got := strings.Join(s.commands, "\n"); got != tt.commands {
				t.Errorf("commands %q, want %q", got, tt.commands)
			}
			rows := strings.Split(shown(m), "\n")
			if last := rows[len(rows)-1]; !strings.HasPrefix(last, tt.bottom) {
				t.Errorf("bottom row %q, want %q", last, tt.bottom)
			}
		})
	}
}

// TestAnEndedLoopShowsWhatNeedsYou: its first task that could not be done is selected.
func TestAnEndedLoopShowsWhatNeedsYou(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops(), detail: detail()}
	s.detail.Summary = record.Summary{ID: "calm-heron-11aa", State: "ended", Outcome: loop.Stuck}
	if got := shown(screen(t, s, Options{}, 120, 30, "down", "enter")); !strings.Contains(got, "> ✗ US-3  describe both") {
		t.Errorf("US-3 is not selected:\n%s", got)
	}
}

// TestHistoryIsFollowed: new lines show by themselves, unless the user has scrolled.
func TestHistoryIsFollowed(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops(), detail: detail()}
	m := screen(t, s, Options{ID: "brisk-otter-7f3a"}, 120, 20)
	s.detail.Lines = append(s.detail.Lines, Line{Text: "22:41:00  something new"})
	m = settle(m, m.readNow())
	if !strings.Contains(shown(m), "something new") {
		t.Errorf("not followed:\n%s", shown(m))
	}
	if up := press(m, "pgup"); strings.Contains(shown(up), "something new") || !strings.Contains(shown(press(up, "end")), "something new") {
		t.Errorf("not scrolled:\n%s", shown(up))
	}
}

// TestToolCallsAreShownLive: c shows what the agent does, newest at the end, live; what failed shows
// its last word.
func TestToolCallsAreShownLive(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops(), detail: detail()}
	for i := range 40 {
		s.calls = append(s.calls, record.Call{At: now.Add(time.Duration(i) * time.Second), Tool: "Bash", Detail: fmt.Sprintf("step %d", i), Status: record.CallSucceeded, Took: 1200 * time.Millisecond})
	}
	s.calls = append(s.calls, record.Call{At: now, Tool: "Edit", Detail: "a\x1b[2J.go", Status: record.CallFailed, Output: "one\nno such file\n"})
	m := press(screen(t, s, Options{ID: "brisk-otter-7f3a"}, 120, 30), "c")
	if got := shown(m); !strings.Contains(got, "✗ Edit  a.go") || !strings.Contains(got, "no such file") || !strings.Contains(got, "✓ Bash  step 39") || strings.Contains(got, "receipt") {
		t.Errorf("calls:\n%s", got)
	}
	s.calls = append(s.calls, slices.Repeat(s.calls[:40], 2)...) // the one that failed is far above
	s.calls = append(s.calls, record.Call{At: now, Tool: "Read", Detail: "b.go", Status: record.CallRunning})
	if m = settle(m, m.readNow()); !strings.Contains(shown(m), "▶ Read  b.go") {
		t.Errorf("not live:\n%s", shown(m))
	}
	if got := shown(press(m, "o")); strings.Contains(got, "step") || !strings.Contains(got, "✗ Edit") {
		t.Errorf("only trouble:\n%s", got)
	}
	if up := shown(press(m, "pgup")); strings.Contains(up, "Read") || !strings.Contains(up, "step 25") {
		t.Errorf("scrolled:\n%s", up)
	}
	if got := shown(press(m, "esc")); !strings.Contains(got, "receipt") {
		t.Errorf("back:\n%s", got)
	}
}

// TestOnlyTroubleHidesTheRest: o leaves out what needs nobody.
func TestOnlyTroubleHidesTheRest(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops(), detail: detail()}
	m := press(screen(t, s, Options{}, 80, 24), "o")
	if got := shown(m); strings.Contains(got, "ENDED") || strings.Contains(got, "brisk-otter") || !strings.Contains(got, "lost-moth") || !strings.Contains(got, "only what needs you") {
		t.Errorf("overview:\n%s", got)
	}
	if got := shown(press(m, "esc")); !strings.Contains(got, "ENDED") {
		t.Errorf("all again:\n%s", got)
	}
	m = press(screen(t, s, Options{ID: "brisk-otter-7f3a"}, 120, 30), "o")
	if got := shown(m); !strings.Contains(got, "receipt 8") || strings.Contains(got, "receipt 9") {
		t.Errorf("history:\n%s", got)
	}
	if got := shown(press(screen(t, s, Options{ID: "brisk-otter-7f3a"}, 120, 50), "up")); strings.Contains(got, "receipt 20") || !strings.Contains(got, "receipt 19") {
		t.Errorf("of the task above:\n%s", got)
	}
	if got := shown(press(screen(t, s, Options{ID: "brisk-otter-7f3a"}, 120, 50), "down")); !strings.Contains(got, "no events for this task") {
		t.Errorf("of a task not begun:\n%s", got)
	}
	s.detail.Lines = nil
	if got := shown(settle(m, m.readNow())); !strings.Contains(got, "no problems") {
		t.Errorf("without trouble:\n%s", got)
	}
}

// TestErrorKeepsTheLastState: an error is shown and the last state stays; a hostile text draws nothing.
func TestErrorKeepsTheLastState(t *testing.T) {
	t.Parallel()
	s := &double{loops: loops()}
	m := screen(t, s, Options{ASCII: true}, 80, 24)
	if got := m.View().Content; strings.Contains(got, "\x1b[2J") || strings.ContainsAny(ansi.Strip(got), "✓│…·") {
		t.Errorf("hostile or not ASCII: %q", got)
	}
	s.err = errors.New("read loops: permission denied")
	m = settle(m, m.readNow())
	if got := shown(m); !strings.Contains(got, "! read loops: permission denied") || !strings.Contains(got, "brisk-otter") {
		t.Errorf("with an error:\n%s", got)
	}
	for _, size := range [][2]int{{0, 0}, {1, 1}, {10, 3}} {
		_ = play(m, tea.WindowSizeMsg{Width: size[0], Height: size[1]}).View()
		_ = play(screen(t, &double{loops: loops(), detail: detail()}, Options{ID: "x"}, 80, 24), tea.WindowSizeMsg{Width: size[0], Height: size[1]}).View()
	}
}

// TestAThousandLoops holds that a screen draws only what it shows.
func TestAThousandLoops(t *testing.T) {
	t.Parallel()
	var many []record.Summary
	for i := range 1000 {
		l := loops()[0]
		l.ID = fmt.Sprintf("loop-%04d", i)
		many = append(many, l)
	}
	m := screen(t, &double{loops: many}, Options{}, 80, 24, "end")
	if got := shown(m); !strings.Contains(got, "> loop-0999") || len(strings.Split(got, "\n")) != 24 {
		t.Errorf("at the end:\n%s", got)
	}
}
