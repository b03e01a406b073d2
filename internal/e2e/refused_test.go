//go:build unix

package e2e_test

import (
	"cmp"
	"os"
	"strings"
	"syscall"
	"testing"
)

// helloGoal returns the arguments of these tests' goal, with an agent that reaches it in one turn.
func (b *bench) helloGoal(more ...string) []string {
	b.t.Helper()
	return append([]string{"add bye", "--gate", checkWords, "--agent", "scripted", "--agent-command", b.script(part("bye"))}, more...)
}

// Invalid requests end with exit code 2 before anything changes, and say what is wrong and what to
// do.
func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		arrange func(b *bench)
		args    []string // [] = those of hello
		says    []string
		code    int // 0 = 2
	}{
		"a dirty tree": {
			arrange: func(b *bench) { b.write(map[string]string{"hello.txt": "changed\n"}) },
			says:    []string{"changes that are not committed (hello.txt)", "commit or stash them", "--worktree", "--allow-dirty"},
		},
		"no repository": {
			arrange: func(b *bench) {
				if err := os.RemoveAll(b.path(".git")); err != nil {
					b.t.Fatal(err)
				}
			},
			says: []string{"repository", "git init"},
		},
		"a merge under way": {
			arrange: func(b *bench) {
				b.git("checkout", "-q", "-b", "other")
				b.git("commit", "-q", "--allow-empty", "-m", "theirs")
				b.git("checkout", "-q", "main")
				b.git("merge", "-q", "--no-ff", "--no-commit", "other")
			},
			says: []string{"in the middle of a git merge", "git merge --abort"},
		},
		"a gate that nobody trusts": {
			arrange: func(b *bench) {
				b.write(map[string]string{"pawl.toml": "[[gates]]\nname = \"words\"\ncommand = \"touch ../ran\"\n"})
				b.git("add", "-A")
				b.git("commit", "-q", "-m", "gates")
			},
			args: []string{"add bye", "--yes", "--agent", "command", "--agent-command", "true"},
			says: []string{"pawl.toml: touch ../ran", "pawl trust"},
		},
		"no client":       {args: []string{"go", "--gate", "true", "--agent-command", "no-such-client"}, says: []string{"no-such-client", "hint: "}, code: 1},
		"an unknown flag": {args: []string{"go", "--max-iteration", "3"}, says: []string{"--max-iteration", "--max-iterations"}},
		"no such plan":    {args: []string{"plans.md"}, says: []string{"plans.md"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, wordShop(nil))
			if c.arrange != nil {
				c.arrange(b)
			}
			if c.args == nil {
				c.args = b.helloGoal()
			}
			r, want := b.pawl(append([]string{"run"}, c.args...)...), cmp.Or(c.code, 2)
			if r.code != want || !r.contains(c.says...) || !strings.Contains(r.err, "pawl: error: ") {
				t.Errorf("exit %d and %q wanted; %s", want, c.says, r)
			}
			if list := b.pawl("list", "--json"); list.contains(`"id"`) {
				t.Errorf("a loop was made: %s", list.out)
			}
			if _, err := os.Stat(b.home + "/ran"); err == nil {
				t.Error("a command that nobody trusts was run")
			}
		})
	}
}

// A gate from the repository's files runs once it is trusted, and needs trust again when it changes.
func TestChangedGateAsksForTrustAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"pawl.toml": "gates = ['" + checkWords + "']\n"}))
	b.git("tag", "start")
	args := []string{"run", "add bye", "--agent", "scripted", "--agent-command", b.script(part("bye"))}
	if r := b.pawl(args...); r.code != 2 || !r.contains("pawl trust") {
		t.Fatalf("not refused: %s", r)
	}
	if r := b.pawl("trust", "--yes"); r.code != 0 || !r.contains(checkWords) {
		t.Fatalf("not trusted: %s", r)
	}
	if r := b.pawl(args...); r.code != 0 {
		t.Fatalf("trusted, and refused: %s", r)
	}
	b.write(map[string]string{"pawl.toml": "gates = ['true']\n"})
	b.git("commit", "-q", "-a", "-m", "another gate")
	if r := b.pawl(args...); r.code != 2 || !r.contains("pawl.toml: true") {
		t.Errorf("the changed gate: %s", r)
	}
}

// Two loops cannot run in one work tree; the second is told which loop has it. It can run in its own
// worktree.
func TestSecondLoopInWorkTreeIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	b.git("tag", "start")
	slow := b.script("-- 1/run --\ntouch started; sleep 60\n")
	first := b.start("run", "wait", "--gate", checkWords, "--agent", "scripted", "--agent-command", slow)
	first.waitUntil("its turn", func() bool { return exists(b.path("started")) })
	id := b.status().ID

	if r := b.pawl(append([]string{"run"}, b.helloGoal()...)...); r.code != 2 && r.code != 1 || !r.contains(id) {
		t.Errorf("the second must be told of %s: %s", id, r)
	}
	r := b.run(0, b.helloGoal("--worktree")...)
	if got := b.git("log", "--format=%s", "-1", "pawl/"+b.status().ID); got != "feat: add bye" {
		t.Errorf("beside the first: %q; %s", got, r)
	}
	if exists(b.path("bye.txt")) {
		t.Error("the second loop wrote into the first one's tree")
	}
	first.signal(syscall.SIGINT)
	if r := first.wait(); r.code != 130 {
		t.Errorf("the first: %s", r)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
