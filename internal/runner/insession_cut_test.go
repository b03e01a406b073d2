package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// A drive process that dies at any step of a verified claim is replaced by the
// next one, which comes to the same end.
func TestADriveThatIsKilledIsReplaced(t *testing.T) {
	t.Parallel()
	for _, at := range []loop.EventKind{loop.KindTreeInspected, loop.KindGatesFinished, loop.KindCommitted} {
		t.Run(string(at), func(t *testing.T) {
			st := sit(t, words, gated(nil))
			st.edits("have.txt", "one\ntwo\n")
			st.hook(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}})
			ctx, kill := context.WithCancel(t.Context())
			if _, err := st.driven(ctx, &onStep{teller: teller{t}, at: at, then: kill}); err == nil && st.s.Phase != loop.Ended {
				t.Fatalf("not killed: %s", st.s.Phase)
			}
			if st.runInSession(); st.s.Outcome != loop.Verified {
				t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
			}
			st.untouched()
			if n := st.owners(); n != 1 {
				t.Errorf("owners: %d", n)
			}
		})
	}
}

// owners counts who took the loop.
func (st *sitting) owners() (n int) {
	st.t.Helper()
	for r, err := range st.loop.Records(journal.Mark{}) {
		if err != nil {
			st.t.Fatal(err)
		}
		if r.Type == store.TypeOwnerTaken {
			n++
		}
	}
	return n
}

func TestAPromptThatWasNotWrittenIs(t *testing.T) {
	t.Parallel()
	st := sit(t, words, gated(nil))
	m, _, err := record.Load(st.loop)
	if err != nil {
		t.Fatal(err)
	}
	was := st.told()
	if err := os.Remove(record.PromptPath(st.loop, m)); err != nil {
		t.Fatal(err)
	}
	if st.runInSession(); st.told() != was {
		t.Errorf("written again:\n%s", st.told())
	}
	before := st.records()
	if st.runInSession(); st.records() != before {
		t.Error("a drive with nothing to do journals")
	}
}

// records is how much stands in the journal.
func (st *sitting) records() int {
	st.t.Helper()
	return strings.Count(st.file("journal.jsonl"), "\n")
}

func TestMessagesReachALoopInASession(t *testing.T) {
	t.Parallel()
	st := sit(t, words, gated(nil))
	st.post(record.MessageNote, "look at want.txt")
	st.post(record.MessagePause, "")
	if st.runInSession(); st.s.Phase != loop.Turning {
		t.Fatalf("%s: a pause cut the turn off", st.s.Phase)
	}
	if st.turn(loop.Turn{}); st.s.Phase != loop.Paused {
		t.Fatalf("not paused but %s", st.s.Phase)
	}
	st.post(record.MessageResume, "")
	if st.runInSession(); st.s.Phase != loop.Turning || !strings.Contains(st.told(), "The user says: look at want.txt") {
		t.Fatalf("%s, told\n%s", st.s.Phase, st.told())
	}
	st.post(record.MessageStop, "")
	if st.runInSession(); st.s.Outcome != loop.CancelledEnd {
		t.Fatalf("stopped in mid-turn: %s", st.s.Phase)
	}
	st.untouched()
}

func TestAWaitIsLeftToTheSession(t *testing.T) {
	t.Parallel()
	st := sit(t, words, gated(nil))
	st.hook(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{
		Class: loop.UsageLimit, Message: "limit reached", Until: time.Now().Add(100 * time.Millisecond),
	}}})
	if st.runInSession(); st.s.Phase != loop.Waiting {
		t.Fatalf("not waiting but %s", st.s.Phase)
	}
	time.Sleep(2500 * time.Millisecond)
	if st.runInSession(); st.s.Phase != loop.Turning || st.s.Iteration != 1 || !strings.Contains(st.told(), "continues after an interruption") {
		t.Fatalf("%s in iteration %d, told\n%s", st.s.Phase, st.s.Iteration, st.told())
	}
}

func TestAWaitForTheGatesIsNotLeftToTheSession(t *testing.T) {
	t.Parallel()
	q := gated(nil)
	b := newBench(t, words)
	st, p := b.prepareToSit(&q)
	l, err := store.Open(b.env.PawlHome).Create(b.root, p.Spec)
	if err != nil {
		t.Fatal(err)
	}
	o, err := l.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	st.loop = l
	for i, e := range []loop.Event{
		{Payload: loop.Started{Policy: p.Spec.Policy, Tasks: p.Spec.Tasks}},
		{Payload: loop.Checkpointed{Tree: b.git("rev-parse", "HEAD^{tree}")}},
		{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: loop.ForBaseline, Status: gate.Fail}}},
		{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}},
		{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}},
		{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: loop.ForClaim, Status: gate.Unknown, Reason: "killed"}}},
	} {
		e.At = time.Now().Add(-9*time.Second + time.Duration(i)*time.Millisecond) // the wait is ten seconds
		st.hook(e)
	}
	st.edits("have.txt", "one\ntwo\n")
	if st.runInSession(); st.s.Refusals != 1 { // green, and no baseline that could tell
		t.Fatalf("%s %s: the gates were not run again", st.s.Phase, st.s.Outcome)
	}
}

func TestTheTimeLimitOfASessionWaitsForTheTurn(t *testing.T) {
	t.Parallel()
	st := sit(t, words, gated(map[string]any{"max_duration": "1ms"}))
	if st.s.Phase != loop.Ended { // it had passed before the first turn
		t.Fatalf("%s after the limit", st.s.Phase)
	}
	const limit = 20 * time.Second // the baseline takes seconds on a loaded machine
	st = sit(t, words, gated(map[string]any{"max_duration": limit.String()}))
	time.Sleep(time.Until(st.s.StartedAt.Add(limit)))
	if st.runInSession(); st.s.Phase != loop.Turning {
		t.Fatalf("cut off: %s", st.s.Phase)
	}
	st.edits("have.txt", "one\ntwo\n")
	if st.turn(loop.Turn{}); st.s.Outcome != loop.Duration || !st.s.Gates.Green {
		t.Fatalf("%s %s, green %v", st.s.Phase, st.s.Outcome, st.s.Gates.Green)
	}
}

func TestALoopWithoutGitInASession(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	if err := os.RemoveAll(filepath.Join(b.root, ".git")); err != nil {
		t.Fatal(err)
	}
	st := b.sit(gated(nil))
	if !st.spec().Shadow || !strings.Contains(st.told(), "commits nothing") {
		t.Errorf("told:\n%s", st.told())
	}
	st.edits("have.txt", "one\ntwo\n")
	if st.claims(); st.s.Outcome != loop.Verified || st.s.Tasks[0].Evidence != gate.Proven {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if _, err := os.Lstat(filepath.Join(b.root, ".git")); err == nil {
		t.Error("a repository was made in the user's folder")
	}
}

// spec is what was asked of the loop.
func (st *sitting) spec() record.Spec {
	st.t.Helper()
	s, err := record.ReadSpec(st.loop)
	if err != nil {
		st.t.Fatal(err)
	}
	return s
}
