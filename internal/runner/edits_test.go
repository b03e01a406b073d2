package runner_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
)

// A gate that formats files in place makes no user edit.
func TestFileFormattedByGateIsNotUserEdit(t *testing.T) {
	t.Parallel()
	files := map[string]string{"check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "lib.txt": "lib  \n"}
	b := newBench(t, files)
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved("-- 1/run --\nprintf 'lib   ' > lib.txt\n"+haveAll, []string{"have every word"}, map[string]any{"gates": []string{"sh check.sh && sleep 0.2 && echo lib > lib.txt && sleep 0.2"}, "max_iterations": "2"}, w)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if w.hasNote("your edit of lib.txt") || w.hasNote("perhaps yours") {
		t.Error("a gate's edit is named as the user's")
	}
}

// editDuringPause runs a user's edit during a pause, after a turn with the given script.
func editDuringPause(t *testing.T, first string, edit func(b *bench)) (*bench, *editInPause, loop.State) {
	b := newBench(t, map[string]string{"plan.md": twoTasks, "check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "lib.txt": "lib\n"})
	w := &editInPause{noteRecorder: noteRecorder{onStep: onStep{logObserver: logObserver{t}}}}
	w.sender = &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessagePause}}}
	w.edit = func() {
		time.Sleep(3 * fileDoubt)
		edit(b)
		time.Sleep(3 * fileDoubt)
		_ = b.loop.Post("go-on", record.Message{Kind: record.MessageResume})
	}
	s := b.runObserved("-- 1/sleep --\n300ms\n"+first+"-- 1/reply --\nthinking\n-- 2+/files/have.txt --\none\ntwo\n-- 2+/reply --\n<promise>DONE</promise>\n", []string{"plan.md"}, withGate(map[string]any{"max_iterations": "2"}), w)
	return b, w, s
}

// A user edit stays the user's, even if a command of the agent has read the file.
func TestUserEditOfFileReadByAgentIsUserEdit(t *testing.T) {
	t.Parallel()
	b, w, s := editDuringPause(t, "-- 1/run --\ncat lib.txt\n", func(b *bench) { b.write("lib.txt", "mine\n") })
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if got := b.git("diff", "--name-only", "main", "HEAD"); strings.Contains(got, "lib.txt") {
		t.Errorf("in the commit: %s", got)
	}
	for _, task := range s.Tasks {
		if len(task.ChangedTests) > 0 {
			t.Errorf("task %s is said to have changed %v", task.ID, task.ChangedTests)
		}
	}
}

// A user's edit of a file that the agent has edited in the same task is committed with it, and named.
func TestUserEditOfFileEditedByAgentIsNamed(t *testing.T) {
	t.Parallel()
	const note = "perhaps yours: edits of lib.txt while the agent made no tool call"
	edit := "-- 1/run --\necho agent >> lib.txt; sleep 0.1\n"
	_, w, s := editDuringPause(t, edit, func(b *bench) { b.write("lib.txt", "lib\nagent\nmine\n") })
	if !w.hasNote(note) {
		t.Errorf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	}
	_, w, _ = editDuringPause(t, edit, func(*bench) {})
	if w.hasNote(note) {
		t.Errorf("named without an edit of the user: %q", w.notes)
	}
}

