package claude

import (
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A turn is at rest by the rule that stands at type turn.
func TestTurnEndsAtRest(t *testing.T) {
	t.Parallel()
	end := time.Unix(1_000_000, 0)
	after := end.Add
	server := []task{{ID: "b1", Description: "the server"}}
	plain := func(t *turn) {}
	cases := []struct {
		name  string
		given func(*turn)
		from  time.Time // at rest from then on; zero: never
	}{
		{"a result", plain, end},
		{"no result yet", func(t *turn) { t.result = nil }, time.Time{}},
		{"at work again", func(t *turn) { t.busy = true }, time.Time{}},
		{"another message queued", func(t *turn) { t.result.QueuedTurns = 1 }, time.Time{}},
		{"background work has ended", func(t *turn) { t.hadTasks = true }, after(wakeGrace)},
		{"background work runs", func(t *turn) { t.hadTasks, t.tasks = true, server }, after(10 * time.Minute)},
		{"it was waited for before", func(t *turn) { t.tasks = server; t.waited["b1"] = true }, end},
		{"it runs, but the message is final", func(t *turn) {
			t.tasks, t.text = server, "DONE"
			t.opts.Final = func(text string) bool { return text == "DONE" }
		}, end},
		{"it runs, and the message is not", func(t *turn) {
			t.tasks, t.text = server, "started"
			t.opts.Final = func(text string) bool { return text == "DONE" }
		}, after(10 * time.Minute)},
	}
	for _, c := range cases {
		tn := &turn{
			session: &session{stream: stream{waited: map[string]bool{}}},
			opts:    agent.Turn{BackgroundWait: 10 * time.Minute},
			begun:   end.Add(-time.Minute), sign: end, result: &line{}, resultAt: end,
		}
		c.given(tn)
		if c.from.IsZero() {
			if tn.atRest(after(time.Hour)) {
				t.Errorf("%s: at rest", c.name)
			}
			continue
		}
		if !tn.atRest(c.from) || tn.atRest(c.from.Add(-time.Millisecond)) && c.from.After(end) {
			t.Errorf("%s: not at rest just from %v on", c.name, c.from.Sub(end))
		}
		if c.from.After(end) && !tn.nextCheck().Equal(c.from) {
			t.Errorf("%s: wakes after %v, want %v", c.name, tn.nextCheck().Sub(end), c.from.Sub(end))
		}
	}
}

func TestDueWorkIsDone(t *testing.T) {
	t.Parallel()
	begun := time.Unix(1_000_000, 0)
	at := begun.Add
	fresh := func() *turn {
		return &turn{
			session: &session{stream: stream{busy: true}}, begun: begun, sign: begun, tools: map[string]calledTool{},
			opts: agent.Turn{Timeout: time.Hour, IdleTimeout: 10 * time.Minute},
		}
	}
	silent := fresh()
	if got := silent.nextCheck(); !got.Equal(at(10 * time.Minute)) {
		t.Errorf("wakes at %v", got)
	}
	if silent.check(at(9 * time.Minute)); silent.failure != nil {
		t.Errorf("too early: %+v", silent.failure)
	}
	if silent.check(at(10 * time.Minute)); silent.failure == nil || silent.failure.Class != loop.Silent {
		t.Errorf("not silent: %+v", silent.failure)
	}
	working := fresh()
	working.tools["t1"] = calledTool{name: "Bash"} // a long build says nothing
	if working.check(at(50 * time.Minute)); working.failure != nil {
		t.Errorf("silent in a tool: %+v", working.failure)
	}
	if working.check(at(time.Hour)); working.failure == nil || working.failure.Class != loop.TimedOut {
		t.Errorf("not timed out: %+v", working.failure)
	}
}

// The count of a response may come late; that of a dropped one never comes.
func TestCostCountIsAwaited(t *testing.T) {
	t.Parallel()
	tn := &turn{bill: costCheck{counted: map[string]bool{}, held: []line{{}}}}
	tn.bill.expect(message{ID: "m1", Usage: intake{Input: 100}})
	tn.bill.expect(message{ID: "m1", Usage: intake{Input: 100}}) // its second block
	tn.bill.expect(message{ID: "m2", Usage: intake{CacheRead: 50}})
	if !tn.isTooEarly(loop.Usage{Input: 100}) {
		t.Error("the second response is not awaited")
	}
	if tn.isTooEarly(loop.Usage{Input: 100, CacheRead: 50}) {
		t.Error("awaited though all is counted")
	}
	tn.bill.expect(message{ID: "dropped", Usage: intake{Input: 7}})
	tries := 0
	for tn.isTooEarly(loop.Usage{Input: 150}) {
		if tries++; tries > 2*billRetries {
			t.Fatal("awaits a dropped response for ever")
		}
	}
	if tn.isTooEarly(loop.Usage{Input: 150}) {
		t.Error("awaits the dropped response again")
	}
}

func TestEnvironmentOfASessionInsideASession(t *testing.T) {
	for _, name := range sessionVars() {
		t.Setenv(name, "outer")
	}
	t.Setenv("CLAUDE_CODE_USE_BEDROCK", "1")
	env := environ(map[string]string{"ADDED": "x"})
	for _, name := range sessionVars() {
		if slices.Contains(env, name+"=outer") {
			t.Errorf("%s is passed on", name)
		}
	}
	for _, want := range []string{"CLAUDE_CODE_USE_BEDROCK=1", "ADDED=x"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestArgumentsOfTheClient(t *testing.T) {
	t.Parallel()
	got := Agent{}.argv(agent.Options{Resume: "id", Model: "m", Args: []string{"--betas", "x"}})
	if got[0] != "claude" || !slices.Equal(got[len(got)-6:], []string{"--resume", "id", "--model", "m", "--betas", "x"}) {
		t.Errorf("argv %q", got)
	}
	if (Agent{}).Name() != "claude" {
		t.Error("name")
	}
}
