package term_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/term"
)

// A log has a line for each permanent event. Activity within a turn gets one only after a long time
// without a line, and then after ever longer intervals. The first one comes soon.
func TestPlainStatusLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := term.New(term.Options{Out: &out, Mode: term.Plain, Zone: time.UTC})
		p.Print(term.TaskStarted{ID: "1", Title: "one", Index: 1, Total: 1})
		for _, doing := range []string{"running the gates before the work", "gate test"} {
			p.Print(term.TurnActivity{Iteration: 1, Doing: doing})
		}
		time.Sleep(3 * time.Second)
		for _, doing := range []string{"thinking", "editing a.go"} {
			p.Print(term.TurnActivity{Iteration: 1, Doing: doing})
		}
		time.Sleep(75*time.Minute - 3*time.Second)
		p.Print(term.Note{Text: "said"})
		time.Sleep(11 * time.Minute)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		var got []string
		for l := range strings.Lines(out.String()) {
			got = append(got, strings.Join(strings.Fields(l), " "))
		}
		want := []string{
			"00:00:00 ● 1/1 1 one started",
			"00:00:02 ● 1/1 1 one iteration 1 · 2s · gate test",
			"00:10:02 ● 1/1 1 one iteration 1 · 10m02s · editing a.go",
			"00:30:02 ● 1/1 1 one iteration 1 · 30m02s · editing a.go",
			"01:10:02 ● 1/1 1 one iteration 1 · 1h10m · editing a.go",
			"01:15:00 note said",
			"01:25:00 ● 1/1 1 one iteration 1 · 1h25m · editing a.go",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// After a gate has run on the work, the log soon says that it runs again for evidence.
func TestPlainStatusAfterGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := term.New(term.Options{Out: &out, Mode: term.Plain, Zone: time.UTC})
		p.Print(term.TaskStarted{ID: "1", Title: "one", Index: 1, Total: 1})
		p.Print(term.GateFinished{Gate: "test", Result: "pass"})
		p.Print(term.TurnActivity{Iteration: 1, Doing: "gate test, once more to be sure"})
		time.Sleep(90 * time.Second)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if got := out.String(); !strings.Contains(got, "00:01:00  ") || !strings.Contains(got, "gate test, once more to be sure") {
			t.Errorf("%q", got)
		}
	})
}
