package runner_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/scripted"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
)

// scriptedAgent returns an agent that plays a script over all of its sessions.
func (b *bench) scriptedAgent(script string) agent.Agent {
	b.t.Helper()
	s, err := scripted.Parse([]byte(script))
	if err != nil {
		b.t.Fatal(err)
	}
	return scripted.Agent{Script: s, Counter: filepath.Join(b.t.TempDir(), "turns")}
}

// requestWithHandover returns a request for a loop that may continue in fresh sessions.
func requestWithHandover(more map[string]any) launch.SessionRequest {
	q := requestWithGate(more)
	q.Handover = true
	return q
}

// fillContext ends a turn that leaves the session's context almost full.
func (st *sessionLoop) fillContext() loop.State {
	st.t.Helper()
	return st.endTurn(loop.Turn{ContextPercent: 95})
}

// runAfterHandoverWith takes the loop as a runner and drives it, as `pawl session run` does.
func (st *sessionLoop) runAfterHandoverWith(ctx context.Context, a agent.Agent, o runner.Observer) (loop.State, error) {
	st.t.Helper()
	d, err := launch.Resume(ctx, st.loop, st.env, launch.ResumeOptions{})
	if err != nil {
		st.t.Fatal(err)
	}
	d.Agent = a
	st.s, err = st.drive(ctx, d, o)
	return st.s, err
}

func (st *sessionLoop) runAfterHandover(a agent.Agent, o runner.Observer) loop.State {
	st.t.Helper()
	s, err := st.runAfterHandoverWith(st.t.Context(), a, o)
	if err != nil {
		st.t.Fatal(err)
	}
	return s
}

// takeIntoAnotherSession brings the loop into another session.
func (st *sessionLoop) takeIntoAnotherSession(o runner.Observer) {
	st.t.Helper()
	a, err := launch.TakeIntoSession(st.t.Context(), st.loop, st.env, launch.SessionOptions{
		Session: launch.UserSession{Session: "7a2d"}, Observer: o, GateTimeout: time.Hour,
	})
	if err != nil {
		st.t.Fatal(err)
	}
	st.s = a.Memory.State
}

