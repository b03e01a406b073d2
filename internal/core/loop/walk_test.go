package loop_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

var walkEvents = flag.Int("walk-events", 20_000, "how many events the random walks take in all")

// randomWalk answers the loop's actions at random: the agent lies and crashes, the user types, pauses
// and cancels, and owners die. It keeps separate records to check the invariants.
type randomWalk struct {
	t         *testing.T
	r         *rand.Rand
	s         loop.State
	now       time.Time
	nextEvent *loop.Event // result of the running action

	turnCost       float64     // of the last turn
	passed         *loop.Gates // last gate result, if a claim passed
	finalGreen     bool
	red            bool          // the last gates failed
	reviewed       gate.Status   // what the last review said
	countedTime    time.Duration // time that counts, by the walk's clock
	beforeUserTurn loop.State    // state before a user's turn, which must cost nothing
	events         int
	start          loop.Policy       // as begun
	set            map[string]bool   // fields of payloads that were set
	decided        map[string]string // fields that are not filled in
}

func TestRandomWalksKeepInvariants(t *testing.T) {
	t.Parallel()
	seen, set := map[loop.Outcome]int{}, map[string]bool{}
	seed := uint64(1)
	for total := 0; total < *walkEvents; seed++ {
		w := newRandomWalk(t, seed, set)
		w.run()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		total += w.events
		seen[w.s.Outcome]++
	}
	for _, o := range loop.Outcomes() {
		if seen[o] == 0 {
			t.Errorf("no walk of %d ended %s", seed, o)
		}
	}
	checkFieldsSet(t, set)
	t.Logf("%d walks: %v", seed, seen)
}

