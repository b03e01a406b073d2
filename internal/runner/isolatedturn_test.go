package runner_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// beginIsolatedLoop returns a verify loop in a session whose own attempts have failed. The next one
// is isolated, by an agent that plays the script.
func beginIsolatedLoop(t *testing.T, script string, more map[string]any, is *record.Isolation) *sessionLoop {
	t.Helper()
	st := beginIsolatedLoopWith(t, more, func(s *record.Spec) { s.Isolation = is })
	st.agent = st.scriptedAgent(script)
	return st
}

// beginIsolatedLoopWith does the same with a changed specification and no agent.
func beginIsolatedLoopWith(t *testing.T, more map[string]any, change func(*record.Spec)) *sessionLoop {
	t.Helper()
	b := newBench(t, words)
	flags := map[string]any{"protect": []string{"check.sh"}}
	maps.Copy(flags, more)
	q := launch.SessionRequest{Request: launch.Request{Flags: flags}, Verify: "sh check.sh"}
	st, p := b.prepareInSession(&q)
	p.Spec.Policy.Isolate = true
	change(&p.Spec)
	a, err := p.BeginInSession(t.Context(), launch.SessionOptions{Session: q.Session, Observer: logObserver{t}, GateTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	st.loop, st.s = a.Loop, a.Memory.State
	for i := range 2 {
		st.editAsAgent("notes.txt", strings.Repeat("thinking\n", i+1))
		st.endTurn(loop.Turn{ContextPercent: 40})
	}
	st.editAsAgent("notes.txt", "at a loss\n")
	st.journalEvent(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, ContextPercent: 40}}})
	return st
}

// memory returns the loop's memory from its journal.
func (st *sessionLoop) memory() memory.Memory {
	st.t.Helper()
	m, _, err := record.Load(st.loop)
	if err != nil {
		st.t.Fatal(err)
	}
	return m
}

func TestFifthAttemptInIsolationPasses(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, `
-- 1/files/notes.txt --
still at a loss
-- 1/context --
90
-- 1/reply --
<promise>DONE</promise>
-- 2/files/have.txt --
one
two
-- 2/reply --
There it is.
`, nil, nil)
	if st.runDriver(); st.s.Outcome != loop.Verified || st.s.Iteration != 5 {
		t.Fatalf("%s %s in iteration %d: %s", st.s.Phase, st.s.Outcome, st.s.Iteration, st.s.Reason)
	}
	st.checkHistoryUnchanged()
	if try := st.s.Isolated; try.Rounds != 3 || try.Usage.CostUSD != 0.02 || try.Died != "" || st.s.ContextPercent != 40 || !st.s.InSession {
		t.Errorf("%+v, context %d", *try, st.s.ContextPercent)
	}
	if m := st.memory(); m.Session != (memory.Session{}) {
		t.Errorf("the user's session is taken for %+v", m.Session)
	}
	second := st.file("iterations", "0005", "isolated.md")
	for _, want := range []string{"have every word", "sh check.sh", "missing two", "iteration 4", "$1.00 left", "5 min of time left"} {
		if !strings.Contains(second, want) {
			t.Errorf("the second try was not told %q:\n%s", want, second)
		}
	}
	if strings.Contains(second, "person may type") {
		t.Error("the second try is told that a user is there")
	}
}

func TestUnstartableIsolatedAttemptFallsBackToSession(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, "", nil, nil)
	st.agent = &flakyAgent{Agent: st.agent, fails: 1}
	if st.runDriver(); st.s.Phase != loop.Turning || st.s.Iteration != 4 || !st.s.Handover.IsolationFailed {
		t.Fatalf("%s in iteration %d", st.s.Phase, st.s.Iteration)
	}
	if told := st.prompt(); !strings.Contains(told, "the client is being updated") || !strings.Contains(told, "missing two") {
		t.Errorf("told\n%s", told)
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurn(loop.Turn{}); st.s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", st.s.Outcome, st.s.Reason)
	}
}

// boundsRecorder keeps the limits of a turn and the options of its session.
type boundsRecorder struct {
	agent.Agent
	o    agent.Options
	turn agent.Turn
}

type boundsRecordingSession struct {
	agent.Session
	b *boundsRecorder
}

func (b *boundsRecorder) Start(ctx context.Context, o agent.Options) (agent.Session, error) {
	b.o = o
	s, err := b.Agent.Start(ctx, o)
	return boundsRecordingSession{s, b}, err
}

func (s boundsRecordingSession) Turn(ctx context.Context, t agent.Turn, emit func(agent.Event)) (agent.Result, error) {
	s.b.turn = t
	return s.Session.Turn(ctx, t, emit)
}

func TestIsolatedAttemptHasLimits(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, "-- 1/failure --\nover_budget the turn has cost $0.31 of $0.30\n-- 1/files/have.txt --\none\ntwo\n", nil,
		&record.Isolation{MaxCostUSD: 0.3, Timeout: time.Minute})
	b := &boundsRecorder{Agent: st.agent}
	st.agent = b
	if st.runDriver(); st.s.Outcome != loop.Verified || !strings.Contains(st.s.Isolated.Died, "$0.31") {
		t.Fatalf("%s: %s %+v", st.s.Outcome, st.s.Reason, st.s.Isolated)
	}
	if b.turn.MaxCostUSD != 0.3 || b.turn.Timeout != time.Minute || b.o.Marker != st.loop.ID || b.o.Resume != "" {
		t.Errorf("%+v, %+v", b.turn, b.o)
	}
}

