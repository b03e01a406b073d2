//go:build unix

package e2e_test

import (
	"strings"
	"syscall"
	"testing"
)

// A user sends a message to a loop, pauses it and resumes it, from another terminal.
func TestLoopIsControlledFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": "- [ ] add bye\n"}))
	b.git("tag", "start")
	// Told of it the agent does the right thing; until then it only looks.
	script := b.script(saying("mind the hat", "bye") + "-- add bye/sleep --\n300ms\n-- add bye/tools --\n1\n-- add bye/reply --\nI look around.\n")
	r := b.start("run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)
	r.waitUntil("the first turn", b.inAgentTurn)
	if res := b.pawl("pause", "."); res.code != 0 {
		t.Fatal(res)
	}
	r.waitUntil("the pause", func() bool { return b.status().State == "paused" })
	if res := b.pawl("tell", ".", "mind the hat"); res.code != 0 {
		t.Fatal(res)
	}
	if s := b.status(); s.State != "paused" {
		t.Errorf("told in a pause: %+v", s)
	}
	if res := b.pawl("resume", "."); res.code != 0 {
		t.Fatal(res)
	}
	b.checkExitCode(r.wait(), 0)
	if s := b.status(); s.Outcome != "verified" || s.Iteration > 3 {
		t.Errorf("status %+v", s)
	}
}

func saying(key, word string) string { return adding(key, word) + claiming(key) }

// After a limit the work is in the tree, and the next run continues from it.
func TestNextRunContinuesAfterLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords, "half.txt": "none\n"}))
	b.git("tag", "start")
	args := []string{"plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command"}
	first := b.script(part("bye") + "-- add thanks/files/half.txt --\nhalf\n")
	b.run(10, append(args, first, "--max-iterations", "3")...)
	if b.read("half.txt") != "half\n" {
		t.Error("the half work is lost")
	}
	if r := b.run(0, append(args, b.script(part("thanks")+part("please")))...); !r.contains("begins with task 2 (add thanks)", "left it unfinished (half.txt)") {
		t.Errorf("the half work must be named: %s", r)
	}
	if got := b.git("log", "-1", "--format=%s", "--", "half.txt"); !strings.Contains(got, "thanks") {
		t.Errorf("the half work is in %q", got)
	}
	if got := b.read("plan.md"); strings.Contains(got, "[ ]") {
		t.Errorf("the plan: %s", got)
	}
	if got := len(b.subjects()); got != 3 {
		t.Errorf("commits %q", b.subjects())
	}
	if r := b.run(0, append(args, b.script(part("bye")))...); !r.contains("finished") && !r.contains("FINISHED") {
		t.Errorf("a plan that is done: %s", r)
	}
}

// The work of a loop can be undone, and restored.
func TestUndoAndRedo(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	b.git("tag", "start")
	b.run(13, "add bye", "--gate", checkWords, "--agent", "scripted", "--agent-command",
		b.script("-- add bye/run --\necho broken > hello.txt\n"+claiming("add bye")))
	if got := b.read("hello.txt"); got != "hello\n" {
		t.Fatalf("not restored: %q", got)
	}
	if r := b.pawl("undo", ".", "--yes"); r.code != 0 {
		t.Fatal(r)
	}
	if got := b.read("hello.txt"); got != "broken\n" {
		t.Errorf("the undone restore gives %q", got)
	}
}

// A loop that ended by a user or a limit is resumed with the work in the tree.
func TestEndedLoopIsResumed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		code int
		end  func(r *running)
		args []string
		more []string // what the loop is given when it continues
	}{
		"Ctrl-C":  {130, func(r *running) { r.signal(syscall.SIGINT) }, nil, nil},
		"a limit": {10, func(*running) {}, []string{"--max-iterations", "3"}, []string{"--max-iterations", "10"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, wordShop(map[string]string{"plan.md": threeWords}))
			b.git("tag", "start")
			script := b.script("-- add bye/files/half.txt --\nhalf\n-- add bye/sleep --\n500ms\n")
			r := b.start(append([]string{"run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", script}, tc.args...)...)
			r.waitUntil("the half work", func() bool { return exists(b.path("half.txt")) || b.inAgentTurn() })
			tc.end(r)
			b.checkExitCode(r.wait(), tc.code)
			b.script(killScripts["three words"])
			b.checkExitCode(b.pawl(append([]string{"resume", "."}, tc.more...)...), 0)
			if got := b.subjects(); len(got) != 3 {
				t.Errorf("commits %q", got)
			}
			b.checkJournalChain()
		})
	}
}