func newRandomWalk(t *testing.T, seed uint64, set map[string]bool) *randomWalk {
	w := &randomWalk{t: t, set: set, decided: decidedByWalk(), r: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
	pick := func(ks ...loop.GoalKind) loop.GoalKind { return ks[w.r.IntN(len(ks))] }
	p := loop.Policy{
		Kind: pick(loop.Change, loop.Change, loop.Change, loop.Answer, loop.Explore, loop.Periodic),
		Limits: loop.Limits{
			Iterations: 1 + w.r.IntN(40),
			Duration:   time.Duration(w.r.IntN(3)) * 4 * time.Hour,
			CostUSD:    float64(w.r.IntN(2)) * 20,
			Tokens:     int64(w.r.IntN(2)) * 100_000,
		},
		Session:    []loop.SessionMode{loop.PerTask, loop.PerTurn, loop.Hybrid, loop.Continue}[w.r.IntN(4)],
		HandoverAt: 80, Restore: w.oneIn(2), Gates: !w.oneIn(4), Verify: w.oneIn(4), EveryTurn: w.oneIn(6), InSession: w.oneIn(4),
		Every: time.Minute, Handover: w.oneIn(2), Isolate: !w.oneIn(4), Tries: w.r.IntN(3),
	}
	p.Verify = p.Verify && p.Gates
	p.Reviews = p.Gates && w.oneIn(3)
	p.Approve = w.randomApprovals()
	start := loop.Started{Policy: p}
	w.start = p
	for i := range 1 + w.r.IntN(4) {
		task := loop.Task{ID: fmt.Sprint("t", i), Priority: w.r.IntN(3), Status: loop.Open}
		if i > 0 && w.oneIn(3) {
			task.DependsOn = []string{fmt.Sprint("t", w.r.IntN(i))}
		}
		if w.oneIn(8) {
			task.Status, task.DoneEarlier = loop.Done, true
			w.fill(reflect.ValueOf(&task).Elem())
		}
		if w.oneIn(4) {
			task.Wanted = gate.Unproven
		}
		start.Tasks = append(start.Tasks, task)
	}
	w.feed(loop.Event{Payload: start})
	return w
}

func (w *randomWalk) oneIn(n int) bool { return w.r.IntN(n) == 0 }

func (w *randomWalk) run() {
	for w.s.Phase != loop.Ended && !w.t.Failed() {
		if w.events > 20_000 {
			w.t.Errorf("a loop with limits does not end: %+v", w.s)
			return
		}
		w.sendUnexpectedEvent()
		if w.nextEvent == nil {
			if w.s.Phase == loop.Paused {
				w.advanceClock(time.Hour, false)
				w.feed(loop.Event{Payload: loop.Resumed{}})
			}
			continue
		}
		e := *w.nextEvent
		w.nextEvent = nil
		w.feed(e)
	}
	w.checkEnd()
	w.checkApproveAll()
	if w.oneIn(3) && !w.t.Failed() && slices.ContainsFunc(w.s.Tasks, func(t loop.Task) bool { return t.Status != loop.Done && !t.LeftOut }) || len(w.s.Unread()) > 0 && w.oneIn(2) {
		w.now = w.now.Add(9 * time.Hour)
		w.feed(loop.Event{Payload: loop.Reopened{Limits: w.start.Limits}})
		if w.s.Phase == loop.Ended && w.s.Outcome == "" {
			w.t.Errorf("reopened into nothing: %+v", w.s)
		}
		w.run()
	}
}

func (w *randomWalk) feed(e loop.Event) {
	e.At = w.now
	if w.oneIn(8) {
		e.Payload = w.filled(e.Payload)
	}
	recordFields(reflect.ValueOf(e.Payload), w.set)
	before := w.s
	s, acts := w.step(e)
	w.checkDuplicateEvent(s, e)
	w.s = s
	w.checkStep(before, e, acts)
	for _, a := range acts {
		w.perform(a)
	}
	if s.Phase == loop.Ended || s.Phase == loop.Paused {
		w.nextEvent = nil
	}
}

func (w *randomWalk) perform(a loop.Action) {
	if end := w.actionResult(a.Payload); end != nil {
		if w.oneIn(100) && w.s.Phase.OwnerActs() {
			end = w.filled(loop.Faulted{Error: "it failed"})
		}
		w.nextEvent = &loop.Event{ActionID: w.s.LastAction, Payload: end} // of an Interrupt, the turn
		if _, byUser := end.(loop.Answered); byUser {
			w.nextEvent = &loop.Event{ID: fmt.Sprint("answer-", w.events), Payload: end}
		}
	}
}

// actionResult returns the event that ends an action, or nil.
func (w *randomWalk) actionResult(a loop.ActionPayload) loop.EventPayload {
	switch a := a.(type) {
	case loop.Checkpoint:
		return loop.Checkpointed{Tree: w.randomTree()}
	case loop.RunGates:
		return loop.GatesFinished{Gates: *w.randomGates(a.Purpose)}
	case loop.BeginTurn:
		w.checkBeginTurn(a)
		w.advanceClock(time.Duration(1+w.r.IntN(40))*time.Minute, true)
		end := w.randomTurn()
		if a.Isolated {
			end = asIsolatedTurn(end)
		}
		return end
	case loop.HandOver:
		h := loop.HandedOver{To: a.To}
		if w.oneIn(4) { // whoever has it keeps it, or another of its kind takes it
			h.To = map[loop.Owner]loop.Owner{loop.OwnerRunner: loop.OwnerSession, loop.OwnerSession: loop.OwnerRunner}[a.To]
			h.Failed = w.oneIn(2)
		}
		return h
	case loop.Inspect:
		return loop.TreeInspected{Inspection: *w.inspect(a.Deep)}
	case loop.Commit:
		w.checkCommit(a)
		return loop.Committed{Commit: "c", Tree: w.randomTree()}
	case loop.Restore:
		return loop.Restored{Tree: a.Tree}
	case loop.ReapplyWork:
		return loop.WorkReapplied{Tree: a.Work}
	case loop.EditPlan:
		return w.applyPlanEdits(a.Edits)
	case loop.Wait:
		if a.Until.After(w.now) {
			w.advanceClock(a.Until.Sub(w.now), w.s.AwayFrom.IsZero())
		}
		return w.answerApproval()
	case loop.Interrupt:
		if w.s.Phase == loop.Finishing { // the mutation tests are cut short
			return loop.Concluded{}
		}
		return loop.AgentFailed{Isolated: w.s.Phase == loop.TurningIsolated, Turn: &loop.Turn{ContextPercent: -1}, Failure: loop.Failure{Class: loop.Interrupted}}
	case loop.Finish:
		return loop.Concluded{}
	}
	return nil
}

// asIsolatedTurn is the end of the turn as one in a separate session.
func asIsolatedTurn(end loop.EventPayload) loop.EventPayload {
	switch p := end.(type) {
	case loop.TurnEnded:
		p.Isolated, p.Turn.ByUser = true, false
		return p
	case loop.AgentFailed:
		p.Isolated, p.Turn.ByUser = true, false
		return p
	}
	return end
}

func (w *randomWalk) randomTurn() loop.EventPayload {
	w.turnCost = w.r.Float64()
	t := &loop.Turn{
		Usage: loop.Usage{Input: int64(w.r.IntN(5000)), CostUSD: w.turnCost}, ToolCalls: w.r.IntN(3),
		ContextPercent: w.r.IntN(102) - 1, ByUser: w.oneIn(12), Text: "said",
	}
	if w.oneIn(6) {
		t.Background = []string{fmt.Sprint("server", w.r.IntN(3))}
	}
	switch {
	case t.ByUser:
		w.beforeUserTurn = w.s
	case w.oneIn(8):
		cs := loop.Classes()
		c := cs[w.r.IntN(len(cs))]
		if (c == loop.Login || c == loop.Billing || c == loop.OverBudget) && !w.oneIn(10) {
			c = loop.UsageLimit
		}
		f := &loop.Failure{Class: c, Message: "died", Background: w.oneIn(2)}
		if c == loop.UsageLimit && w.oneIn(2) {
			f.Until = w.now.Add(5 * time.Hour)
		}
		return loop.AgentFailed{Turn: t, Failure: *f}
	case w.oneIn(10):
		t.Claim = &loop.Claim{Blocked: true, Reason: "cannot"}
	case !w.oneIn(3):
		t.Claim = &loop.Claim{NoBehaviourChange: w.oneIn(6), Summary: []string{"", "summary"}[w.r.IntN(2)]}
		if w.oneIn(4) {
			t.Claim.Tasks = []string{"t0", "t1", "nonsense"}
		}
	}
	return loop.TurnEnded{Turn: *t}
}

func (w *randomWalk) inspect(deep bool) *loop.Inspection {
	seen := &loop.Inspection{Changed: !w.oneIn(6), Shallow: !deep, RejectedTests: w.rejectedTests()}
	if w.oneIn(15) {
		seen.Tampered = []string{"check.sh"}
	}
	if w.oneIn(15) {
		seen.TickedByAgent = []string{"t0"}
	}
	return seen
}

func (w *randomWalk) randomGates(p loop.Purpose) *loop.Gates {
	g := &loop.Gates{
		Purpose:    p,
		Tree:       w.randomTree(),
		Reason:     "reason",
		Status:     []gate.Status{gate.Pass, gate.Pass, gate.Pass, gate.Fail, gate.Unknown}[w.r.IntN(5)],
		Failures:   loop.Failures{Fingerprint: fmt.Sprint(w.r.IntN(4))},
		WorkResult: loop.WorkResult{Evidence: []gate.Evidence{gate.Proven, gate.Proven, gate.Unproven, gate.EvidenceUnknown}[w.r.IntN(4)]},
	}
	g.Green = g.Status == gate.Pass && !w.oneIn(4)
	if w.oneIn(10) {
		w.changeTests(g)
	}
	if p == loop.ForReview {
		return w.randomReview(g)
	}
	w.passed = nil
	if p == loop.ForClaim && g.Status == gate.Pass {
		w.passed = g
	}
	w.finalGreen = p == loop.ForFinal && g.Green
	w.red = g.Status != gate.Unknown && !g.Green
	return g
}

// The invariants of each step.

func (w *randomWalk) checkStep(before loop.State, e loop.Event, acts []loop.Action) {
	w.checkApprovals(before, e)
	asks := 0
	for _, a := range acts {
		if a.EndsInEvent() {
			asks++
		}
	}
	if asks > 1 {
		w.t.Errorf("%s while %s asks for %d things at once: %v", e.Kind(), before.Phase, asks, acts)
	}
	w.checkNothingAfterTheEnd(before, e, acts)
	switch w.s.Phase {
	case loop.New, loop.Paused, loop.Ended:
	default:
		if !slices.ContainsFunc(w.s.Pending, func(a loop.Action) bool { return a.EndsInEvent() && a.ID == w.s.LastAction }) {
			w.t.Errorf("%s after %s waits for nothing: %v", w.s.Phase, e.Kind(), w.s.Pending)
		}
	}
	w.checkReview(before, e, acts)
	if n := w.s.Trouble.BranchMoves; n > 4 {
		w.t.Errorf("the gates run for the %dth time because the branch moved", n)
	}
	w.checkQuestions(before, e, acts)
	if w.oneIn(50) {
		if diff := cmp.Diff(w.s, roundTrip(w.t, w.s)); diff != "" {
			w.t.Errorf("the state does not survive JSON: %s", diff)
		}
	}
	if turn, _ := e.Turn(); e.Kind() == loop.KindTurnEnded && turn.ByUser && before.Phase == loop.Turning &&
		(w.s.Iteration != before.Iteration || w.s.Usage != before.Usage || w.s.Turns != before.Turns) {
		w.t.Errorf("a turn of the user cost something: %+v → %+v", before, w.s)
	}
}

func (w *randomWalk) checkBeginTurn(a loop.BeginTurn) {
	switch s := w.s; {
	case a.Isolated && (!s.InSession || !s.Policy.Verify || !s.Policy.Isolate || !a.Fresh):
		w.t.Errorf("an isolated try that nobody asked for: %+v", s)
	case s.InSession && a.Fresh && !a.Isolated:
		w.t.Errorf("a user's session is to have a fresh context: %+v", a)
	case s.InSession && s.Policy.Handover && !s.Handover.Failed && s.ContextPercent >= s.Policy.HandoverAt && !a.Isolated:
		w.t.Errorf("a session with %d %% is not left", s.ContextPercent)
	}
	l := w.s.Policy.Limits
	if a.Iteration > l.Iterations {
		w.t.Errorf("iteration %d of %d begins", a.Iteration, l.Iterations)
	}
	if l.Duration > 0 && w.s.Elapsed() >= l.Duration {
		w.t.Errorf("a turn starts after %s of %s", w.s.Elapsed(), l.Duration)
	}
	if l.CostUSD > 0 && w.s.Usage.CostUSD >= l.CostUSD || l.Tokens > 0 && w.s.Usage.Tokens() >= l.Tokens {
		w.t.Errorf("a turn starts with %+v of %+v spent", w.s.Usage, l)
	}
}

func (w *randomWalk) checkCommit(a loop.Commit) {
	if w.passed == nil || w.passed.Tree != a.Tree {
		w.t.Errorf("commit of %s without a pass of the gates on it (last: %+v)", a.Tree, w.passed)
	}
}

func (w *randomWalk) checkEnd() {
	if l := w.s.Policy.Limits.CostUSD; l > 0 && w.s.Usage.CostUSD > l+w.turnCost {
		w.t.Errorf("cost %.2f overran %.2f by more than the last turn's %.2f", w.s.Usage.CostUSD, l, w.turnCost)
	}
	if got := w.s.Elapsed(); got > w.countedTime {
		w.t.Errorf("%s count against the time limit, only %s were busy", got, w.countedTime)
	}
	if w.red && w.start.Gates && w.s.Outcome == loop.Unverified && slices.ContainsFunc(w.s.Tasks, func(t loop.Task) bool { return t.Status == loop.Unchanged }) {
		w.t.Errorf("unverified with a red gate, and nothing done about it: %+v", w.s)
	}
	if w.s.Outcome != loop.Verified {
		return
	}
	fresh, accepted := false, false
	for _, t := range w.s.Tasks {
		wanted := t.Wanted
		if wanted == "" {
			wanted = gate.Proven
		}
		if leftOut := t.LeftOut && t.ID != loop.FinalTask; !leftOut && (t.Status != loop.Done || !t.DoneEarlier && !t.Accepted && !t.Evidence.Satisfies(wanted)) {
			w.t.Errorf("verified with task %+v", t)
		}
		fresh, accepted = fresh || !t.DoneEarlier && !t.LeftOut, accepted || t.Accepted
	}
	w.checkReviewed()
	w.checkMessagesDelivered()
	gates := w.s.Policy.Gates
	answered := w.s.Policy.Kind == loop.Answer && (gates && w.s.Policy.Reviews || accepted)
	if judged := gates && w.finalGreen || answered || !gates && accepted; !judged || !fresh {
		w.t.Errorf("verified without green gates at the end: %+v", w.s)
	}
}