func TestIsolatedAttemptMaySpendRemainingBudget(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoopWith(t, nil, func(s *record.Spec) { s.Policy.Limits.CostUSD = 0.25 })
	b := &boundsRecorder{Agent: st.scriptedAgent("-- 1/cost --\n0.1\n-- 2/cost --\n0.2\n")}
	st.agent = b
	if st.runDriver(); st.s.Outcome != loop.Budget || st.s.Iteration != 5 || b.turn.MaxCostUSD != 0.15 || b.turn.Timeout != 5*time.Minute {
		t.Fatalf("%s in iteration %d: %s; the last was bounded by %+v", st.s.Outcome, st.s.Iteration, st.s.Reason, b.turn)
	}
}

func TestTimedOutIsolatedAttemptIsGatedAndRetried(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, "-- 1/sleep --\n1m\n", map[string]any{"max_iterations": "5"}, &record.Isolation{Timeout: 100 * time.Millisecond})
	if st.runDriver(); st.s.Outcome != loop.Iterations || st.s.Iteration != 5 || !strings.Contains(st.s.Isolated.Died, "too long") {
		t.Fatalf("%s in iteration %d: %+v", st.s.Outcome, st.s.Iteration, st.s.Isolated)
	}
}

// Changes of an isolated attempt are the agent's, even if the user has a turn at the same time.
func TestProtectedFileChangesOfIsolatedAttemptAreAgentEdits(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, `
`+weakened+`-- 1/run --
true
-- 2/files/check.bak --
`+gateScript+`-- 2/files/fix.sh --
mv check.bak check.sh
-- 2/run --
sh fix.sh
-- 2/files/have.txt --
one
two
`, nil, nil)
	from := st.toolCallsSize()
	beside := &onCommand{logObserver: logObserver{t}, then: func() { st.recordCalls(authorship.Call{UserTurn: true, From: from}) }}
	s, err := st.runDriverWith(t.Context(), beside)
	if err != nil || s.Outcome != loop.Verified || s.Violations != 1 {
		t.Fatalf("%s with %d violations: %s %v", s.Outcome, s.Violations, s.Reason, err)
	}
}

func TestTimeLimitEndsIsolatedAttempt(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, "-- 1/sleep --\n1m\n", map[string]any{"max_duration": "20s"}, nil)
	if st.runDriver(); st.s.Outcome != loop.Duration || st.s.Iteration != 4 {
		t.Fatalf("%s in iteration %d: %s", st.s.Outcome, st.s.Iteration, st.s.Reason)
	}
}

func TestTimeLimitReachedWithoutDriverEndsIsolatedAttempt(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, "-- 1/sleep --\n1m\n", map[string]any{"max_duration": "20s"}, nil)
	ctx, kill := context.WithCancel(t.Context())
	if _, err := st.runDriverWith(ctx, &onPhase{logObserver: logObserver{t}, at: loop.TurningIsolated, then: kill}); err == nil {
		t.Fatalf("not killed: %s", st.s.Phase)
	}
	time.Sleep(time.Until(st.s.StartedAt.Add(20 * time.Second)))
	if st.runDriver(); st.s.Outcome != loop.Duration || st.s.Iteration != 4 {
		t.Fatalf("%s in iteration %d: %s", st.s.Outcome, st.s.Iteration, st.s.Reason)
	}
}

// onPhase calls a function when the loop reaches a phase.
type onPhase struct {
	logObserver
	at   loop.Phase
	then func()
}

func (w *onPhase) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if s.Phase == w.at {
		w.then()
	}
}

func TestStopEndsIsolatedAttempt(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, "-- 1/sleep --\n1m\n", nil, nil)
	s, err := st.runDriverWith(t.Context(), &onPhase{logObserver: logObserver{t}, at: loop.TurningIsolated, then: func() { st.sendMessage(record.MessageStop, "") }})
	if err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %v", s.Outcome, err)
	}
}

func TestStopWithoutDriverStartsNoIsolatedAttempt(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoop(t, "-- 1/sleep --\n1m\n", nil, nil)
	ctx, kill := context.WithCancel(t.Context())
	if _, err := st.runDriverWith(ctx, &onPhase{logObserver: logObserver{t}, at: loop.TurningIsolated, then: kill}); err == nil {
		t.Fatalf("not killed: %s", st.s.Phase)
	}
	st.sendMessage(record.MessageStop, "")
	b := &boundsRecorder{Agent: &flakyAgent{Agent: st.agent, fails: 100}}
	st.agent = b
	if st.runDriver(); st.s.Outcome != loop.CancelledEnd || b.o.Marker != "" {
		t.Fatalf("%s, begun for %q", st.s.Outcome, b.o.Marker)
	}
}
