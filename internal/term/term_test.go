package term_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/term"
)

var update = flag.Bool("update", false, "write the golden files and the schema anew")

const s = term.Span(time.Second)

// evening returns the events of a small loop, with the time before each event.
func evening(at time.Time) []struct {
	after time.Duration
	event term.Event
} {
	type step = struct {
		after time.Duration
		event term.Event
	}
	return []step{
		{0, term.LoopStarted{
			Loop: "brisk-otter", Source: "plan.md", Open: 2, Done: 1, Agent: "claude", AgentVersion: "2.1.332",
			Branch: "pawl/brisk-otter", From: "main 3f2a9c1", MaxIterations: 28, MaxDuration: 8 * 3600 * s, MaxCostUSD: 20,
			Gates:   []term.Gate{{Name: "test", Command: "go test ./..."}},
			Sandbox: []string{"strict, by bubblewrap, around agent and gates", "agents reach api.example.com", "gates reach nothing"},
		}},
		{0, term.Note{Level: term.Info, Text: `task 3 "Update README" looks like prose: nothing could prove it`}},
		{time.Second, term.TaskStarted{ID: "US-002", Title: "Logout button", Index: 1, Total: 2}},
		{time.Second, term.TurnActivity{Iteration: 1, MaxIterations: 28, Doing: "editing internal/web/logout.go", ContextPercent: 12, Tokens: 18_400, CostUSD: 0.09}},
		{64 * time.Second, term.TurnActivity{Iteration: 1, MaxIterations: 28, Doing: "editing internal/web/logout.go", ContextPercent: 14, Tokens: 24_000, CostUSD: 0.12}},
		{9 * time.Second, term.GateFinished{Gate: "test", Result: "pass", Duration: 9 * s, Clean: true, Summary: "215 pass"}},
		{time.Second, term.TaskEnded{
			ID: "US-002", Title: "Logout button", Index: 1, Total: 2, Result: "proven", Iterations: 1, Duration: 76 * s,
			Evidence: "TestLogout failed before, passes now", Commit: "a81f0c2",
		}},
		{0, term.TaskStarted{ID: "US-003", Title: "Session expiry, with a title that continues for longer than anybody wants", Index: 2, Total: 2}},
		{2 * time.Second, term.TurnActivity{Iteration: 2, MaxIterations: 28, Doing: "go test ./...", ContextPercent: 22, Tokens: 96_000, CostUSD: 0.4}},
		{30 * time.Second, term.GateFinished{Gate: "test", Result: "fail", Duration: 12 * s, Summary: "TestExpiry: still valid after 31m"}},
		{0, term.ClaimRefused{ID: "US-003", Title: "Session expiry", Reason: "all green, but nothing failed before either"}},
		{time.Second, term.Waiting{Until: at.Add(12 * time.Minute), Reason: "usage limit"}},
		{10 * time.Minute, term.Note{Level: term.Warn, Text: "the gate's command was changed by the agent and put back (violation 1)"}},
		{time.Minute, term.TurnActivity{Iteration: 3, MaxIterations: 28, Doing: "reading 日本語.go", ContextPercent: 31, Tokens: 184_000, CostUSD: 0.92}},
		{20 * time.Second, term.GateFinished{Gate: "lint", Result: "unknown", Duration: s, Summary: "the disk is full"}},
		{0, term.GateFinished{Gate: "test", Result: "pass", Cached: true}},
		{0, term.Question{Text: "TestRoot: failed before the work. Is that part of this work?", Choices: []string{"Enter: yes, continue", "s: no, stop"}}},
		{time.Second, term.TaskEnded{ID: "US-003", Title: "Session expiry", Index: 2, Total: 2, Result: "skipped", Iterations: 2, Duration: 700 * s}},
		{time.Second, term.LoopEnded{
			Loop: "brisk-otter", Progress: "1 of 2 tasks done, 1 needs you", Outcome: "stuck", ExitCode: 13, Reason: "every way of trying US-003 failed", Duration: 24060 * s, Waited: 7800 * s,
			Iterations: 21, Commits: 1, Branch: "pawl/brisk-otter", Tokens: 2_140_000, CostUSD: 7.31,
			Tasks: []term.Tally{
				{Result: "proven", Tasks: []string{"US-001", "US-002"}, Note: "a test failed before and passes now"},
				{Result: "skipped", Tasks: []string{"US-003"}, Each: []string{"US-003 Session expiry: TestExpiry still fails"}},
			},
			LeftAlone: []string{"notes.txt", "drafts/one.txt"},
			Look:      []string{"~/.local/state/pawl/loops/brisk-otter-7f3a", "git diff main...pawl/brisk-otter"},
			Next:      []string{"pawl report", "pawl run plan.md"},
		}},
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("-want +got (go test ./internal/term -update accepts it):\n%s", diff)
	}
}

func TestStoryInEachMode(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]term.Options{
		"plain":       {Mode: term.Plain},
		"plain-color": {Mode: term.Plain, Color: true},
		"json":        {Mode: term.JSON},
		"quiet":       {Mode: term.Quiet},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				o.Out, o.Zone = &out, time.UTC
				p := term.New(o)
				for _, step := range evening(time.Now()) {
					time.Sleep(step.after)
					p.Print(step.event)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				golden(t, filepath.Join("testdata", name+".txt"), out.String())
			})
		})
	}
}

