package runner_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// clockSetter changes the machine's clock once, when the loop reaches a phase.
type clockSetter struct {
	logObserver
	at loop.Phase
	by time.Duration

	set atomic.Int64
}

func (w *clockSetter) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if s.Phase == w.at {
		w.set.Store(int64(w.by))
	}
}

func (w *clockSetter) now() time.Time { return time.Now().Add(time.Duration(w.set.Load())) }

// The machine's clock changes while the loop waits or the agent works. No wait and no limit becomes
// longer, and the work is kept.
func TestClockChangesProlongNoWaitOrLimit(t *testing.T) {
	t.Parallel()
	const (
		day     = 24 * time.Hour
		patient = "-- 1/failure --\nusage_limit 100ms You've hit your limit\n-- 2/files/have.txt --\none\ntwo\n-- 2/reply --\n<promise>DONE</promise>\n"
		slow    = "-- 1/files/have.txt --\none\ntwo\n-- 1/sleep --\n5m\n-- 1/reply --\n<promise>DONE</promise>\n"
		partly  = "-- 1/files/have.txt --\none\n-- 1/reply --\nmore to do\n"
	)
	for name, tt := range map[string]struct {
		script string
		at     loop.Phase
		by     time.Duration
		limit  string
		want   loop.Outcome
		commit string
	}{
		"an hour back in a wait":         {patient, loop.Waiting, -time.Hour, "10m", loop.Verified, "1"},
		"a day ahead in a wait":          {patient, loop.Waiting, day, "10m", loop.Verified, "1"},
		"an hour back in a turn":         {haveAll, loop.Turning, -time.Hour, "10m", loop.Verified, "1"},
		"a day ahead in a turn":          {haveAll, loop.Turning, day, "48h", loop.Verified, "1"},
		"a day ahead, and a claim":       {haveAll, loop.Inspecting, day, "10m", loop.Verified, "1"},
		"a day ahead, and no claim":      {partly, loop.Turning, day, "10m", loop.Duration, "0"},
		"an hour back before the limit":  {slow, loop.Turning, -time.Hour, "1s", loop.Duration, "0"},
		"an hour back before the claim":  {haveAll, loop.Judging, -time.Hour, "10m", loop.Verified, "1"},
		"an hour back before the commit": {haveAll, loop.Committing, -time.Hour, "10m", loop.Verified, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, words)
			d := b.begin(tt.script, []string{"have every word"}, withGate(map[string]any{"max_duration": tt.limit, "max_iterations": "3"}))
			w := &clockSetter{logObserver: logObserver{t}, at: tt.at, by: tt.by}
			d.MachineClock = w.now
			began := time.Now()
			s, err := b.drive(t.Context(), d, w)
			if err != nil || s.Outcome != tt.want {
				t.Fatalf("%s: %s, %v; want %s", s.Outcome, s.Reason, err, tt.want)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
			if most := max(tt.by, 0) + time.Minute; s.Elapsed() < 0 || s.Elapsed() > most {
				t.Errorf("the loop took %s by its own time, at most %s expected", s.Elapsed(), most)
			}
			if got := b.git("rev-list", "--count", "main..HEAD"); got != tt.commit {
				t.Errorf("%s commits, want %s", got, tt.commit)
			}
			if got := b.git("status", "--porcelain"); tt.want == loop.Verified && got != "" {
				t.Errorf("left in the tree: %s", got)
			}
		})
	}
}
