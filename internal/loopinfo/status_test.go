package loopinfo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

func TestHeadlineOfEachState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	waits := func(until time.Time) []loop.Action {
		return []loop.Action{{Payload: loop.Note{}}, {Payload: loop.Wait{Until: until, Why: "usage limit: 5 hours"}}}
	}
	cases := []struct {
		name  string
		state loop.State
		dead  bool
		want  string
	}{
		{"working", loop.State{Phase: loop.Turning, Counts: loop.Counts{Iteration: 2}}, false, "running · iteration 2 · the agent works"},
		{"judging", loop.State{Phase: loop.Judging, Counts: loop.Counts{Iteration: 2}}, false, "running · iteration 2 · running the gates"},
		{"created", loop.State{}, false, "running · iteration 0 · starting"},
		{"paused", loop.State{Phase: loop.Paused, Counts: loop.Counts{Iteration: 1}}, false, "paused · iteration 1"},
		{"pausing", loop.State{Phase: loop.Turning, Counts: loop.Counts{Iteration: 1}, Requests: loop.Requests{Pause: true}}, false, "running · iteration 1 · the agent works · pausing after this turn"},
		{"pausing while the gates run", loop.State{Phase: loop.Judging, Counts: loop.Counts{Iteration: 1}, Requests: loop.Requests{Pause: true}}, false, "running · iteration 1 · running the gates · pausing before the next turn"},
		{"paused by a process that is gone", loop.State{Phase: loop.Paused, Counts: loop.Counts{Iteration: 1}}, true, "paused · iteration 1"},
		{
			"waiting",
			loop.State{Phase: loop.Waiting, Pending: waits(now.Add(90 * time.Second)), Counts: loop.Counts{Iteration: 3}},
			false,
			"waiting for another 1m30s (usage limit: 5 hours) · iteration 3",
		},
		{
			"waited",
			loop.State{Phase: loop.Waiting, Pending: waits(now.Add(-time.Second)), Counts: loop.Counts{Iteration: 3}},
			false,
			"waiting any moment now (usage limit: 5 hours) · iteration 3",
		},
		{"waiting, orphaned", loop.State{Phase: loop.Waiting, Counts: loop.Counts{Iteration: 3}}, true, "orphaned: process 7 is gone (iteration 3)"},
		{"handing over", loop.State{Phase: loop.HandingOver, Pending: []loop.Action{{Payload: loop.HandOver{To: loop.OwnerRunner, Why: "the context is 82 % full"}}}, Ownership: loop.Ownership{InSession: true}, Counts: loop.Counts{Iteration: 3}}, true, "running in a session · iteration 3 · handing over to a runner: the context is 82 % full"},
		{"let go of", loop.State{Phase: loop.HandingOver, Pending: []loop.Action{{Payload: loop.HandOver{To: loop.OwnerSession, Why: "a user takes it"}}}, Counts: loop.Counts{Iteration: 3}}, false, "running · iteration 3 · waiting for a session to take the loop: a user takes it"},
		{"ended", loop.State{Phase: loop.Ended, Counts: loop.Counts{Iteration: 1}, End: loop.End{Outcome: loop.Verified}}, true, "ended verified after 1 iteration"},
		{"ended at its limit", loop.State{Phase: loop.Ended, Counts: loop.Counts{Iteration: 3}, End: loop.End{Outcome: loop.Iterations}}, true, "ended iterations: its limit of 3 iterations"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &Loop{Loop: &store.Loop{ID: "x"}, Alive: !c.dead, Driver: store.Holder{PID: 7}}
			s.Memory.State = c.state
			if got := s.Headline(s.Summary(), now); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestHeadlineOfASessionAtItsCap(t *testing.T) {
	t.Parallel()
	s := &Loop{Loop: &store.Loop{ID: "x"}}
	s.Memory.State = loop.State{Phase: loop.Turning, Counts: loop.Counts{Iteration: 9}, Ownership: loop.Ownership{InSession: true}}
	s.Memory.Bound = memory.BoundSession{Session: "12345678-9", Capped: true}
	want := "waiting for you: the client ended the turn · iteration 9 · type anything in session 12345678, or  pawl handover x"
	if got := s.Headline(s.Summary(), time.Now()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEveryPhaseHasWords(t *testing.T) {
	t.Parallel()
	seen := map[string]loop.Phase{}
	for _, p := range loop.Phases() {
		words := narrate.Doing(loop.State{Phase: p})
		if other, ok := seen[words]; ok && words != "starting" {
			t.Errorf("%s and %s are both %q", p, other, words)
		}
		seen[words] = p
	}
}

// If the process of a handover died, the user can continue it.
func TestNextStepsAfterAFailedHandover(t *testing.T) {
	t.Parallel()
	s := &Loop{Loop: &store.Loop{ID: "x"}}
	s.Memory.State = loop.State{Phase: loop.HandingOver, Pending: []loop.Action{{Payload: loop.HandOver{To: loop.OwnerRunner}}}, Ownership: loop.Ownership{InSession: true}}
	if got, want := s.nextSteps("running"), "pawl handover x   pawl resume x   pawl stop x"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.Alive = true
	if got := s.nextSteps("running"); !strings.Contains(got, "--follow") {
		t.Errorf("while somebody does: %s", got)
	}
}

// A loop that left its session is not described as being there.
func TestLoopOutsideItsSessionIsLocated(t *testing.T) {
	t.Parallel()
	s := &Loop{Loop: &store.Loop{ID: "x"}, Alive: true, Driver: store.Holder{PID: 7}}
	s.Memory.State = loop.State{Phase: loop.Turning, Counts: loop.Counts{Iteration: 3}}
	s.Memory.Bound.Session = "0d1f2a3b"
	want := "running in fresh sessions, process 7 · iteration 3 · the agent works"
	if got := s.Headline(s.Summary(), time.Now()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A runner that released its loop for a session is still alive and waits.
func TestLoopWaitsForItsSession(t *testing.T) {
	t.Parallel()
	s := &Loop{Loop: &store.Loop{ID: "x"}, Driver: store.Holder{PID: os.Getpid()}}
	s.Memory.State = loop.State{Phase: loop.HandingOver, Pending: []loop.Action{{Payload: loop.HandOver{To: loop.OwnerSession}}}, Counts: loop.Counts{Iteration: 3}}
	sum := s.Summary()
	want := fmt.Sprintf("waiting for a session to take it; otherwise process %d continues it (iteration 3)", os.Getpid())
	if got := s.Headline(sum, time.Now()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := s.nextSteps(sum.State), "in Claude Code:  ! pawl start --take x   pawl resume x"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The result of an isolated try is shown in full.
func TestLastIsolatedTryIsShown(t *testing.T) {
	t.Parallel()
	try := loop.IsolatedTurn{Iteration: 4, Took: 150 * time.Second, Rounds: 3, Usage: loop.Usage{Input: 2000, CacheRead: 30000, CostUSD: 0.42}}
	want := "iteration 4, in an isolated session: $0.42, 2m30s, 32k tokens (30k from the cache), 3 requests"
	if got := narrate.IsolatedTurn(try); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	try.Died = "the time limit was reached"
	if got := narrate.IsolatedTurn(try); got != want+"; cut off: the time limit was reached" {
		t.Errorf("got  %s", got)
	}
	if got, want := narrate.IsolatedTurn(loop.IsolatedTurn{Iteration: 4}), "iteration 4, in an isolated session: in progress"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStatusOfATaskSetAside(t *testing.T) {
	t.Parallel()
	s := &Loop{Loop: &store.Loop{ID: "x"}, Alive: true}
	s.Memory.State = loop.State{Phase: loop.Turning, Tasks: []loop.Task{{ID: "A", Status: loop.Skipped}, {ID: "B", Title: "Next", Status: loop.Open}}, Work: loop.Work{Current: "B"}}
	s.Memory.State.TestRequests = []loop.TestChangeRequest{{Paths: []string{"a_test.go"}, Why: "it is wrong"}}
	s.Memory.State.Approved = []string{"b_test.go"}
	s.Memory.Results = []gate.Result{{Gate: "lint", Status: gate.Unknown, Reason: "killed"}}
	got := s.Status(t.Context(), time.Now())
	for _, want := range []string{
		"asks      to change a_test.go: it is wrong\n            pawl approve x   or  pawl reject x\n", "approved  the agent may change b_test.go\n",
		"tasks     0 done, 1 open, 1 skipped\n            A: skipped\n            B  Next: in progress, open\n", "gate      lint  unknown: killed\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// A file that is not a test must be named to be approved, and so must a file of one of several
// requests.
func TestAnswersToRequests(t *testing.T) {
	t.Parallel()
	s := &Loop{Loop: &store.Loop{ID: "x"}}
	test, script := loop.TestChangeRequest{Paths: []string{"a_test.go"}}, loop.TestChangeRequest{Paths: []string{"check.sh"}}
	s.Memory.State.TestRequests = []loop.TestChangeRequest{script}
	if got, want := s.approvalCommands(script), "pawl approve x check.sh   or  pawl reject x check.sh"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Memory.State.TestRequests = []loop.TestChangeRequest{script, test}
	s.Memory.State.Phase = loop.Ended // nobody is left to be rejected anything
	if got, want := s.approvalCommands(test), "pawl approve x a_test.go"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestListNamesWhatAUserIsAskedFor(t *testing.T) {
	t.Parallel()
	got := StateOrOutcome(record.Summary{State: "running", Tests: []string{"a"}, Approved: []string{"b"}, Merge: "all"})
	if want := "running, waits for an approval, tests approved, asks you to merge"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// For a long plan, the last done and the next open tasks are listed, with the number of hidden ones.
func TestTasksOfALongPlan(t *testing.T) {
	t.Parallel()
	var st loop.State
	for i := range 100 {
		task := loop.Task{ID: fmt.Sprint(i), Status: loop.Open}
		switch {
		case i == 3:
			task.Status = loop.Skipped
		case i < 50:
			task.Status = loop.Done
		}
		st.Tasks = append(st.Tasks, task)
	}
	lines := taskLines(st, false)
	var firsts []string
	for _, line := range lines {
		firsts = append(firsts, strings.TrimSuffix(strings.Fields(line)[0], ":"))
	}
	want := []string{"…", "3", "…"}
	for i := 30; i < 70; i++ {
		want = append(want, fmt.Sprint(i))
	}
	want = append(want, "…")
	if diff := cmp.Diff(want, firsts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last := lines[len(lines)-1]; last != "… and 30 more" {
		t.Errorf("last line: %s", last)
	}
}

// The error of a failed background process is in its run.log, and nowhere else if the disk was full.
func TestOrphanedTellsTheLastError(t *testing.T) {
	t.Parallel()
	const full = "pawl: error: append to journal: no space left on device\npawl: hint: the work is kept\n"
	for name, c := range map[string]struct {
		log  string
		age  time.Duration
		want string
	}{
		"failed":              {"pawl: warning: x\n" + full, 0, "process 7 failed: append to journal: no space left on device"},
		"killed":              {"pawl: warning: x\n", 0, "process 7 is gone"},
		"killed after a word": {full + "pawl: warning: x\n", 0, "process 7 is gone"},
		"of one before":       {full, time.Hour, "process 7 is gone"},
		"long":                {strings.Repeat("pawl: warning: x\n", 1000) + full, 0, "process 7 failed: append to journal: no space left on device"},
	} {
		dir, now := t.TempDir(), time.Now()
		log := filepath.Join(dir, store.RunnerLog)
		if err := errors.Join(os.WriteFile(log, []byte(c.log), 0o600), os.Chtimes(log, now, now.Add(-c.age))); err != nil {
			t.Fatal(err)
		}
		s := &Loop{Loop: &store.Loop{Dir: dir}, Driver: store.Holder{PID: 7, Since: now.Add(-time.Minute)}}
		if got := s.LastOwner(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A step of a session's loop that failed is told while it is due, and not while a process takes it.
func TestStatusTellsWhyAStepFailed(t *testing.T) {
	t.Parallel()
	const log = "pawl: error: open repository: stat /w: no such file or directory\n"
	for name, c := range map[string]struct {
		phase loop.Phase
		alive bool
		want  string
	}{
		"failed":  {loop.Inspecting, false, "open repository: stat /w: no such file or directory; Pawl tries again when the next turn ends"},
		"at work": {loop.Inspecting, true, ""},
		"not due": {loop.Turning, false, ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, store.DriverLog), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &Loop{Loop: &store.Loop{Dir: dir}, Alive: c.alive}
		s.Memory.State.Phase, s.Memory.State.InSession = c.phase, true
		if got := s.failedStep(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
