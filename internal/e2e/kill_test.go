//go:build unix

package e2e_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var kills = flag.Int("kills", 8, "how often TestKills and TestHandoverKills kill a loop or a hook, each")

// wordShop is a project whose every word needs a test: tests/WORD.sh looks at
// WORD.txt. checkWords is its gate.
func wordShop(more map[string]string) map[string]string {
	files := map[string]string{"hello.txt": "hello\n", "tests/hello.sh": wordTest("hello")}
	maps.Copy(files, more)
	return files
}

const checkWords = `for t in tests/*.sh; do sh "$t" || { echo "$t fails"; exit 1; }; done`

func wordTest(word string) string { return fmt.Sprintf("test \"$(cat %s.txt)\" = %[1]s\n", word) }

const threeWords = "# Words\n\n- [ ] add bye\n- [ ] add thanks\n- [ ] add please\n"

// part is what the scripted agent does whenever the word is asked for: it adds
// it with its test, and claims.
func part(word string) string {
	return adding("add "+word, word) + claiming("add "+word)
}

// adding and claiming are sections of a part, which is played when its key stands
// in the prompt.
func adding(key, word string) string {
	return fmt.Sprintf("-- %s/files/%s.txt --\n%[2]s\n-- %[1]s/files/tests/%[2]s.sh --\n%[3]s", key, word, wordTest(word))
}

func claiming(key string) string {
	return fmt.Sprintf("-- %s/reply --\n<promise>DONE</promise>\n", key)
}

// killScripts are what the agent does in loops over threeWords. They tell what to do
// by the prompt alone, as an agent would, so that a turn may begin again.
var killScripts = map[string]string{
	"three words": part("bye") + part("thanks") + part("please"),
	// The first claim has no test; the second task is committed on a branch of the
	// agent's own; the third breaks what was there until the tree is restored.
	"detours": adding("Pawl put the tree back", "please") + claiming("Pawl put the tree back") +
		part("thanks") + "-- add thanks/run --\ngit checkout -q -B mine && git add -A && git commit -q --allow-empty -m wip\n" +
		"-- add please/run --\necho broken > hello.txt\n" + claiming("add please") +
		adding("claim refused", "bye") + claiming("claim refused") +
		adding("Your claim was not accepted", "bye") + claiming("Your claim was not accepted") +
		"-- add bye/files/bye.txt --\nbye\n" + claiming("add bye"),
}

// TestKills kills loops at random moments until they have ended. Nothing is lost or doubled.
func TestKills(t *testing.T) {
	t.Parallel()
	for name, story := range killScripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calm := newKillBench(t, story)
			calm.runWithKills(0)
			calm.checkNothingLost(0, calm.status().Iteration)
			killed, loops := 0, 0
			for most := (*kills + 1) / len(killScripts); killed < most && !t.Failed(); loops++ {
				b := newKillBench(t, story)
				n := b.runWithKills(most - killed)
				b.checkNothingLost(n, calm.status().Iteration)
				killed += n
			}
			t.Logf("%d kills over %d loops", killed, loops)
		})
	}
}

func newKillBench(t *testing.T, story string) *bench {
	t.Helper()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords, "progress.md": "# Progress\n"}))
	b.git("tag", "start")
	b.write(map[string]string{"mine.txt": "not the loop's\n"})
	b.script(story)
	return b
}

// runWithKills runs the loop until it has ended, with at most the given number of kills, and returns
// their number.
func (b *bench) runWithKills(most int) (killed int) {
	b.t.Helper()
	args := []string{"run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", b.home + "/script.txtar", "--quiet"}
	for {
		r := b.start(args...)
		if killed < most {
			select {
			case <-r.done:
			case <-time.After(rand.N(700 * time.Millisecond)):
				_ = r.cmd.Process.Kill() // it may have ended just now
			}
		}
		res := r.wait()
		if res.code != 128+int(syscall.SIGKILL) {
			b.checkExitCode(res, 0)
			return killed
		}
		killed++
		if !b.pawl("list", "--json").contains(`"id"`) {
			continue // before there was a loop
		}
		if b.status().State == "ended" {
			return killed // after the last word
		}
		args = []string{"resume", ".", "--quiet"}
	}
}

// checkNothingLost checks that a loop over threeWords ended as without kills: verified, with one
// commit and one tick for each task, and the expected iterations.
func (b *bench) checkNothingLost(killed, iterations int) {
	t := b.t
	t.Helper()
	b.checkJournalChain()
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
	if s := b.status(); s.Outcome != "verified" || s.Iteration != iterations || s.Tasks.Done != 3 || s.Commits != 3 {
		t.Errorf("status %+v", s)
	}
	if b.t.Failed() {
		t.Log(b.pawl("log", ".").out)
	}
}