func TestHandoverFromSessionToRunnerToSession(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	st.write("staged.txt", "the user's\n")
	st.git("add", "staged.txt")
	if st.fillContext(); st.s.Phase != loop.HandingOver || !st.s.InSession {
		t.Fatalf("%s", st.s.Phase)
	}
	before := st.countRecords()
	if st.runDriver(); st.countRecords() != before {
		t.Error("who waits for the runner journals")
	}
	taken := &messageSender{logObserver: logObserver{t}, b: st.bench, at: loop.KindHandedOver, send: []record.Message{{Kind: record.MessageToSession}}}
	st.runAfterHandover(st.scriptedAgent("-- 1/sleep --\n60s\n"), taken)
	if st.s.Phase != loop.HandingOver || st.s.Handover.To != loop.OwnerSession || st.s.Iteration != 2 {
		t.Fatalf("%s to %q in iteration %d", st.s.Phase, st.s.Handover.To, st.s.Iteration)
	}
	if prompt := st.file("iterations", "0002", "prompt.md"); !strings.Contains(prompt, "have every word") || strings.Contains(prompt, "person may type") {
		t.Errorf("the runner's agent was told\n%s", prompt)
	}
	st.takeIntoAnotherSession(logObserver{t})
	if st.s.Phase != loop.Turning || !st.s.InSession || st.s.Iteration != 2 || !strings.Contains(st.prompt(), "have every word") {
		t.Fatalf("%s in iteration %d, told\n%s", st.s.Phase, st.s.Iteration, st.prompt())
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurnWithClaim(); st.s.Outcome != loop.Verified || st.s.Iteration != 2 {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if n := st.countOwners(); n != 3 {
		t.Errorf("%d owners", n)
	}
	if got := st.git("diff", "--cached", "--name-only"); got != "staged.txt" {
		t.Errorf("in the index: %s", got)
	}
}

// Changes in the session after its loop has left are no violation. Its hooks may still record them
// for a while, but they are the user's.
func TestEditsOfSessionAfterHandoverAreUserEdits(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	st.fillContext()
	left := &onStep{logObserver: logObserver{t}, at: loop.KindHandedOver, then: func() { st.editAsAgent("check.sh", "# looser\nexit 0\n") }}
	st.runAfterHandover(st.scriptedAgent("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"), left)
	got, err := os.ReadFile(filepath.Join(st.root, "check.sh"))
	if err != nil || st.s.Violations != 0 || !strings.HasPrefix(string(got), "# looser") {
		t.Errorf("%d violations, check.sh has %q, %v", st.s.Violations, got, err)
	}
}

// The work tree of a session's loop belongs to the user, whoever drives the loop: nothing is
// committed, staged or stashed, and no branch is switched.
func TestRunnerAfterHandoverLeavesWorkTreeAndBranch(t *testing.T) {
	t.Parallel()
	files := map[string]string{"notes.txt": "one\n"}
	maps.Copy(files, words)
	st := beginInSession(t, files, requestWithHandover(nil))
	st.git("checkout", "-q", "--detach")
	st.write("notes.txt", "two\n")
	st.git("add", "notes.txt")
	st.write("mine.txt", "mine\n")
	head := st.git("rev-parse", "HEAD")
	st.fillContext()
	st.runAfterHandover(st.scriptedAgent(`
-- 1/run --
git switch -q -c mine && git switch -q --detach
-- 1/files/have.txt --
one
-- 1/reply --
<promise>DONE</promise>
-- 2/files/have.txt --
one
two
-- 2/reply --
<promise>DONE</promise>
`), logObserver{t})
	if st.s.Outcome != loop.Verified || st.s.Tasks[0].Commit != "" {
		t.Fatalf("%s: %s (%+v)", st.s.Outcome, st.s.Reason, st.s.Tasks)
	}
	if got := st.git("status", "--porcelain"); got != "M have.txt\nM  notes.txt\n?? mine.txt" {
		t.Errorf("the tree:\n%s", got)
	}
	if now := st.git("rev-parse", "HEAD"); now != head || st.git("branch", "--show-current") != "" || st.git("stash", "list") != "" {
		t.Errorf("HEAD at %s, was at %s", now, head)
	}
}

// Whichever owner is killed during a handover, the next one reaches the same end, and no iteration is
// lost or counted twice.
func TestHandoverSurvivesKilledOwners(t *testing.T) {
	t.Parallel()
	const script = "-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"
	for _, at := range []loop.EventKind{loop.KindHandedOver, loop.KindTurnEnded, loop.KindTreeInspected, loop.KindGatesFinished, loop.KindCommitted} {
		t.Run(string(at), func(t *testing.T) {
			st := beginInSession(t, words, requestWithHandover(nil))
			st.fillContext()
			a := st.scriptedAgent(script)
			ctx, kill := context.WithCancel(t.Context())
			if _, err := st.runAfterHandoverWith(ctx, a, &onStep{logObserver: logObserver{t}, at: at, then: kill}); err == nil && st.s.Phase != loop.Ended {
				t.Fatalf("not killed: %s", st.s.Phase)
			}
			if st.s.Phase != loop.Ended {
				st.runAfterHandover(a, logObserver{t})
			}
			if st.s.Outcome != loop.Verified || st.s.Iteration != 2 {
				t.Fatalf("%s in iteration %d: %s", st.s.Outcome, st.s.Iteration, st.s.Reason)
			}
			st.checkHistoryUnchanged()
		})
	}
}

func TestTakeoverBySessionSurvivesKills(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	st.fillContext()
	ctx, kill := context.WithCancel(t.Context())
	if _, err := st.runAfterHandoverWith(ctx, st.scriptedAgent("-- 1/sleep --\n60s\n"), &onStep{logObserver: logObserver{t}, at: loop.KindHandedOver, then: kill}); err == nil {
		t.Fatal("not killed")
	}
	st.takeIntoAnotherSession(logObserver{t}) // from a runner that was killed during a turn
	if st.s.Phase != loop.Turning || !st.s.InSession || st.s.Iteration != 2 {
		t.Fatalf("%s in iteration %d", st.s.Phase, st.s.Iteration)
	}
	// A loop that was offered to a session, but not taken, stays with the owner that resumes it.
	st.fillContext()
	taken := &messageSender{logObserver: logObserver{t}, b: st.bench, at: loop.KindHandedOver, send: []record.Message{{Kind: record.MessageToSession}}}
	if st.runAfterHandover(st.scriptedAgent("-- 1/sleep --\n60s\n"), taken); st.s.Phase != loop.HandingOver {
		t.Fatalf("%s", st.s.Phase)
	}
	before := st.countRecords()
	if st.runDriver(); st.countRecords() != before {
		t.Error("a session that was not told to has taken it")
	}
	st.runAfterHandover(st.scriptedAgent("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"), logObserver{t})
	if st.s.Outcome != loop.Verified || st.s.Iteration != 3 {
		t.Fatalf("%s in iteration %d: %s", st.s.Outcome, st.s.Iteration, st.s.Reason)
	}
}

func TestLoopWithoutTakerStaysInItsSession(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	st.fillContext()
	d, err := launch.Rejoin(t.Context(), st.loop, st.env, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	d.FirstEvent = loop.Event{Payload: loop.HandedOver{To: loop.OwnerSession, Failed: true, Why: "there is no client"}}
	if _, err := d.RunInSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if st.runDriver(); st.s.Phase != loop.Turning || !st.s.InSession || !st.s.Handover.Failed || st.s.Iteration != 2 {
		t.Fatalf("%s in iteration %d", st.s.Phase, st.s.Iteration)
	}
	st.prompt()
}

func TestDriverOfHandedOverLoopDoesNothing(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	st.fillContext()
	ctx, kill := context.WithCancel(t.Context())
	if _, err := st.runAfterHandoverWith(ctx, st.scriptedAgent("-- 1/sleep --\n60s\n"), &onStep{logObserver: logObserver{t}, at: loop.KindHandedOver, then: kill}); err == nil {
		t.Fatal("not killed")
	}
	st.sendMessage(record.MessageNote, "for the runner")
	before := st.countRecords()
	if st.runDriver(); st.countRecords() != before || st.s.InSession || !st.loop.HasMessages() {
		t.Errorf("%d records, were %d", st.countRecords(), before)
	}
}

// A pause that was requested before the next turn applies to whichever owner has that turn.
func TestPauseRequestSurvivesHandover(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	st.sendMessage(record.MessagePause, "")
	st.runDriver()
	rests := &messageSender{logObserver: logObserver{t}, b: st.bench, at: loop.KindHandedOver, send: []record.Message{{Kind: record.MessageStop}}}
	if st.runAfterHandover(st.scriptedAgent(""), rests); st.s.Outcome != loop.CancelledEnd || st.s.Turns != 0 {
		t.Fatalf("%s after %d turns", st.s.Outcome, st.s.Turns)
	}
	// Resuming a paused loop means to continue it.
	st = beginInSession(t, words, requestWithHandover(nil))
	st.sendMessage(record.MessagePause, "")
	st.runDriver()
	if st.endTurn(loop.Turn{}); st.s.Phase != loop.Paused {
		t.Fatalf("%s", st.s.Phase)
	}
	st.runAfterHandover(st.scriptedAgent("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"), logObserver{t})
	if st.s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", st.s.Outcome, st.s.Reason)
	}
}

// A loop that was handed over waits for its branch as it does in the session.
func TestRunnerAfterHandoverWaitsForBranch(t *testing.T) {
	t.Parallel()
	q := requestWithHandover(nil)
	q.Commit = true
	st := beginInSession(t, words, q)
	st.fillContext()
	st.git("checkout", "-q", "--detach")
	w := &onStep{logObserver: logObserver{t}, at: loop.KindFaulted}
	w.then = func() {
		st.git("switch", "-q", "main")
		st.sendMessage(record.MessageResume, "")
	}
	st.runAfterHandover(st.scriptedAgent("-- 1+/files/have.txt --\none\ntwo\n-- 1+/reply --\n<promise>DONE</promise>\n"), w)
	if st.s.Outcome != loop.Verified || st.git("log", "-1", "--format=%s", "main") != "feat: have every word" {
		t.Errorf("%s: %s (%s)", st.s.Outcome, st.s.Reason, st.git("log", "-1", "--format=%s"))
	}
}