// What the user stages while the agent works stays staged, also if the work tree has more.
func TestStagedFilesOfUserStayStaged(t *testing.T) {
	t.Parallel()
	files := map[string]string{"lib.txt": "lib\n", ".gitignore": "*.log\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	b.write("before.txt", "mine\n")
	w := inFirstTurn(b, func() {
		b.write("mine.txt", "one\n")
		b.write("lib.txt", "lib\nmine\n")
		b.git("add", "mine.txt", "lib.txt", "before.txt")
		b.write("mine.txt", "one\ntwo\n")
	})
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt; git add have.txt\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if got := b.git("status", "--porcelain"); s.Outcome != loop.Verified || got != "A  before.txt\nM  lib.txt\nAM mine.txt" {
		t.Errorf("%s: %s; status:\n%s", s.Outcome, s.Reason, got)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt" {
		t.Errorf("committed: %s", got)
	}
}

// What the agent stages of the user's files with its own does not stay staged.
func TestUserFilesStagedByAgentAreUnstaged(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"git add -A", "git add . && git commit -qm 'my way'", "git add before.txt have.txt"} {
		b := newBench(t, words)
		b.write("before.txt", "mine\n")
		s := b.run("-- 1/run --\necho two >> have.txt; "+command+"\n-- 1/reply --\n<promise>DONE</promise>\n", []string{"have every word"}, withGate(nil))
		if got := b.git("status", "--porcelain"); s.Outcome != loop.Verified || got != "?? before.txt" {
			t.Errorf("%s: %s: %s; status:\n%s", command, s.Outcome, s.Reason, got)
		}
	}
}

// Files that the user deletes or renames are user edits.
func TestUserDeletionsAndRenamesAreUserEdits(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(b *bench){
		"deletes":    func(b *bench) { b.sh("rm lib.txt") },
		"renames":    func(b *bench) { b.sh("mv lib.txt books.txt") },
		"makes link": func(b *bench) { b.sh("rm lib.txt; ln -s want.txt lib.txt") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, w, s := editDuringPause(t, "", edit)
			t.Logf("%s: %s\n%q\n%s", s.Outcome, s.Reason, w.notes, b.git("status", "--porcelain"))
			if got := b.git("diff", "--name-status", "--no-renames", "main", "HEAD"); strings.Contains(got, "lib.txt") {
				t.Errorf("in the commit: %s", got)
			}
		})
	}
}

// A restore of a failed task neither brings back files that the user deleted nor undoes their edits.
func TestRestoreKeepsUserEdits(t *testing.T) {
	t.Parallel()
	files := map[string]string{"docs/lib.txt": "lib\n", "lib.txt": "lib\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	w := inFirstTurn(b, func() { b.sh("rm docs/lib.txt; echo mine > lib.txt") })
	s := b.runObserved(`
-- 1/sleep --
200ms
-- task/files/junk.txt --
half-work
-- task/reply --
<promise>DONE</promise>
`, []string{"have every word of this task"}, withGate(nil), w)
	if s.Outcome != loop.Stuck || s.Restores == 0 {
		t.Fatalf("%s, %d restores: %s", s.Outcome, s.Restores, s.Reason)
	}
	if got := b.git("status", "--porcelain"); got != "D docs/lib.txt\n M lib.txt" {
		t.Errorf("status: %q", got)
	}
}

// In a session, files made by the agent's command stay the agent's work when the user stashes them
// and pops the stash.
func TestStashedAgentEditInSessionStaysAgentEdit(t *testing.T) {
	t.Parallel()
	q := requestWithGate(nil)
	q.Commit = true
	st := beginInSession(t, words, q)
	pause := func() { time.Sleep(10 * fileDoubt) }
	runAgentCommand(t, st, "start", "pawl start", func() {})
	pause()
	runAgentCommand(t, st, "a", "sh gen.sh", func() { st.write("have.txt", "one\ntwo\n") })
	pause()
	st.endTurn(loop.Turn{}) // the hook receives the end of the turn
	st.git("stash")
	st.git("stash", "pop")
	pause()
	s := st.endTurnWithClaim()
	t.Logf("%s: %s", s.Outcome, s.Reason)
	if s.Outcome != loop.Verified {
		t.Errorf("the agent's edit is not its work: %s %s", s.Outcome, s.Reason)
	}
}

// runAgentCommand records a command of the session's agent and runs it.
func runAgentCommand(t *testing.T, st *sessionLoop, id, command string, runs func()) {
	t.Helper()
	if err := record.AppendCall(record.StartedCallsPath(st.loop), authorship.Call{At: time.Now(), ID: id}); err != nil {
		t.Fatal(err)
	}
	runs()
	st.recordCalls(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: command, At: time.Now(), ID: id})
}

