//go:build unix

package e2e_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var kills = flag.Int("kills", 25, "how often TestKills kills a loop")

// wordShop is a project whose every word needs a test: tests/WORD.sh looks at
// WORD.txt. checkWords is its gate.
func wordShop(more map[string]string) map[string]string {
	files := map[string]string{"hello.txt": "hello\n", "tests/hello.sh": wordTest("hello")}
	for name, text := range more {
		files[name] = text
	}
	return files
}

const checkWords = `for t in tests/*.sh; do sh "$t" || { echo "$t fails"; exit 1; }; done`

func wordTest(word string) string { return fmt.Sprintf("test \"$(cat %s.txt)\" = %[1]s\n", word) }

const threeWords = "# Words\n\n- [ ] add bye\n- [ ] add thanks\n- [ ] add please\n"

// part is a turn of the scripted agent that adds a word with its test and claims.
func part(n int, word string) string {
	return fmt.Sprintf("-- %d/sleep --\n20ms\n-- %[1]d/files/%s.txt --\n%[2]s\n-- %[1]d/files/tests/%[2]s.sh --\n%[3]s-- %[1]d/reply --\n<promise>DONE</promise>\n",
		n, word, wordTest(word))
}

// TestKills kills a loop at random moments, again and again until it has ended,
// and finds it as if nobody had: nothing lost, nothing doubled.
func TestKills(t *testing.T) {
	t.Parallel()
	var loops, done int
	for done < *kills {
		done += killedLoop(t, *kills-done)
		loops++
		if t.Failed() {
			break
		}
	}
	t.Logf("%d kills over %d loops", done, loops)
}

// killedLoop runs one loop with at most so many kills and counts them.
func killedLoop(t *testing.T, most int) (killed int) {
	t.Helper()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords, "progress.md": "# Progress\n"}))
	b.git("tag", "start")
	b.write(map[string]string{"mine.txt": "not the loop's\n"})
	script := b.script(part(1, "bye") + part(2, "thanks") + part(3, "please"))

	args := []string{"run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", script, "--quiet"}
	for {
		r := b.start(args...)
		if killed < most {
			select {
			case <-r.done:
			case <-time.After(rand.N(700 * time.Millisecond)):
				r.signal(syscall.SIGKILL)
			}
		}
		res := r.wait()
		if res.code != 128+int(syscall.SIGKILL) {
			b.ended(res, 0)
			break
		}
		killed++
		if !b.pawl("list", "--json").says(`"id"`) {
			continue // before there was a loop
		}
		if b.status().State == "ended" {
			break // after the last word
		}
		args = []string{"resume", ".", "--quiet"}
	}
	b.unharmed(killed)
	return killed
}

// unharmed checks that a loop over threeWords looks as if nobody had killed it.
func (b *bench) unharmed(killed int) {
	t := b.t
	t.Helper()
	b.intact()
	want := []string{"feat(1):_add_bye", "feat(2):_add_thanks", "feat(3):_add_please"}
	if diff := cmp.Diff(want, b.subjects()); diff != "" {
		t.Errorf("commits after %d kills: %s", killed, diff)
	}
	if got := b.read("plan.md"); got != strings.ReplaceAll(threeWords, "[ ]", "[x]") {
		t.Errorf("the plan:\n%s", got)
	}
	if n := strings.Count(b.read("progress.md"), "add bye"); n != 1 {
		t.Errorf("the progress file names a task %d times:\n%s", n, b.read("progress.md"))
	}
	if got := b.git("status", "--porcelain"); got != "?? mine.txt" {
		t.Errorf("left over: %s", got)
	}
	if b.read("mine.txt") != "not the loop's\n" {
		t.Error("an untracked file of the person's was changed")
	}
	if s := b.status(); s.Outcome != "verified" || s.Iteration != 3 || s.Tasks.Done != 3 || s.Commits != 3 {
		t.Errorf("status %+v", s)
	}
	if b.t.Failed() {
		t.Log(b.pawl("log", ".").out)
	}
}
