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

// scripted is an agent that plays a script over all of its sessions.
func (b *bench) scripted(script string) agent.Agent {
	b.t.Helper()
	s, err := scripted.Parse([]byte(script))
	if err != nil {
		b.t.Fatal(err)
	}
	return scripted.Agent{Script: s, Counter: filepath.Join(b.t.TempDir(), "turns")}
}

// handover is a loop that may continue in fresh sessions.
func handover(more map[string]any) launch.SessionRequest {
	q := gated(more)
	q.Handover = true
	return q
}

// full ends a turn with which the session's context is as good as full.
func (st *sitting) full() loop.State {
	st.t.Helper()
	return st.turn(loop.Turn{ContextPercent: 95})
}

// given is the runner's part: it takes the loop, as `pawl session run` does.
func (st *sitting) given(ctx context.Context, a agent.Agent, o runner.Observer) (loop.State, error) {
	st.t.Helper()
	d, err := launch.Resume(ctx, st.loop, st.env, launch.ResumeOptions{})
	if err != nil {
		st.t.Fatal(err)
	}
	d.Agent = a
	st.s, err = st.drive(ctx, d, o)
	return st.s, err
}

func (st *sitting) runs(a agent.Agent, o runner.Observer) loop.State {
	st.t.Helper()
	s, err := st.given(st.t.Context(), a, o)
	if err != nil {
		st.t.Fatal(err)
	}
	return s
}

// takes brings the loop into another session.
func (st *sitting) takes(o runner.Observer) {
	st.t.Helper()
	a, err := launch.TakeIntoSession(st.t.Context(), st.loop, st.env, launch.SessionOptions{
		Session: launch.UserSession{Session: "7a2d"}, Observer: o, GateTimeout: time.Minute,
	})
	if err != nil {
		st.t.Fatal(err)
	}
	st.s = a.Memory.State
}

