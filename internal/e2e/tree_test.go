//go:build unix

package e2e_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The user's index, stash, untracked files and branches are unchanged, and the commits have the
// user's settings.
func TestUserIndexStashAndBranchesAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords, "notes.txt": "one\n"}))
	b.write(map[string]string{"notes.txt": "stashed\n"})
	b.git("stash", "-q")
	b.git("tag", "start")
	b.write(map[string]string{"mine.txt": "mine\n", "staged.txt": "staged\n"})
	b.git("add", "-N", "staged.txt")
	b.git("reset", "-q")
	before := b.git("stash", "list") + b.git("rev-parse", "main")

	script := b.script(killScripts["three words"])
	b.run(0, "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)

	if after := b.git("stash", "list") + b.git("rev-parse", "main"); after != before {
		t.Errorf("stash and main before: %s, after: %s", before, after)
	}
	if diff := cmp.Diff([]string{"?? mine.txt", "?? staged.txt"}, sortedLines(b.git("status", "--porcelain"))); diff != "" {
		t.Error(diff)
	}
	id := b.status().ID
	if branch := b.git("branch", "--show-current"); branch != "pawl/"+id {
		t.Errorf("on branch %s", branch)
	}
	for _, trailer := range []string{"Pawl-Loop: " + id, "Pawl-Task: 3", "Pawl-Evidence: proven", "Pawl-Receipt: "} {
		if message := b.git("log", "-1", "--format=%(trailers)"); !strings.Contains(message, trailer) {
			t.Errorf("no trailer %q in %q", trailer, message)
		}
	}
	if r := b.pawl("audit", "HEAD"); r.code != 0 {
		t.Errorf("audit: %s", r)
	}
}

// Odd states of a repository in which a loop must work.
func TestOddRepositoryStates(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		arrange func(b *bench)
		args    []string
		branch  string // "" = the loop's own
		left    string // in git status
	}{
		"a detached HEAD": {arrange: func(b *bench) { b.git("checkout", "-q", "--detach") }},
		"a branch":        {arrange: func(b *bench) { b.git("checkout", "-q", "-b", "work") }, branch: "work"},
		"the current one": {arrange: func(*bench) {}, args: []string{"--branch", "current"}, branch: "main"},
		"one that is new": {arrange: func(*bench) {}, args: []string{"--branch", "words"}, branch: "words"},
		"an untracked plan": {
			arrange: func(b *bench) { b.write(map[string]string{"plan.md": "- [ ] add bye\n"}) },
			args:    []string{"--plan", "plan.md"}, left: "?? plan.md",
		},
		"a gate that writes": {
			arrange: func(*bench) {}, args: []string{"--gate", "mkdir -p out && echo ran > out/log"}, left: "?? out/",
		},
		"a gate that writes something else each time": {
			arrange: func(b *bench) { b.write(map[string]string{".git/info/exclude": "out/\n"}) },
			args:    []string{"--gate", "mkdir -p out && date +%N > out/log"},
		},
		"names that are hard to write": {
			arrange: func(b *bench) { b.write(map[string]string{"a\nb.txt": "x\n", "c\xff.txt": "y\n", "-rf.txt": "z\n"}) },
			left:    "?? -rf.txt\n?? \"a\\nb.txt\"\n?? \"c\\377.txt\"",
		},
		"changes to take along": {
			arrange: func(b *bench) { b.write(map[string]string{"hello.txt": "hello\n", "work.txt": "w\n"}) },
			args:    []string{"--allow-dirty"}, left: "?? work.txt",
		},
		"a linked worktree": {
			arrange: func(b *bench) {
				b.git("worktree", "add", "-q", "-b", "linked", "../linked")
				b.root = b.home + "/linked"
			},
			branch: "linked",
		},
		"a sparse checkout": {
			arrange: func(b *bench) {
				b.write(map[string]string{"far/away.txt": "x\n"})
				b.git("add", "-A")
				b.git("commit", "-q", "-m", "far")
				b.git("sparse-checkout", "set", "tests")
			},
		},
		"line endings of Windows": {
			arrange: func(b *bench) {
				b.git("config", "core.autocrlf", "true")
				b.write(map[string]string{"win.txt": "a\r\nb\r\n"})
				b.git("add", "-A")
				b.git("commit", "-q", "-m", "crlf")
			},
		},
		"a repository inside": {
			arrange: func(b *bench) { b.git("init", "-q", "inner") }, left: "?? inner/",
		},
		"a submodule that is not there": {
			arrange: func(b *bench) {
				b.write(map[string]string{".gitmodules": "[submodule \"s\"]\n\tpath = s\n\turl = ../s\n"})
				b.git("add", ".gitmodules")
				b.git("update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,s")
				b.git("commit", "-q", "-m", "submodule")
				if err := os.Mkdir(b.path("s"), 0o755); err != nil {
					b.t.Fatal(err)
				}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, wordShop(nil))
			c.arrange(b)
			b.git("tag", "-f", "start")
			b.run(0, b.helloGoal(c.args...)...)
			want := c.branch
			if want == "" {
				want = "pawl/" + b.status().ID
			}
			if got := b.git("branch", "--show-current"); got != want {
				t.Errorf("on branch %q, want %q", got, want)
			}
			if got := b.git("log", "-1", "--format=%s"); !strings.Contains(got, "add bye") {
				t.Errorf("last commit %q", got)
			}
			if got := b.git("status", "--porcelain"); got != c.left {
				t.Errorf("left over %q, want %q", got, c.left)
			}
		})
	}
}

