package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

const (
	// An edit of the gate is denied at once. What a script of the agent's own does,
	// the guard cannot see; the command that runs the script names the file.
	weakened    = "-- 1/files/loosen.sh --\necho 'exit 0' > \"$1\"\n-- 1/run --\nsh loosen.sh check.sh\n"
	falseClaims = "-- 1/reply --\n<promise>DONE</promise>\n-- 2/reply --\n<promise>DONE</promise>\n"
)

func TestFailedTurnIsInspectedWithNextTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run(weakened+"-- 1/failure --\ncrashed gone\n"+falseClaims, []string{"have every word"},
		withGate(map[string]any{"max_iterations": "2"}))
	if s.Outcome == loop.Verified || s.Violations != 1 {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
}

// onCommand calls a function once, when the agent runs a command.
type onCommand struct {
	logObserver
	only string // that has this in it
	then func()
}

func (w *onCommand) Agent(e agent.Event) {
	w.logObserver.Agent(e)
	if e.Kind == agent.KindTool && e.Tool == "Bash" && strings.Contains(e.Detail, w.only) && w.then != nil {
		w.then()
		w.then = nil
	}
}

func TestTurnOfKilledOwnerIsInspected(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin(weakened+"-- 1/run --\nsleep 30\n", []string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}))
	s, err := b.drive(ctx, d, &onCommand{logObserver: logObserver{t}, only: "sleep", then: kill})
	if err == nil || s.Phase != loop.Turning {
		t.Fatalf("killed while %s: %v", s.Phase, err)
	}
	b.rewrite(falseClaims)
	s = b.resume(logObserver{t})
	if s.Outcome == loop.Verified || s.Violations != 1 {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
}

func TestProtectedFileChangedByUserDuringPauseIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	d := b.begin("-- 1/sleep --\n600ms\n-- 1/run --\ntrue\n-- 1/reply --\nthinking\n", []string{"have every word"}, withGate(nil))
	b.loop = d.Loop
	ask := &messageSender{b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessagePause}}}
	s, err := b.drive(ctx, d, &onStep{logObserver: logObserver{t}, at: loop.KindTreeInspected, then: kill, ask: ask})
	if err == nil || s.Phase != loop.Paused {
		t.Fatalf("not paused but %s %s: %s", s.Phase, s.Outcome, s.Reason)
	}
	b.write("check.sh", "# mine\n"+gateScript)
	b.write("pawl.toml", "max_iterations = 30\n")
	b.rewrite("-- 2/files/have.txt --\none\ntwo\n-- 2/reply --\n<promise>DONE</promise>\n")
	s = b.resume(logObserver{t})
	if s.Violations != 0 || s.Outcome != loop.Verified {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
	journal, err := os.ReadFile(filepath.Join(b.loop.Dir, "journal.jsonl"))
	if want := "pawl.toml was changed, but not by the agent: kept; this loop keeps the settings that it began with"; err != nil || !strings.Contains(string(journal), want) {
		t.Errorf("the journal does not say %q (%v)", want, err)
	}
}

// onStep calls a function each time the loop has processed an event.
type onStep struct {
	logObserver
	at   loop.EventKind
	then func()
	ask  *messageSender // optional
}

func (w *onStep) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if w.ask != nil {
		w.ask.logObserver = w.logObserver
		w.ask.Stepped(s, e, acts)
	}
	if e.Kind() == w.at && w.then != nil {
		w.then()
	}
}

func TestProtectedFileChangedThroughLinkIsViolation(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	if err := os.Symlink("check.sh", filepath.Join(b.root, "link.txt")); err != nil {
		t.Skip("no symlinks here: ", err)
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "link")
	s := b.run("-- 1/files/link.txt --\nexit 0\n-- 1/run --\necho exit 0 > link.txt\n-- 1/reply --\n<promise>DONE</promise>\n", []string{"have every word"},
		withGate(map[string]any{"max_iterations": "1"}))
	if s.Outcome == loop.Verified || s.Violations != 0 {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
	log := b.file("journal.jsonl")
	for _, tool := range []string{"Write", "Bash"} {
		if !strings.Contains(log, "the guard denied "+tool+" (protected): ") {
			t.Errorf("the journal does not say that %s was denied", tool)
		}
	}
	b.checkDenials(map[string]int{"protected": 2})
}

// checkDenials checks how many calls the guard denied, by rule.
func (b *bench) checkDenials(want map[string]int) {
	b.t.Helper()
	m, _, err := record.Load(b.loop)
	if err != nil {
		b.t.Fatal(err)
	}
	if diff := cmp.Diff(want, m.GuardLog.DeniedByRule); diff != "" {
		b.t.Error(diff)
	}
}

// A command that the guard cannot parse is allowed, and reported once a turn.
func TestUnreadableCommandIsAllowedAndReportedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run("-- 1/run --\nsh -c \"$(cat want.txt)\"; true\n-- 1/run --\nsh -c \"$(cat want.txt)\"; true\n-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if n := strings.Count(b.file("journal.jsonl"), "the guard could not read"); n != 1 {
		t.Errorf("%d notes:\n%s", n, b.file("journal.jsonl"))
	}
	b.checkDenials(nil)
}