// A user edit stays the user's if the commit hook formats all files.
func TestUserEditFormattedByCommitHookStaysUserEdit(t *testing.T) {
	t.Parallel()
	b, w, s := editDuringPause(t, "", func(b *bench) {
		b.write("lib.txt", "mine  \n")
		b.sh("mkdir -p .git/hooks && printf '#!/bin/sh\\nsleep 0.1; sed -i \"s/[ ]*$//\" lib.txt; sleep 0.1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit")
	})
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if got := b.git("diff", "--name-only", "main", "HEAD"); strings.Contains(got, "lib.txt") {
		t.Errorf("in the commit: %s", got)
	}
}

// Files that the agent's commands changed stay the agent's after the loop is resumed, although a
// stash or a formatter of the user has changed their times.
func TestAgentEditStaysAgentEditAfterResume(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(b *bench){
		"nothing": func(*bench) {},
		"a stash": func(b *bench) { b.git("stash"); b.git("stash", "pop") },
		"a touch": func(b *bench) { b.sh("touch lib.txt") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "lib.txt": "lib\n", "gen.sh": "for f in l*.txt; do echo agents > $f; done\n"})
			w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
			b.runObserved("-- 1/run --\nsh gen.sh\n-- 1/reply --\nthinking\n-- 2/files/have.txt --\none\ntwo\n-- 2/reply --\n<promise>DONE</promise>\n", []string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}), w)
			time.Sleep(10 * fileDoubt)
			between(b)
			time.Sleep(10 * fileDoubt)
			s := b.resume(w, loop.Limits{Iterations: 3})
			t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
			if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt\nlib.txt" {
				t.Errorf("in the commit: %q", got)
			}
		})
	}
}

// No way of writing a file in a tool call makes it look like a user edit.
func TestFileTimesSetByToolCallMakeNoUserEdit(t *testing.T) {
	t.Parallel()
	files := map[string]string{"check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "d/x.txt": "old\n"}
	for _, f := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		files[f+".dat"] = f + "\n"
	}
	b := newBench(t, files)
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved(`
-- 1/run --
T=$(mktemp -d); for f in a b c d e f g; do echo bent-$f > $T/$f; done; for f in a b c d e f g; do touch -d '2030-01-01' $T/$f; done
for f in a*.dat; do cp -p $T/a $f; done; for f in b*.dat; do mv $T/b $f; done; for f in c*.dat; do rm $f; ln $T/c $f; done
mkdir $T/t; for f in d*.dat; do cp $T/d $T/t/$f; done; tar -C $T/t -cf $T/t.tar .; tar -xpf $T/t.tar 2>/dev/null
for f in e*.dat; do cat $T/e > $f; touch -d '1 hour' $f; done; for f in f*.dat; do rsync -t $T/f $f 2>/dev/null || cp -p $T/f $f; done; for f in g*.dat; do ln -sf $T/g $f; done
mkdir n; echo bent > n/x.txt; mv d o; mv n d; rm -r o
-- 1/reply --
thinking
-- 2/files/have.txt --
one
two
-- 2/reply --
<promise>DONE</promise>
`, []string{"have every word"}, withGate(nil), w)
	m, _, err := record.Load(b.loop)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if err != nil || len(m.UserEdits()) > 0 {
		t.Errorf("the user's: %q, %v", m.UserEdits(), err)
	}
}

// The user deletes a file in a folder in which the agent's editing tools write later.
func TestUserDeletionBesideAgentFilesIsUserEdit(t *testing.T) {
	t.Parallel()
	files := map[string]string{"docs/old.txt": "old\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	w := inFirstTurn(b, func() { b.sh("rm docs/old.txt") })
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/files/have.txt --\none\ntwo\n-- 1/files/docs/new.txt --\nnew\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if got := b.git("diff", "--name-only", "main", "HEAD"); s.Outcome != loop.Verified || got != "docs/new.txt\nhave.txt" {
		t.Errorf("%s: %s; in the commit: %q; notes: %q", s.Outcome, s.Reason, got, w.notes)
	}
}
