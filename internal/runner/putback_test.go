package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// What is judged is what is committed, whatever a user does in the folder meanwhile.
func TestTheJudgedTreeIsCommittedWhateverTheUserDoesMeanwhile(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, do, on string }{
		{"stash", "git stash -q -u", ""},
		{"reset", "git reset -q --hard", ""},
		{"another branch", "git checkout -q -f main && git clean -q -fd", "main"},
		{"a new branch", "git checkout -q -b mine", "mine"},
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
				w := &held{b: b, faulty: faulty{teller: teller{t}, at: loop.Judging, once: set}}
				if when == "before the commit" {
					w.at, w.once = loop.Committing, func() { b.sh(c.do) }
				}
				s := b.watched("\n-- 1/run --\necho two >> have.txt; echo new > new.txt\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/run --\necho three >> have.txt\n-- 2/reply --\n<promise>DONE</promise>\n",
					[]string{"plan.md"}, map[string]any{"gates": []string{gate}, "evidence": []string{"unproven"}}, w)
				if on := strings.Join(w.on, " "); on != c.on {
					t.Errorf("held on %q, want %q", on, c.on)
				}
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

// held has the loop go on that is held since its branch is not checked out: it checks
// it out, and remembers which one was.
type held struct {
	faulty
	b  *bench
	on []string
}

func (w *held) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.faulty.Stepped(s, e, acts)
	if e.Kind != loop.BranchLeft {
		return
	}
	w.on = append(w.on, w.b.git("branch", "--show-current"))
	w.b.git("switch", "-q", "pawl/"+w.b.loop.ID)
	if err := w.b.loop.Post(fmt.Sprint("resume-", len(w.on)), record.Message{Kind: record.MessageResume}); err != nil {
		w.b.t.Error(err)
	}
}

// A user who checks out another branch while the loop is at work loses nothing, and
// keeps their checkout: the tree of another branch is never committed.
func TestTheUserChecksOutAnotherBranch(t *testing.T) {
	t.Parallel()
	for _, at := range []loop.Phase{loop.Checkpointing, loop.Baseline, loop.Turning, loop.Looking, loop.Judging, loop.Committing} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"plan.md": "- [ ] one\n- [ ] two\n", "have.txt": ""})
			w := &held{b: b, faulty: faulty{teller: teller{t}, at: ""}}
			first := true
			w.when = func(s loop.State) bool {
				if s.Phase != at || len(s.Tasks) == 0 || s.Tasks[0].Status != loop.Done || !first {
					return false
				}
				first = false
				return true
			}
			w.once = func() { b.sh("git switch -q main") }
			s := b.watched("\n-- 1/files/one.txt --\n1\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/files/two.txt --\n2\n-- 2/reply --\n<promise>DONE</promise>\n",
				[]string{"plan.md"}, map[string]any{"gates": []string{"true"}, "evidence": []string{"unproven"}}, w)
			if on := strings.Join(w.on, " "); on != "main" || s.Outcome != loop.Verified {
				t.Errorf("held on %q; %s: %s", on, s.Outcome, s.Reason)
			}
			if got := b.git("diff", "--name-status", "HEAD~1", "HEAD"); got != "M\tplan.md\nA\ttwo.txt" {
				t.Errorf("in the second commit:\n%s", got)
			}
			if got := b.git("status", "--porcelain"); got != "" {
				t.Errorf("left: %s", got)
			}
		})
	}
}

// A branch that a tool call of the agent's checked out is left again, with all that it
// did there, and the earlier tasks' files are back.
func TestTheAgentChecksOutAnotherBranch(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]string{
		"changes": "echo 2 > two.txt",
		"commits": "echo 2 > two.txt && git add two.txt && git commit -qm own",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"plan.md": "- [ ] one\n- [ ] two\n", "have.txt": ""})
			w := &hears{onStep: onStep{teller: teller{t}}}
			s := b.watched("\n-- 1/files/one.txt --\n1\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/run --\ngit switch -q --detach main && "+there+"\n-- 2/reply --\n<promise>DONE</promise>\n",
				[]string{"plan.md"}, map[string]any{"gates": []string{"true"}, "evidence": []string{"unproven"}}, w)
			if s.Outcome != loop.Verified || !w.note("the work was carried over") {
				t.Errorf("%s: %s; notes %q", s.Outcome, s.Reason, w.notes)
			}
			if got := b.git("diff", "--name-status", "HEAD~1", "HEAD"); got != "M\tplan.md\nA\ttwo.txt" {
				t.Errorf("in the second commit:\n%s", got)
			}
			if got := b.git("branch", "--show-current") + b.git("status", "--porcelain"); got != "pawl/"+b.loop.ID {
				t.Errorf("left: %s", got)
			}
		})
	}
}