func TestBackgroundCommandExplainsChangeInLaterTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	turns := 0
	o := &onStep{logObserver: logObserver{t}, at: loop.KindTurnEnded, then: func() {
		if turns++; turns == 2 { // as the watcher might do while nothing else runs
			b.write("check.sh", "exit 0\n")
		}
	}}
	s := b.runObserved(`
-- 1/run --
true
-- 1/background --
make watch
-- 1/reply --
thinking
-- 2/reply --
<promise>DONE</promise>
`, []string{"have every word"}, withGate(map[string]any{"max_iterations": "2"}), o)
	if s.Outcome == loop.Verified || s.Violations != 1 {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
}

func TestEveryChangeIsAttributedToAgentWithHiddenCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	agent := filepath.Join(t.TempDir(), "agent.sh")
	script := "#!/bin/sh\ncat > /dev/null\necho 'exit 0' > check.sh\necho '<promise>DONE</promise>'\n"
	if err := os.WriteFile(agent, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := b.run("", []string{"have every word"}, withGate(map[string]any{"agent": "command", "agent_command": agent}))
	if s.Outcome != loop.Tampered {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
}

// Work whose gate turned green is not proven if the gate's script was written during the run. If the
// gates write it in each run, that does not count.
func TestGateScriptRewrittenDuringRunProvesNothing(t *testing.T) {
	t.Parallel()
	for touch, want := range map[string]gate.Evidence{
		"grep -q two have.txt && touch check.sh\n": gate.Unproven,
		"touch check.sh\n":                         gate.Proven,
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"check.sh": touch + gateScript, "want.txt": words["want.txt"], "have.txt": words["have.txt"]})
			s := b.run(bothWords, []string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}))
			if (s.Outcome == loop.Verified) != (want == gate.Proven) || s.Tasks[0].Evidence != want {
				t.Errorf("%s: %s: %+v", s.Outcome, s.Reason, s.Tasks)
			}
		})
	}
}

// editInPause edits a file once the loop is paused and receives messages, and then resumes it.
type editInPause struct {
	noteRecorder
	sender *messageSender
	edit   func()
}

func (w *editInPause) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.noteRecorder.Stepped(s, e, acts)
	w.sender.Stepped(s, e, acts)
	if s.Phase != loop.Paused || w.edit == nil {
		return
	}
	if e.Kind() == loop.KindMessageArrived {
		w.edit()
		w.edit = nil
		return
	}
	_ = w.sender.b.loop.Post("paused", record.Message{Kind: record.MessageNote, Text: "paused"})
}

// A user edit during a pause stays the user's: it is in no commit, and a restore does not undo it.
func TestUserEditDuringPauseStaysUserEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"plan.md": twoTasks, "check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "lib.txt": "lib\n"})
	w := &editInPause{noteRecorder: noteRecorder{onStep: onStep{logObserver: logObserver{t}}}}
	w.sender = &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessagePause}}}
	w.edit = func() {
		time.Sleep(3 * fileDoubt) // real time: an edit close to a turn counts as the agent's
		b.write("lib.txt", "mine\n")
		time.Sleep(3 * fileDoubt)
		_ = b.loop.Post("go-on", record.Message{Kind: record.MessageResume})
	}
	b.runObserved("-- 1/sleep --\n300ms\n-- 1/reply --\nthinking\n-- 2+/files/have.txt --\none\ntwo\n-- 2+/reply --\n<promise>DONE</promise>\n", []string{"plan.md"}, withGate(map[string]any{"max_iterations": "2"}), w)
	if n := w.countNotes("left alone: your edit of lib.txt: not committed"); n != 1 {
		t.Errorf("named %d times: %q", n, w.notes)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt\nplan.md" {
		t.Errorf("in the commit: %s", got)
	}
	if got := b.git("status", "--porcelain"); got != "M lib.txt" {
		t.Errorf("status: %q", got)
	}
}
