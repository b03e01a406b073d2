//go:build unix

package e2e_test

import (
	"strings"
	"syscall"
	"testing"
)

// A person speaks to a loop, holds it and lets it continue, from another terminal.
func TestSteering(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": "- [ ] add bye\n"}))
	b.git("tag", "start")
	// Told of it the agent does the right thing; until then it only looks.
	script := b.script(saying("mind the hat", "bye") + "-- add bye/sleep --\n300ms\n-- add bye/tools --\n1\n-- add bye/reply --\nI look around.\n")
	r := b.start("run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)
	r.until("the first turn", b.turning)
	if res := b.pawl("pause", "."); res.code != 0 {
		t.Fatal(res)
	}
	r.until("the pause", func() bool { return b.status().State == "paused" })
	if res := b.pawl("tell", ".", "mind the hat"); res.code != 0 {
		t.Fatal(res)
	}
	if s := b.status(); s.State != "paused" {
		t.Errorf("told in a pause: %+v", s)
	}
	if res := b.pawl("resume", "."); res.code != 0 {
		t.Fatal(res)
	}
	b.ended(r.wait(), 0)
	if s := b.status(); s.Outcome != "verified" || s.Iteration > 3 {
		t.Errorf("status %+v", s)
	}
}

func saying(key, word string) string { return adding(key, word) + claiming(key) }

// After a limit the work lies in the tree, and another run continues from it.
func TestAnotherRunGoesOnAfterALimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords, "half.txt": "none\n"}))
	b.git("tag", "start")
	args := []string{"plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command"}
	first := b.script(part("bye") + "-- add thanks/files/half.txt --\nhalf\n")
	b.run(10, append(args, first, "--max-iterations", "3")...)
	if b.read("half.txt") != "half\n" {
		t.Error("the half work is lost")
	}
	if r := b.run(0, append(args, b.script(part("thanks")+part("please")))...); !r.says("begins with task 2 (add thanks)", "left it unfinished (half.txt)") {
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
	if r := b.run(0, append(args, b.script(part("bye")))...); !r.says("finished") && !r.says("FINISHED") {
		t.Errorf("a plan that is done: %s", r)
	}
}

// What a loop did can be undone, and done again.
func TestUndo(t *testing.T) {
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

// A loop that a user or a limit ended continues where it was when it is asked
// to, with what lies in the tree.
func TestResumeAfterTheEnd(t *testing.T) {
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
			r.until("the half work", func() bool { return exists(b.path("half.txt")) || b.turning() })
			tc.end(r)
			b.ended(r.wait(), tc.code)
			b.script(stories["three words"])
			b.ended(b.pawl(append([]string{"resume", "."}, tc.more...)...), 0)
			if got := b.subjects(); len(got) != 3 {
				t.Errorf("commits %q", got)
			}
			b.intact()
		})
	}
}
