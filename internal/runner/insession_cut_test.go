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

// A driver that is killed at any step of a verified claim is replaced by the next one, which reaches
// the same end.
func TestKilledDriverIsReplaced(t *testing.T) {
	t.Parallel()
	for _, at := range []loop.EventKind{loop.KindTreeInspected, loop.KindGatesFinished, loop.KindCommitted} {
		t.Run(string(at), func(t *testing.T) {
			st := beginInSession(t, words, requestWithGate(nil))
			st.editAsAgent("have.txt", "one\ntwo\n")
			st.journalEvent(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}})
			ctx, kill := context.WithCancel(t.Context())
			if _, err := st.runDriverWith(ctx, &onStep{logObserver: logObserver{t}, at: at, then: kill}); err == nil && st.s.Phase != loop.Ended {
				t.Fatalf("not killed: %s", st.s.Phase)
			}
			if st.runDriver(); st.s.Outcome != loop.Verified {
				t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
			}
			st.checkHistoryUnchanged()
			if n := st.countOwners(); n != 1 {
				t.Errorf("owners: %d", n)
			}
		})
	}
}

// countOwners returns how many owners have taken the loop.
func (st *sessionLoop) countOwners() (n int) {
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

func TestMissingPromptFileIsWritten(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithGate(nil))
	m, _, err := record.Load(st.loop)
	if err != nil {
		t.Fatal(err)
	}
	was := st.prompt()
	if err := os.Remove(record.PromptPath(st.loop, m)); err != nil {
		t.Fatal(err)
	}
	if st.runDriver(); st.prompt() != was {
		t.Errorf("written again:\n%s", st.prompt())
	}
	before := st.countRecords()
	if st.runDriver(); st.countRecords() != before {
		t.Error("a drive with nothing to do journals")
	}
}

// countRecords returns the number of records in the journal.
func (st *sessionLoop) countRecords() int {
	st.t.Helper()
	return strings.Count(st.file("journal.jsonl"), "\n")
}

func TestMessagesReachLoopInSession(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithGate(nil))
	st.sendMessage(record.MessageNote, "look at want.txt")
	st.sendMessage(record.MessagePause, "")
	if st.runDriver(); st.s.Phase != loop.Turning {
		t.Fatalf("%s: a pause cut the turn off", st.s.Phase)
	}
	if st.endTurn(loop.Turn{}); st.s.Phase != loop.Paused {
		t.Fatalf("not paused but %s", st.s.Phase)
	}
	st.sendMessage(record.MessageResume, "")
	if st.runDriver(); st.s.Phase != loop.Turning || !strings.Contains(st.prompt(), "The user says: look at want.txt") {
		t.Fatalf("%s, told\n%s", st.s.Phase, st.prompt())
	}
	st.sendMessage(record.MessageStop, "")
	if st.runDriver(); st.s.Outcome != loop.CancelledEnd {
		t.Fatalf("stopped in mid-turn: %s", st.s.Phase)
	}
	st.checkHistoryUnchanged()
}

func TestDriverLeavesWaitToSession(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithGate(nil))
	st.journalEvent(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{
		Class: loop.UsageLimit, Message: "limit reached", Until: time.Now().Add(100 * time.Millisecond),
	}}})
	if st.runDriver(); st.s.Phase != loop.Waiting {
		t.Fatalf("not waiting but %s", st.s.Phase)
	}
	time.Sleep(2500 * time.Millisecond)
	if st.runDriver(); st.s.Phase != loop.Turning || st.s.Iteration != 1 || !strings.Contains(st.prompt(), "continues after an interruption") {
		t.Fatalf("%s in iteration %d, told\n%s", st.s.Phase, st.s.Iteration, st.prompt())
	}
}

func TestDriverWaitsToRetryGates(t *testing.T) {
	t.Parallel()
	q := requestWithGate(nil)
	b := newBench(t, words)
	st, p := b.prepareInSession(&q)
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
		st.journalEvent(e)
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.runDriver(); st.s.Refusals != 1 { // the gates pass, and without a baseline nothing is proven
		t.Fatalf("%s %s: the gates were not run again", st.s.Phase, st.s.Outcome)
	}
}

func TestTimeLimitInSessionWaitsForTurnEnd(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithGate(map[string]any{"max_duration": "1ms"}))
	if st.s.Phase != loop.Ended { // the limit had passed before the first turn
		t.Fatalf("%s after the limit", st.s.Phase)
	}
	const limit = 20 * time.Second // the baseline takes seconds on a loaded machine
	st = beginInSession(t, words, requestWithGate(map[string]any{"max_duration": limit.String()}))
	time.Sleep(time.Until(st.s.StartedAt.Add(limit)))
	if st.runDriver(); st.s.Phase != loop.Turning {
		t.Fatalf("cut off: %s", st.s.Phase)
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurn(loop.Turn{}); st.s.Outcome != loop.Duration || !st.s.Gates.Green {
		t.Fatalf("%s %s, green %v", st.s.Phase, st.s.Outcome, st.s.Gates.Green)
	}
}

func TestLoopInSessionWithoutGit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	if err := os.RemoveAll(filepath.Join(b.root, ".git")); err != nil {
		t.Fatal(err)
	}
	st := b.beginInSession(requestWithGate(nil))
	if !st.spec().Shadow || !strings.Contains(st.prompt(), "commits nothing") {
		t.Errorf("told:\n%s", st.prompt())
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurnWithClaim(); st.s.Outcome != loop.Verified || st.s.Tasks[0].Evidence != gate.Proven {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if _, err := os.Lstat(filepath.Join(b.root, ".git")); err == nil {
		t.Error("a repository was made in the user's folder")
	}
}

// spec returns the loop's specification.
func (st *sessionLoop) spec() record.Spec {
	st.t.Helper()
	s, err := record.ReadSpec(st.loop)
	if err != nil {
		st.t.Fatal(err)
	}
	return s
}