// The user's changes are committed first, as theirs, and their branch and index can be restored.
func TestAllowDirtyCommitsUserChangesFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(nil))
	b.git("tag", "start")
	b.write(map[string]string{"hello.txt": "hello\n", "tests/hello.sh": wordTest("hello") + "# mine\n"})
	b.run(0, b.helloGoal("--allow-dirty")...)
	log := strings.Split(b.git("log", "--reverse", "--format=%s|%an|%(trailers:key=Pawl-Task)", "start..HEAD"), "\n")
	if len(log) != 2 || !strings.HasPrefix(log[0], "Work in progress before loop") || !strings.HasPrefix(log[1], "feat: add bye") {
		t.Errorf("commits %q", log)
	}
	if got := b.git("show", "HEAD~1:tests/hello.sh"); !strings.Contains(got, "# mine") {
		t.Errorf("the person's change is not theirs: %s", got)
	}
}

// A commit hook's refusal is a gate failure that the agent is told of. Files that a hook writes,
// however slowly, are gated and committed.
func TestCommitHookRefusalIsReportedToAgent(t *testing.T) {
	t.Parallel()
	const refuses = "#!/bin/sh\nif [ ! -e signed.txt ]; then echo 'sign your work in signed.txt' >&2; exit 1; fi\n"
	const formats = "#!/bin/sh\nsleep 3\necho formatted > format.txt\ngit add format.txt\n"
	cases := map[string]struct {
		hook, script, file string
		iterations         int
	}{
		"fails, then passes": {refuses, part("bye") + "-- 2/files/signed.txt --\nme\n-- 2/reply --\n<promise>DONE</promise>\n", "signed.txt", 2},
		"writes":             {formats, part("bye"), "format.txt", 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, wordShop(nil))
			b.git("tag", "start")
			b.write(map[string]string{".git/hooks/pre-commit": c.hook})
			b.run(0, append(b.helloGoal(), "--agent-command", b.script(c.script))...)
			if s := b.status(); s.Iteration != c.iterations || s.Commits != 1 {
				t.Errorf("status %+v", s)
			}
			if got := b.git("ls-tree", "-r", "--name-only", "HEAD"); !strings.Contains(got, c.file) {
				t.Errorf("%s is not in the commit: %s", c.file, got)
			}
			if got := b.git("status", "--porcelain"); got != "" {
				t.Errorf("left over: %s", got)
			}
		})
	}
}
