package runner_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// faultInjector breaks something once, when a phase begins: by default, the loop's commit.
type faultInjector struct {
	logObserver
	at   loop.Phase
	when func(loop.State) bool // instead of at
	once func()
}

func (w *faultInjector) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	due := s.Phase == cmp.Or(w.at, loop.Committing)
	if w.when != nil {
		due = w.when(s)
	}
	if due && w.once != nil {
		w.once()
		w.once = nil
	}
}

const twoWords = `
-- 1/run --
echo two >> have.txt
-- 1/reply --
<promise>DONE</promise>
-- 2/run --
echo three >> have.txt
-- 2/reply --
<promise>DONE</promise>
`

// A ticked checkbox without its commit would tell the next loop that the work is done. A second
// commit of the same work would cost another turn.
func TestCheckboxAndCommitAreWrittenTogether(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		lock func(b *bench) string // lock file that a killed git has left
		want string                // the first checkbox after the fault
		made int                   // commits that are made despite the fault
	}{
		{"the branch cannot be moved", func(b *bench) string { return "refs/heads/pawl/" + b.loop.ID + ".lock" }, "- [ ] two", 0},
		{"the branch has moved, the index cannot follow", func(*bench) string { return "index.lock" }, "- [x] two", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"plan.md": "- [ ] two\n- [ ] three\n", "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"})
			lock := ""
			w := &faultInjector{logObserver: logObserver{t}, once: func() {
				lock = filepath.Join(b.root, ".git", c.lock(b))
				if err := os.WriteFile(lock, nil, 0o600); err != nil {
					t.Error(err)
				}
			}}
			s := b.runObserved(twoWords, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}), w)
			if s.Outcome != loop.Errored || !strings.Contains(s.Reason, filepath.Base(lock)) {
				t.Fatalf("%s: %s", s.Outcome, s.Reason)
			}
			if got := b.read("plan.md"); !strings.Contains(got, c.want) {
				t.Errorf("after the fault the plan says\n%s", got)
			}
			if done := s.Tasks[0].Status == loop.Done && s.Tasks[0].Commit != "" && s.Tasks[0].Commit == s.Trouble.StaleIndexCommit; done != (c.made == 1) {
				t.Errorf("after the fault the first task is %+v", s.Tasks[0])
			}
			if err := os.Remove(lock); err != nil {
				t.Fatal(err)
			}
			if s = b.resume(w); s.Outcome != loop.Verified || s.Turns != 2 {
				t.Fatalf("%s after %d turns: %s", s.Outcome, s.Turns, s.Reason)
			}
			if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat(2): three\nfeat(1): two" {
				t.Errorf("commits:\n%s", got)
			}
			if got := b.git("show", "HEAD~1:plan.md") + "\n" + b.git("status", "--porcelain"); got != "- [x] two\n- [ ] three\n" {
				t.Errorf("in the first commit, and left over:\n%s", got)
			}
		})
	}
}

// A commit that the user makes while the loop's commit waits for them stays theirs.
func TestUserCommitAfterCommitFaultStaysSeparate(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"plan.md": "- [ ] two\n- [ ] three\n", "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"})
	lock := ""
	w := &faultInjector{logObserver: logObserver{t}, once: func() {
		lock = filepath.Join(b.root, ".git", "refs/heads/pawl", b.loop.ID+".lock")
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Error(err)
		}
	}}
	if s := b.runObserved(twoWords, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}), w); s.Outcome != loop.Errored {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	b.write("mine.txt", "mine\n")
	b.git("add", "mine.txt")
	b.git("commit", "-qm", "my own work")
	if s := b.resume(w); s.Outcome != loop.Verified || s.Turns != 2 {
		t.Fatalf("%s after %d turns: %s", s.Outcome, s.Turns, s.Reason)
	}
	if got := b.git("log", "--format=%s", "--name-only", "main..HEAD"); got != "feat(2): three\n\nhave.txt\nplan.md\nfeat(1): two\n\nhave.txt\nplan.md\nmy own work\n\nmine.txt" {
		t.Errorf("commits:\n%s", got)
	}
}

// sh runs a command in the work tree, as a user would.
func (b *bench) sh(command string) {
	b.t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Errorf("%s: %v\n%s", command, err, out)
	}
}

// read returns a file of the work tree.
func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.root, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}
