package runner_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// gateScript passes if every word of want.txt is in have.txt. It is small and quick, and the agent's
// work decides its result.
const gateScript = "while read -r word; do grep -qx \"$word\" have.txt || { echo \"missing $word\"; exit 1; }; done < want.txt\n"

var words = map[string]string{"check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n"}

func withGate(more map[string]any) map[string]any {
	flags := map[string]any{"gates": []string{"sh check.sh"}, "protect": []string{"check.sh"}}
	maps.Copy(flags, more)
	return flags
}

func TestFalseClaimIsAnsweredWithFailingGate(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run(`
-- 1/reply --
All is well.
<promise>DONE</promise>
-- 1/files/notes.txt --
nothing yet
-- 2/files/have.txt --
one
two
-- 2/reply --
<promise>DONE</promise>
`, []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Verified || s.Tasks[0].Evidence != gate.Proven {
		t.Fatalf("%s: %s (%+v)", s.Outcome, s.Reason, s.Tasks)
	}
	second := b.file("iterations", "0002", "prompt.md")
	if !strings.Contains(second, "missing two") {
		t.Errorf("the second prompt does not say what failed:\n%s", second)
	}
	if got := b.git("log", "-1", "--format=%(trailers:key=Pawl-Evidence,valueonly)"); strings.TrimSpace(got) != "proven" {
		t.Errorf("trailer %q", got)
	}
}

// file returns a file of the last loop's folder.
func (b *bench) file(elem ...string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{b.loop.Dir}, elem...)...))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func TestChangedProtectedFilesAreRestored(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	cheat := func(n string) string {
		return strings.ReplaceAll(weakened, "1/", n+"/") + "-- " + n + "/reply --\n<promise>DONE</promise>\n"
	}
	s := b.run(cheat("1")+cheat("2")+cheat("3"), []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Tampered || s.Violations != 3 {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
	if got := b.git("status", "--porcelain", "--untracked-files=no"); got != "" {
		t.Errorf("not put back: %s", got)
	}
}

func TestPlanIsCompletedTaskByTask(t *testing.T) {
	t.Parallel()
	files := map[string]string{"plan.md": "- [ ] two\n- [ ] three\n", "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"}
	b := newBench(t, files)
	s := b.run(`
-- 1/files/have.txt --
one
two
-- 1/reply --
<promise>DONE</promise>
-- 2/files/have.txt --
one
two
three
-- 2/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}))
	if s.Outcome != loop.Verified || s.Iteration != 2 {
		t.Fatalf("%s after %d: %s", s.Outcome, s.Iteration, s.Reason)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat(2): three\nfeat(1): two" {
		t.Errorf("commits:\n%s", got)
	}
	if got := b.git("show", "HEAD:plan.md"); got != "- [x] two\n- [x] three" {
		t.Errorf("plan:\n%s", got)
	}
}

func TestCheckboxTickedByAgentIsClaimAndReset(t *testing.T) {
	t.Parallel()
	files := map[string]string{"plan.md": "- [ ] two\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	s := b.run(`
-- 1/files/tick.sh --
sed 's/\[ \]/[x]/' plan.md > ticked && mv ticked plan.md
-- 1/run --
sh tick.sh
-- 1/files/have.txt --
one
-- 2/files/have.txt --
one
two
-- 2/run --
sh tick.sh
`, []string{"plan.md"}, withGate(map[string]any{"max_iterations": "2"}))
	if s.Outcome != loop.Verified || s.Iteration != 2 {
		t.Fatalf("%s after %d: %s", s.Outcome, s.Iteration, s.Reason)
	}
}

func TestAgentCommitsAndBranchesAreMovedToLoopBranch(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run(`
-- 1/run --
git switch -q -c mine && echo two >> have.txt && git commit -qam 'my own way'
-- 1/reply --
<promise>DONE</promise>
`, []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if branch := b.git("branch", "--show-current"); branch != "pawl/"+b.loop.ID {
		t.Errorf("left on %s", branch)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat: have every word" {
		t.Errorf("commits: %s", got)
	}
}

func TestStuckTaskIsRestoredAndSkipped(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run(`
-- task/reply --
<promise>DONE</promise>
-- task/files/junk.txt --
half-work
`, []string{"have every word of this task"}, withGate(nil))
	if s.Outcome != loop.Stuck || s.Restores != 2 {
		t.Fatalf("%s, %d restores: %s", s.Outcome, s.Restores, s.Reason)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("left over: %s", got)
	}
	if refs := b.git("for-each-ref", "--format=%(refname)", "refs/pawl/"+b.loop.ID); strings.Count(refs, "\n") < 2 {
		t.Errorf("checkpoints: %s", refs)
	}
}

func TestBlockedTaskReportsReason(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run("-- 1/reply --\n<blocked>there is no API key</blocked>\n", []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.BlockedEnd || !strings.Contains(s.Reason, "there is no API key") {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
}

func TestUsageLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run(`
-- 1/failure --
usage_limit 1s You've hit your limit
-- 2/files/have.txt --
one
two
-- 2/reply --
<promise>DONE</promise>
`, []string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}))
	if s.Outcome != loop.Verified || s.Iteration != 1 || s.Away == 0 {
		t.Fatalf("%s after %d iterations, away %s: %s", s.Outcome, s.Iteration, s.Away, s.Reason)
	}
}

func TestRefusingCommitHookIsFailedAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	hook := filepath.Join(b.root, ".git", "hooks", "pre-commit")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntest -f CHANGES || { echo 'no CHANGES'; exit 1; }\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := b.run(`
-- 1/files/have.txt --
one
two
-- 1/reply --
<promise>DONE</promise>
-- 2/files/CHANGES --
two
-- 2/reply --
<promise>DONE</promise>
`, []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Verified || s.Iteration != 2 {
		t.Fatalf("%s after %d: %s", s.Outcome, s.Iteration, s.Reason)
	}
	if second := b.file("iterations", "0002", "prompt.md"); !strings.Contains(second, "no CHANGES") {
		t.Errorf("the second prompt does not say what the hook said:\n%s", second)
	}
	if got, want := s.History[0].What, "failed: the pre-commit hook refused the commit: no CHANGES"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// If the user's hook refuses the commit message, that is not the agent's fault. The loop checks it
// before it pays for a turn.
func TestRefusedCommitMessageEndsLoopBeforeFirstTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	hook := filepath.Join(b.root, ".git", "hooks", "commit-msg")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ngrep -q '^JIRA-' \"$1\" || { echo 'no ticket number'; exit 1; }\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const work = "-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"
	s := b.run(work, []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Errored || s.Turns != 0 || !strings.Contains(s.Reason, "no ticket number") || !strings.Contains(s.Hint, "commit_message") {
		t.Fatalf("%s after %d turns: %s (%s)", s.Outcome, s.Turns, s.Reason, s.Hint)
	}
	s = b.run(work, []string{"have every word"}, withGate(map[string]any{"commit_message": "JIRA-12 {title}"}))
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
}

// A hook that reformats the agent's work may break tests: the agent is told of both.
func TestCommitHookChangingFilesIsReportedWithFailingGates(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	hook := filepath.Join(b.root, ".git", "hooks", "pre-commit")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nsed -i s/two/TWO/ have.txt && git add have.txt\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(map[string]any{"max_iterations": 2}), w)
	const words = "a commit hook changed have.txt before the gates ran"
	if s.Outcome == loop.Verified || !w.hasNote(words) {
		t.Errorf("%s, notes: %q", s.Outcome, w.notes)
	}
	if second := b.file("iterations", "0002", "prompt.md"); !strings.Contains(second, words) {
		t.Errorf("the second prompt does not say what the hook changed:\n%s", second)
	}
}

func TestWithoutGatesNothingIsVerified(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n", []string{"have every word"}, nil)
	if s.Outcome != loop.Unverified || s.Tasks[0].Commit == "" {
		t.Fatalf("%s: %s (%+v)", s.Outcome, s.Reason, s.Tasks)
	}
}

// messageSender sends messages to the loop when it reaches a phase.
type messageSender struct {
	logObserver
	b    *bench
	at   loop.EventKind
	send []record.Message
}

func (w *messageSender) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if e.Kind() != w.at {
		return
	}
	for _, m := range w.send {
		if err := w.b.loop.Post(m.Kind, m); err != nil {
			w.t.Error(err)
		}
	}
	w.send = nil
}

func TestUserMessageIsInNextPrompt(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{
		{Kind: record.MessageNote, Text: "look at want.txt first"}, {Kind: record.MessagePause}, {Kind: record.MessageResume},
	}}
	s := b.runObserved(`
-- 1/sleep --
1s
-- 1/reply --
thinking
-- 2/files/have.txt --
one
two
-- 2/reply --
<promise>DONE</promise>
`, []string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if second := b.file("iterations", "0002", "prompt.md"); !strings.Contains(second, "look at want.txt first") {
		t.Errorf("the note did not reach the agent:\n%s", second)
	}

	w = &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessageStop}}}
	b.write("want.txt", "one\ntwo\nthree\n")
	b.git("commit", "-qam", "want more")
	s = b.runObserved("-- 1/sleep --\n60s\n", []string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.CancelledEnd || s.Stop.Cause != loop.ByStop {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
}

func TestAgentWithoutSessionGetsFullPromptEachTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	agent := filepath.Join(t.TempDir(), "agent.sh")
	script := "#!/bin/sh\ncat > /dev/null\necho x >> tries\n[ $(wc -l < tries) -gt 1 ] && echo two >> have.txt\necho '<promise>DONE</promise>'\n"
	if err := os.WriteFile(agent, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := b.run("", []string{"have every word"}, withGate(map[string]any{"agent": "command", "agent_command": agent}))
	if s.Outcome != loop.Verified || s.Iteration != 2 {
		t.Fatalf("%s after %d: %s", s.Outcome, s.Iteration, s.Reason)
	}
	if second := b.file("iterations", "0002", "prompt.md"); !strings.Contains(second, "have every word") || !strings.Contains(second, "missing two") {
		t.Errorf("the second prompt does not tell the whole:\n%s", second)
	}
}

// A mistyped command that inspection accepts is found by the gate run before the first turn.
func TestMistypedGateCommandStartsNoTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run("-- 1/reply --\n<promise>DONE</promise>\n", []string{"have every word"}, map[string]any{"gates": []string{"if test -f check.sh; then gochek ./...; fi"}})
	if s.Outcome != loop.Errored || s.Turns != 0 || !strings.Contains(s.Reason, "gochek") {
		t.Fatalf("%s after %d turns: %s", s.Outcome, s.Turns, s.Reason)
	}
}
