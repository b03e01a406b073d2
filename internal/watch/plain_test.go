package watch

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/record"
)

// plainly runs Plain in synthetic time, and returns what it printed. Each step changes
// what is there before the next second.
func plainly(t *testing.T, s *double, o Options, steps ...func()) (out string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		left := errors.New("ctrl-c")
		var b bytes.Buffer
		o.Out = &b
		ended := make(chan error)
		go func() { ended <- Plain(ctx, s, o) }()
		synctest.Wait()
		for _, step := range steps {
			s.mu.Lock()
			step()
			s.mu.Unlock()
			time.Sleep(refreshInterval)
			synctest.Wait()
		}
		cancel(left)
		if err := <-ended; !errors.Is(err, left) {
			t.Errorf("it ended with %v", err)
		}
		out = b.String()
	})
	return out
}

// in2000 makes the loops those of a time at which synthetic time begins.
func in2000(loops []record.Summary) []record.Summary {
	back := now.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	for i := range loops {
		l := &loops[i]
		l.StartedAt, l.CreatedAt = l.StartedAt.Add(-back), l.CreatedAt.Add(-back)
		if !l.EndedAt.IsZero() {
			l.EndedAt = l.EndedAt.Add(-back)
		}
	}
	return loops
}

// The overview comes in its three groups, then a line for each event, and for a loop that
// came or that needs its user. Nothing moves the cursor or has a color.
func TestPlainOverviewHasALinePerEvent(t *testing.T) {
	t.Parallel()
	s := &double{loops: in2000(loops())}
	got := plainly(t, s, Options{},
		func() {
			s.news = map[string][]string{"brisk-otter-7f3a": {"22:15:05  gate x: \x1b[31mfail\n", "          at once\n"}}
		},
		func() { s.loops[0].State = "orphaned" },
		func() { s.err = errors.New("read loops: permission denied") },
		func() {},
		func() { s.err = nil })
	want := `pawl watch: 2 need you · 1 working · 2 ended
NEEDS YOU
lost-moth-33cc: orphaned, 0/1 done, cost $1.25, started 40m ago: make the flaky upload test stable
calm-heron-11aa: unverified, 3/3 done, cost $1.25, ended 2h ago: add the log-out
WORKING
brisk-otter-7f3a: running, 2/10 done, cost $1.25, started 5m ago: plans/shop.md
ENDED
quiet-lynx-22bb: verified, 4/4 done, cost $1.25, ended 26h ago: export as CSV
old-badger-0001: stuck, 1/4 done, cost $1.25, ended 9d ago: an old one
brisk-otter-7f3a  22:15:05  gate x: fail
brisk-otter-7f3a            at once
NEEDS YOU now: brisk-otter-7f3a: orphaned, 2/10 done, cost $1.25, started 5m ago: plans/shop.md
! read loops: permission denied
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// One loop: how it stands, its limits, its plan; then its history as it grows.
func TestPlainLoopShowsPlanAndHistory(t *testing.T) {
	t.Parallel()
	s := &double{detail: detail()}
	got := plainly(t, s, Options{ID: "brisk-otter-7f3a", ASCII: true}, func() {
		s.news = map[string][]string{"brisk-otter-7f3a": {"22:15:05  iteration 4 starts\n"}}
	})
	for _, want := range []string{
		"brisk-otter-7f3a: running - iteration 3 of 25 - the agent works\niteration 3 of 25 - ", "\nUS-2  sessions expire", ": in progress, open",
		"no server here\n22:15:05  iteration 4 starts\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// One loop that has ended: how it ended, and no wait for what will not come.
func TestPlainEndedLoop(t *testing.T) {
	t.Parallel()
	ended := detail()
	ended.Summary.State, ended.Summary.Reason = "ended", "task 2 failed"
	s := &double{detail: ended}
	var b bytes.Buffer
	if err := Plain(t.Context(), s, Options{ID: "brisk-otter-7f3a", Out: &b}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasSuffix(got, "\nwhy: task 2 failed\npawl report brisk-otter-7f3a shows what was done\n") {
		t.Errorf("printed:\n%s", got)
	}
}

// One loop that ends while it is watched.
func TestPlainEndsWithItsLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &double{detail: detail()}
		var b bytes.Buffer
		left := make(chan error)
		go func() { left <- Plain(t.Context(), s, Options{ID: "brisk-otter-7f3a", Out: &b}) }()
		synctest.Wait()
		s.mu.Lock()
		s.detail.Summary.State = "ended"
		s.news = map[string][]string{"brisk-otter-7f3a": {"22:15:05  the loop ends verified\n"}}
		s.mu.Unlock()
		if err := <-left; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if got := b.String(); !strings.HasSuffix(got, "22:15:05  the loop ends verified\npawl report brisk-otter-7f3a shows what was done\n") {
			t.Errorf("printed:\n%s", got)
		}
	})
}

// frames counts what a screen draws.
type frames struct{ writes, bytes, cleared int }

func (f *frames) Write(b []byte) (int, error) {
	f.writes++
	f.bytes += len(b)
	f.cleared += bytes.Count(b, []byte("\x1b[2J"))
	return len(b), nil
}

// busy is a loop with 50 events a second.
type busy struct {
	double
	began time.Time
}

func (b *busy) Loop(string) (Detail, error) {
	d := detail()
	d.Lines = nil
	for i := range int(time.Since(b.began) / (20 * time.Millisecond)) {
		d.Lines = append(d.Lines, Line{Text: "22:00:00  event " + strings.Repeat("x", i%50)})
	}
	return d, nil
}

// At 50 events a second the screen is drawn as often as it is read, not once an event, and
// it is never cleared in between: it does not flicker.
func TestScreenIsDrawnOncePerRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const seconds = 10
		ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
		defer cancel()
		drawn := &frames{}
		s := &busy{began: time.Now()}
		p := newProgram(ctx, s, Options{Out: drawn, ID: "brisk-otter-7f3a", Env: []string{"TERM=xterm-256color"}}, tea.WithoutSignalHandler(), tea.WithWindowSize(120, 30))
		_, _ = p.Run()
		time.Sleep(2 * refreshInterval) // a tick that began with the end waits for its time
		const most = 2*seconds + 6      // a frame for the clock, one for what was read, and those of begin and end
		if drawn.writes > most || drawn.writes < seconds {
			t.Errorf("%d writes in %d seconds, want %d at most", drawn.writes, seconds, most)
		}
		if limit := most * 120 * 30; drawn.bytes > limit || drawn.bytes < 1000 {
			t.Errorf("%d bytes, want %d at most", drawn.bytes, limit)
		}
		if drawn.cleared > 2 {
			t.Errorf("the screen was cleared %d times", drawn.cleared)
		}
		t.Logf("%d writes, %d bytes, cleared %d times", drawn.writes, drawn.bytes, drawn.cleared)
	})
}
