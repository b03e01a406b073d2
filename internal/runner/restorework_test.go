package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// The gated tree is committed, whatever the user changes in the folder meanwhile.
func TestGatedTreeIsCommittedDespiteConcurrentUserEdits(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, do string }{
		{"stash", "git stash -q -u"},
		{"reset", "git reset -q --hard"},
		{"another branch", "git checkout -q -f main && git clean -q -fd"},
		{"a new branch", "git checkout -q -b mine"},
	}
	for _, c := range cases {
		for _, when := range []string{"while a gate runs", "before the commit"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, map[string]string{"plan.md": "- [ ] two\n- [ ] three\n", "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"})
				mark := filepath.Join(t.TempDir(), "now")
				set := func() {
					if err := os.WriteFile(mark, []byte(c.do), 0o600); err != nil {
						t.Error(err)
					}
				}
				gate := "if test -e '" + mark + "'; then mv '" + mark + "' '" + mark + ".sh'; sh '" + mark + ".sh'; fi; sh check.sh"
				w := &faultInjector{logObserver: logObserver{t}, at: loop.Judging, once: set}
				if when == "before the commit" {
					w.at, w.once = loop.Committing, func() { b.sh(c.do) }
				}
				s := b.runObserved("\n-- 1/run --\necho two >> have.txt; echo new > new.txt\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/run --\necho three >> have.txt\n-- 2/reply --\n<promise>DONE</promise>\n",
					[]string{"plan.md"}, map[string]any{"gates": []string{gate}, "evidence": []string{"unproven"}}, w)
				if s.Outcome != loop.Verified || s.Turns != 2 {
					t.Fatalf("%s after %d turns: %s", s.Outcome, s.Turns, s.Reason)
				}
				if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat(2): three\nfeat(1): two" {
					t.Errorf("commits:\n%s", got)
				}
				if got := b.git("diff", "--name-only", "main", "HEAD~1"); got != "have.txt\nnew.txt\nplan.md" {
					t.Errorf("in the first commit:\n%s", got)
				}
				if got := strings.Join([]string{b.git("status", "--porcelain"), b.read("have.txt"), b.read("new.txt")}, "|"); got != "|one\ntwo\nthree\n|new\n" {
					t.Errorf("in the work tree: %s", got)
				}
			})
		}
	}
}

// editReverter is a user who edits a file while the agent thinks, and takes that back before the commit.
type editReverter struct {
	logObserver
	b *bench
	n int
}

func (w *editReverter) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	switch {
	case w.n == 0 && s.Phase == loop.Turning:
		w.b.write("lib.txt", "mine\n")
	case w.n == 1 && s.Phase == loop.Committing:
		w.b.sh("git checkout -q lib.txt")
	default:
		return
	}
	w.n++
}

func TestUserTakesBackAnEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"check.sh": gateScript, "want.txt": "one\n", "have.txt": "", "lib.txt": "lib\n"})
	w := &editReverter{logObserver: logObserver{t}, b: b}
	s := b.runObserved("-- 1/sleep --\n400ms\n-- 1/files/have.txt --\none\n-- 1/reply --\n<promise>DONE</promise>\n", []string{"have every word"}, withGate(nil), w)
	if got := b.read("lib.txt"); s.Outcome != loop.Verified || w.n != 2 || got != "lib\n" {
		t.Errorf("%s: %s; lib.txt is %q after %d steps", s.Outcome, s.Reason, got, w.n)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt" {
		t.Errorf("in the commit: %s", got)
	}
}

// A user who checks out another branch during the loop loses nothing: no commit removes an earlier
// task's work.
func TestUserCheckoutOfAnotherBranchLosesNoWork(t *testing.T) {
	t.Parallel()
	for _, at := range []loop.Phase{loop.Checkpointing, loop.Baseline, loop.Turning, loop.Inspecting, loop.Judging, loop.Committing} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"plan.md": "- [ ] one\n- [ ] two\n", "have.txt": ""})
			w := &faultInjector{logObserver: logObserver{t}, once: func() { b.sh("git switch -q main && echo edited >> have.txt") }}
			w.when = func(s loop.State) bool { return s.Phase == at && len(s.Tasks) > 0 && s.Tasks[0].Status == loop.Done }
			s := b.runObserved("\n-- 1/files/one.txt --\n1\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/files/two.txt --\n2\n-- 2/reply --\n<promise>DONE</promise>\n",
				[]string{"plan.md"}, map[string]any{"gates": []string{"true"}, "evidence": []string{"unproven"}}, w)
			if w.once != nil || s.Outcome != loop.Verified {
				t.Errorf("%s: %s", s.Outcome, s.Reason)
			}
			if got := b.git("diff", "--name-status", "HEAD~1", "HEAD", "--", "plan.md", "one.txt", "two.txt"); got != "M\tplan.md\nA\ttwo.txt" {
				t.Errorf("in the second commit:\n%s\n%s", got, b.git("log", "--stat", "--format=%h %an %s"))
			}
			if got := b.git("branch", "--show-current") + b.git("show", "main:have.txt"); got != "pawl/"+b.loop.ID {
				t.Errorf("left: %s", got)
			}
			if got, err := os.ReadFile(filepath.Join(b.root, "have.txt")); string(got) != "edited\n" {
				t.Errorf("the user's edit: %q, %v", got, err)
			}
		})
	}
}

// A file that the user commits on another branch does not stay in the work tree, where it would block
// a merge.
func TestFileCommittedOnAnotherBranchLeavesWorkTree(t *testing.T) {
	t.Parallel()
	for _, at := range []loop.Phase{loop.Checkpointing, loop.Baseline, loop.Turning, loop.Inspecting, loop.Judging, loop.Committing} {
		for name, agent := range map[string]string{"tools are seen": "-- 1/files/one.txt --\n1\n", "a command": "-- 1/run --\necho 1 > one.txt\n"} {
			t.Run(string(at)+" "+name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, map[string]string{"plan.md": "- [ ] one\n", "have.txt": ""})
				w := &faultInjector{logObserver: logObserver{t}, at: at, once: func() {
					b.sh("git switch -q main && echo mine > mine.txt && echo edited >> have.txt && git add mine.txt have.txt && git commit -q -m mine")
				}}
				s := b.runObserved("\n"+agent+"-- 1/reply --\n<promise>DONE</promise>\n", []string{"plan.md"},
					map[string]any{"gates": []string{"true"}, "evidence": []string{"unproven"}}, w)
				if w.once != nil || s.Outcome != loop.Verified {
					t.Errorf("%s: %s", s.Outcome, s.Reason)
				}
				if got := b.git("status", "--porcelain"); got != "" {
					t.Errorf("left in the work tree: %s", got)
				}
				b.sh("git switch -q main && git merge -q --no-edit pawl/" + b.loop.ID)
				if got := b.read("mine.txt") + b.read("have.txt") + b.read("one.txt"); got != "mine\nedited\n1\n" {
					t.Errorf("merged: %q", got)
				}
			})
		}
	}
}