// TestLiveScreenAfterEachStep checks the content of the screen after each step.
func TestLiveScreenAfterEachStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scr := newScreen(t, 100)
		p := term.New(term.Options{Out: scr, Mode: term.Live, Zone: time.UTC, Color: true, Size: func() (int, int) { return scr.cols, 40 }})
		var film strings.Builder
		for i, step := range evening(time.Now()) {
			time.Sleep(step.after)
			p.Print(step.event)
			time.Sleep(200 * time.Millisecond)
			if i == 4 || i == 8 || i == 11 || i == 13 {
				fmt.Fprintf(&film, "=== after %T\n%s", step.event, scr)
			}
		}
		if scr.hidden {
			t.Error("the cursor is still hidden after the end")
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&film, "=== at the end\n%s", scr)
		golden(t, filepath.Join("testdata", "live.txt"), film.String())
	})
}

func begin(t *testing.T, scr *screen, rows int) term.Printer {
	t.Helper()
	p := term.New(term.Options{Out: scr, Mode: term.Live, Zone: time.UTC, Size: func() (int, int) { return scr.cols, rows }})
	p.Print(term.LoopStarted{Loop: "l", Source: "p", Agent: "a"})
	p.Print(term.TaskStarted{ID: "1", Title: "one", Index: 1, Total: 1})
	return p
}

func TestLiveClocksRunByThemselves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scr := newScreen(t, 100)
		p := begin(t, scr, 40)
		defer p.Close()
		p.Print(term.Waiting{Until: time.Now().Add(90 * time.Second), Reason: "usage limit"})
		time.Sleep(30*time.Second + 500*time.Millisecond)
		if got := scr.String(); !strings.Contains(got, "continues in 1m00s · usage limit") {
			t.Errorf("no countdown:\n%s", got)
		}
		time.Sleep(70 * time.Second)
		if got := scr.String(); !strings.Contains(got, "continues now") || !strings.Contains(got, "1m40s") {
			t.Errorf("countdown over:\n%s", got)
		}
	})
}

func TestLiveDrawsTenTimesASecondAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scr := newScreen(t, 100)
		p := begin(t, scr, 40)
		defer p.Close()
		before := scr.writes
		for i := range 2000 {
			time.Sleep(time.Millisecond)
			p.Print(term.TurnActivity{Iteration: 1, Doing: fmt.Sprint("step ", i)})
		}
		time.Sleep(200 * time.Millisecond)
		if n := scr.writes - before; n > 23 {
			t.Errorf("%d redraws in two seconds", n)
		}
		if !strings.Contains(scr.String(), "step 1999") {
			t.Errorf("the last step is not shown:\n%s", scr)
		}
	})
}

func TestLiveSurvivesResizing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scr := newScreen(t, 100)
		p := begin(t, scr, 40)
		defer p.Close()
		time.Sleep(50 * time.Millisecond) // between two ticks: a terminal that is resized during a drawing keeps a row of it
		for i, cols := range []int{100, 40, 20, 7, 1, 2, 60, 120} {
			scr.resize(cols)
			p.Print(term.TurnActivity{Iteration: i + 1, Doing: "編集 " + strings.Repeat("日本", 20), ContextPercent: 50})
			time.Sleep(time.Second)
			got := scr.String()
			if n := strings.Count(got, "●"); n > 1 {
				t.Fatalf("%d blocks at %d columns:\n%s", n, cols, got)
			}
		}
		if !strings.Contains(scr.String(), "iteration 8 · 編集") {
			t.Errorf("the block is lost:\n%s", scr)
		}
	})
}

func TestLiveFitsALowTerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scr := newScreen(t, 60)
		p := begin(t, scr, 2)
		defer p.Close()
		time.Sleep(2 * time.Second)
		if got := scr.String(); strings.Contains(got, "tokens") || !strings.Contains(got, "●") {
			t.Errorf("block in two rows:\n%s", got)
		}
	})
}

// A process that is stopped (Ctrl-Z) or killed cannot show the cursor again.
func TestPanicLeavesNoBlockAndTheCursor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scr := newScreen(t, 100)
		func() {
			defer func() { _ = recover() }()
			p := begin(t, scr, 40)
			defer p.Close()
			time.Sleep(time.Second)
			if scr.hidden {
				t.Error("the cursor is hidden")
			}
			panic("x")
		}()
		if scr.hidden || strings.Contains(scr.String(), "●") {
			t.Errorf("left behind:\n%s", scr)
		}
	})
}

func TestLivePrintsOnlyLinesInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scr := newScreen(t, 60)
		away := false
		p := term.New(term.Options{Out: scr, Mode: term.Live, Zone: time.UTC, InBackground: func() bool { return away }})
		defer p.Close()
		p.Print(term.LoopStarted{Loop: "x", Open: 1})
		time.Sleep(2 * time.Second)
		away = true // as by Ctrl-Z and bg
		_, _ = scr.Write([]byte("\n$ prompt"))
		before := scr.writes
		time.Sleep(5 * time.Second)
		if got := scr.String(); scr.writes > before || !strings.Contains(got, "$ prompt") {
			t.Errorf("%d writes over the shell's line:\n%s", scr.writes-before, got)
		}
		p.Print(term.Note{Text: "a line"})
		if got := scr.String(); !strings.Contains(got, "a line") || !strings.Contains(got, "$ prompt") {
			t.Errorf("in the background:\n%s", got)
		}
		away = false
		time.Sleep(2 * time.Second)
		if got := scr.String(); strings.Count(got, "●") != 2 || !strings.Contains(got, "$ prompt") {
			t.Errorf("in the foreground again, below the block from before:\n%s", got)
		}
	})
}

func TestCloseTwiceAndPrintAfter(t *testing.T) {
	t.Parallel()
	scr := newScreen(t, 100)
	p := term.New(term.Options{Out: scr, Mode: term.Live})
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	p.Print(term.Note{Text: "late"})
	if scr.writes > 0 {
		t.Errorf("wrote after closing:\n%s", scr)
	}
}

func TestHostileTextIsCleaned(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b[2J\x1b]0;title\x07b\u202ec\u200b\n\x00\x9b31md\u2028\xff"
	for _, e := range []term.Event{
		term.LoopStarted{Loop: evil, Source: evil, Agent: evil, AgentVersion: evil, Branch: evil, From: evil, Open: 1, Resumed: true, Gates: []term.Gate{{evil, "c"}}, Sandbox: []string{evil, evil}},
		term.TaskStarted{ID: evil, Title: evil},
		term.TurnActivity{Doing: evil, Iteration: 1},
		term.GateFinished{Gate: evil, Summary: evil},
		term.ClaimRefused{ID: evil, Title: evil, Reason: evil},
		term.TaskEnded{ID: evil, Title: evil, Result: evil, Evidence: evil, Commit: evil},
		term.Waiting{Reason: evil},
		term.Note{Text: evil},
		term.LoopEnded{
			Loop: evil, Progress: evil, Outcome: evil, Reason: evil, Branch: evil, Commits: 1, Look: []string{evil}, Next: []string{evil},
			Tasks: []term.Tally{{evil, []string{evil}, []string{evil}, evil}, {evil, []string{evil}, nil, evil}},
		},
	} {
		for _, mode := range []term.Mode{term.Plain, term.JSON} {
			var out bytes.Buffer
			term.New(term.Options{Out: &out, Mode: mode}).Print(e)
			_, activity := e.(term.TurnActivity)
			shown := out.Len() > 0 || mode == term.Plain && activity
			if strings.ContainsAny(out.String(), "\x1b\x07\x00\u202e\u200b\u009b\u2028") || !shown {
				t.Errorf("mode %d, %T: %q", mode, e, out.String())
			}
		}
	}
}

func TestErrorsSpeakInOneVoice(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	term.Error(&out, nil)
	term.Error(&out, errors.New("plain"))
	term.Error(&out, failure.New(failure.Usage, "commit or stash them", "the work tree is dirty (\x1b[31ma.go)\nand more"))
	term.Warnf(&out, "no gate: the outcome can only be %s", "unverified")
	want := "pawl: error: plain\npawl: error: the work tree is dirty (a.go)\n  and more\n" +
		"pawl: hint: commit or stash them\npawl: warning: no gate: the outcome can only be unverified\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestModeForEachTerminal(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := []term.Mode{term.ModeFor(f, false, false, false), term.ModeFor(f, true, true, false), term.ModeFor(f, false, true, false)}
	if diff := cmp.Diff([]term.Mode{term.Plain, term.JSON, term.Quiet}, got); diff != "" {
		t.Error(diff)
	}
	if c, r := term.SizeOf(f)(); c != 0 || r != 0 {
		t.Errorf("a file has a size: %d × %d", c, r)
	}
}

func TestAnEventThatIsNoJSONIsDropped(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := term.New(term.Options{Out: &out, Mode: term.JSON})
	p.Print(term.TurnActivity{CostUSD: math.NaN()})
	p.Print(term.Note{Level: term.Info, Text: "x"})
	var one map[string]any
	if err := json.Unmarshal(out.Bytes(), &one); err != nil || one["event"] != "note" {
		t.Errorf("%q: %v", out.String(), err)
	}
}

func TestTheEndSaysHowLongMutationTestingTook(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]term.LoopEnded{
		"ended VERIFIED after 44s (19s of it mutation testing)":                      {Duration: term.Span(44 * time.Second), Tested: term.Span(19 * time.Second)},
		"ended VERIFIED after 1m04s (20s of it waiting, 19s of it mutation testing)": {Duration: term.Span(64 * time.Second), Waited: term.Span(20 * time.Second), Tested: term.Span(19 * time.Second)},
	} {
		var out strings.Builder
		p := term.New(term.Options{Out: &out, Mode: term.Quiet})
		e.Loop, e.Outcome = "brisk-otter", "verified"
		p.Print(e)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nwant %s", out.String(), want)
		}
	}
}