func TestALoopGoesFromItsSessionToARunnerAndIntoAnother(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	st.write("staged.txt", "the user's\n")
	st.git("add", "staged.txt")
	if st.full(); st.s.Phase != loop.HandingOver || !st.s.InSession {
		t.Fatalf("%s", st.s.Phase)
	}
	before := st.records()
	if st.runInSession(); st.records() != before {
		t.Error("who waits for the runner journals")
	}
	taken := &sender{teller: teller{t}, b: st.bench, at: loop.KindHandedOver, send: []record.Message{{Kind: record.MessageToSession}}}
	st.runs(st.scripted("-- 1/sleep --\n60s\n"), taken)
	if st.s.Phase != loop.HandingOver || st.s.Handover.To != loop.OwnerSession || st.s.Iteration != 2 {
		t.Fatalf("%s to %q in iteration %d", st.s.Phase, st.s.Handover.To, st.s.Iteration)
	}
	if prompt := st.file("iterations", "0002", "prompt.md"); !strings.Contains(prompt, "have every word") || strings.Contains(prompt, "person may type") {
		t.Errorf("the runner's agent was told\n%s", prompt)
	}
	st.takes(teller{t})
	if st.s.Phase != loop.Turning || !st.s.InSession || st.s.Iteration != 2 || !strings.Contains(st.told(), "have every word") {
		t.Fatalf("%s in iteration %d, told\n%s", st.s.Phase, st.s.Iteration, st.told())
	}
	st.edits("have.txt", "one\ntwo\n")
	if st.claims(); st.s.Outcome != loop.Verified || st.s.Iteration != 2 {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if n := st.owners(); n != 3 {
		t.Errorf("%d owners", n)
	}
	if got := st.git("diff", "--cached", "--name-only"); got != "staged.txt" {
		t.Errorf("in the index: %s", got)
	}
}

// What the session does after its loop has left is nobody's violation: its hooks may
// write it down for a while, and it is the user's.
func TestWhatTheSessionDoesAfterwardsIsNotTheLoops(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	st.full()
	left := &onStep{teller: teller{t}, at: loop.KindHandedOver, then: func() { st.edits("check.sh", "# looser\nexit 0\n") }}
	st.runs(st.scripted("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"), left)
	got, err := os.ReadFile(filepath.Join(st.root, "check.sh"))
	if err != nil || st.s.Violations != 0 || !strings.HasPrefix(string(got), "# looser") {
		t.Errorf("%d violations, check.sh has %q, %v", st.s.Violations, got, err)
	}
}

// The work tree of a session's loop is the user's, whoever drives: nothing is
// committed, staged or stashed, and no branch is switched.
func TestARunnerLeavesTheUsersTreeAsItIs(t *testing.T) {
	t.Parallel()
	files := map[string]string{"notes.txt": "one\n"}
	maps.Copy(files, words)
	st := sit(t, files, handover(nil))
	st.git("checkout", "-q", "--detach")
	st.write("notes.txt", "two\n")
	st.git("add", "notes.txt")
	st.write("mine.txt", "mine\n")
	head := st.git("rev-parse", "HEAD")
	st.full()
	st.runs(st.scripted(`
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
`), teller{t})
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

// Whoever is killed on the way, the next one comes to the same end, and no
// iteration is lost or counted twice.
func TestAHandOverSurvivesKills(t *testing.T) {
	t.Parallel()
	const script = "-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"
	for _, at := range []loop.EventKind{loop.KindHandedOver, loop.KindTurnEnded, loop.KindTreeInspected, loop.KindGatesFinished, loop.KindCommitted} {
		t.Run(string(at), func(t *testing.T) {
			st := sit(t, words, handover(nil))
			st.full()
			a := st.scripted(script)
			ctx, kill := context.WithCancel(t.Context())
			if _, err := st.given(ctx, a, &onStep{teller: teller{t}, at: at, then: kill}); err == nil && st.s.Phase != loop.Ended {
				t.Fatalf("not killed: %s", st.s.Phase)
			}
			if st.s.Phase != loop.Ended {
				st.runs(a, teller{t})
			}
			if st.s.Outcome != loop.Verified || st.s.Iteration != 2 {
				t.Fatalf("%s in iteration %d: %s", st.s.Outcome, st.s.Iteration, st.s.Reason)
			}
			st.untouched()
		})
	}
}

func TestTakingSurvivesKills(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	st.full()
	ctx, kill := context.WithCancel(t.Context())
	if _, err := st.given(ctx, st.scripted("-- 1/sleep --\n60s\n"), &onStep{teller: teller{t}, at: loop.KindHandedOver, then: kill}); err == nil {
		t.Fatal("not killed")
	}
	st.takes(teller{t}) // from a runner that is gone, in mid-turn
	if st.s.Phase != loop.Turning || !st.s.InSession || st.s.Iteration != 2 {
		t.Fatalf("%s in iteration %d", st.s.Phase, st.s.Iteration)
	}
	// What was left for a session to take, and is not, stays with who takes it up.
	st.full()
	taken := &sender{teller: teller{t}, b: st.bench, at: loop.KindHandedOver, send: []record.Message{{Kind: record.MessageToSession}}}
	if st.runs(st.scripted("-- 1/sleep --\n60s\n"), taken); st.s.Phase != loop.HandingOver {
		t.Fatalf("%s", st.s.Phase)
	}
	before := st.records()
	if st.runInSession(); st.records() != before {
		t.Error("a session that was not told to has taken it")
	}
	st.runs(st.scripted("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"), teller{t})
	if st.s.Outcome != loop.Verified || st.s.Iteration != 3 {
		t.Fatalf("%s in iteration %d: %s", st.s.Outcome, st.s.Iteration, st.s.Reason)
	}
}

func TestALoopThatNobodyTakesStaysInItsSession(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	st.full()
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
	if st.runInSession(); st.s.Phase != loop.Turning || !st.s.InSession || !st.s.Handover.Failed || st.s.Iteration != 2 {
		t.Fatalf("%s in iteration %d", st.s.Phase, st.s.Iteration)
	}
	st.told()
}

func TestAnEvictedSessionLeavesTheLoopAlone(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	st.full()
	ctx, kill := context.WithCancel(t.Context())
	if _, err := st.given(ctx, st.scripted("-- 1/sleep --\n60s\n"), &onStep{teller: teller{t}, at: loop.KindHandedOver, then: kill}); err == nil {
		t.Fatal("not killed")
	}
	st.post(record.MessageNote, "for the runner")
	before := st.records()
	if st.runInSession(); st.records() != before || st.s.InSession || !st.loop.HasMessages() {
		t.Errorf("%d records, were %d", st.records(), before)
	}
}

// A user who wants the loop to rest before its next turn is heard by whoever
// has it then.
func TestAPauseOutlivesAHandOver(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	st.post(record.MessagePause, "")
	st.runInSession()
	rests := &sender{teller: teller{t}, b: st.bench, at: loop.KindHandedOver, send: []record.Message{{Kind: record.MessageStop}}}
	if st.runs(st.scripted(""), rests); st.s.Outcome != loop.CancelledEnd || st.s.Turns != 0 {
		t.Fatalf("%s after %d turns", st.s.Outcome, st.s.Turns)
	}
	// But who takes up a loop that rests wants it to continue.
	st = sit(t, words, handover(nil))
	st.post(record.MessagePause, "")
	st.runInSession()
	if st.turn(loop.Turn{}); st.s.Phase != loop.Paused {
		t.Fatalf("%s", st.s.Phase)
	}
	st.runs(st.scripted("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"), teller{t})
	if st.s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", st.s.Outcome, st.s.Reason)
	}
}
