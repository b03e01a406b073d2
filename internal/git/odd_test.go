package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// TestALoopTurnsInOddRepositories does what a loop does (branch, checkpoint, work, commit, restore,
// undo) in each state that a repository may have.
func TestALoopTurnsInOddRepositories(t *testing.T) {
	t.Parallel()
	states := map[string]func(b *sandbox){
		"plain":         func(b *sandbox) {},
		"detached HEAD": func(b *sandbox) { b.git("checkout", "-q", "--detach") },
		"a linked worktree": func(b *sandbox) {
			b.git("worktree", "add", "-q", "../w-"+filepath.Base(b.dir))
			b.dir += "/../w-" + filepath.Base(b.dir)
		},
		"inside a submodule": func(b *sandbox) {
			b.submodule("sub")
			b.dir = b.path("sub")
			b.write("src/a", "a\n")
			b.write("src/b", "b\n")
			b.git("add", "-A")
			b.git("commit", "-qm", "src")
		},
		"with a submodule": func(b *sandbox) { b.submodule("sub") },
		"with a dirty submodule": func(b *sandbox) {
			b.submodule("sub")
			b.write("sub/README", "changed")
		},
		"with a submodule not checked out": func(b *sandbox) { b.submodule("sub"); b.git("submodule", "--quiet", "deinit", "-f", "sub") },
		"a sparse checkout": func(b *sandbox) {
			b.write("out/x", "x")
			b.git("add", "-A")
			b.git("commit", "-qm", "x")
			b.git("sparse-checkout", "set", "src")
		},
		"a sparse index": func(b *sandbox) {
			b.write("out/deep/x", "x")
			b.git("add", "-A")
			b.git("commit", "-qm", "x")
			b.git("sparse-checkout", "set", "--cone", "--sparse-index", "src")
		},
		"a worktree inside":       func(b *sandbox) { b.git("worktree", "add", "-q", "inner") },
		"a repository inside":     func(b *sandbox) { b.must(os.Mkdir(b.path("inner"), 0o755)); b.gitIn(b.path("inner"), "init", "-q") },
		"inside another's folder": func(b *sandbox) { b.gitIn(filepath.Dir(b.dir), "init", "-q") },
		"core.autocrlf":           func(b *sandbox) { b.git("config", "core.autocrlf", "true") },
		"core.fileMode off":       func(b *sandbox) { b.git("config", "core.fileMode", "false") },
		"core.ignoreCase":         func(b *sandbox) { b.git("config", "core.ignoreCase", "true") },
		"a split index":           func(b *sandbox) { b.git("update-index", "--split-index") },
		"an index of version 4":   func(b *sandbox) { b.git("update-index", "--index-version", "4") },
		"an untracked cache":      func(b *sandbox) { b.git("update-index", "--untracked-cache"); b.git("status") },
		"a monitor that lies": func(b *sandbox) {
			b.hook(".git/liar", "printf 'token\\0'\n")
			b.git("config", "core.fsmonitor", ".git/liar")
		},
		"a git dir elsewhere":    func(b *sandbox) { b.git("init", "-q", "--separate-git-dir", b.dir+"-git") },
		"a large untracked file": func(b *sandbox) { b.sparse("big", 101<<20) },
		"a large tracked file":   func(b *sandbox) { b.sparse("big", maxFile+1); b.git("add", "big"); b.git("commit", "-qm", "big") },
		"SHA-256": func(b *sandbox) {
			b.remove(".git")
			b.git("init", "-q", "--object-format=sha256")
			b.git("add", "-A")
			b.git("commit", "-qm", "start")
		},
		"a root reached through a symlink": func(b *sandbox) {
			b.must(os.Symlink(b.dir, b.dir+"-link"))
			b.dir += "-link"
		},
		"a filter": func(b *sandbox) {
			b.git("config", "filter.up.clean", "tr a-z A-Z")
			b.git("config", "filter.up.smudge", "tr A-Z a-z")
			b.write(".gitattributes", "*.up filter=up\n")
			b.write("x.up", "word\n")
			b.git("add", "-A")
			b.git("commit", "-qm", "filter")
		},
		"hooks that fail at everything": func(b *sandbox) {
			for _, name := range []string{"post-index-change", "reference-transaction", "post-checkout"} {
				b.hook(".git/hooks/"+name, "exit 1")
			}
		},
		"hostile configuration": func(b *sandbox) {
			for k, v := range map[string]string{
				"status.showUntrackedFiles": "no", "diff.ignoreSubmodules": "all", "status.renames": "copies",
				"core.quotePath": "true", "color.ui": "always", "core.pager": "false", "core.editor": "false", "diff.noprefix": "true",
				"status.relativePaths": "true", "status.showStash": "true", "core.logAllRefUpdates": "always", "log.date": "relative",
			} {
				b.git("config", k, v)
			}
		},
		"a shallow clone": func(b *sandbox) { b.clone("--depth=1") },
		"a partial clone": func(b *sandbox) { b.git("config", "uploadpack.allowFilter", "true"); b.clone("--filter=blob:none") },
	}
	for name, arrange := range agenttest.Some(states, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "src/a", "a\n", "src/b", "b\n")
			arrange(b)
			b.open()
			b.turn(t)
		})
	}
}

// turn does what a loop does with a work tree.
func (b *sandbox) turn(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	b.write("mine", "untracked before\n")
	dirt := b.git("status", "--porcelain", "-unormal") // a dirty submodule, and untracked files
	_, err := b.repo.EnsureBranch(ctx, "pawl/otter")
	b.must(err)
	base := b.git("rev-parse", "HEAD")
	status, err := b.repo.Status(ctx)
	b.must(err)
	if len(status.Dirty) != 0 || status.Branch != "pawl/otter" {
		t.Fatalf("status %+v", status)
	}
	start := b.checkpoint()
	b.write("src/a", "work\n")
	b.write("src/new\nline", "new\n")
	b.remove("src/b")
	worked := b.checkpoint()
	if start.Tree == worked.Tree {
		t.Fatal("the work was not seen")
	}
	done := b.commit(CommitRequest{Branch: "pawl/otter", Parent: base, Tree: b.overlay(worked.Tree, base, status.Untracked...)})
	if got := b.git("status", "--porcelain", "-unormal"); got != dirt {
		t.Errorf("status after the commit:\n%s\nwant:\n%s", got, dirt)
	}
	changes, err := b.repo.Diff(ctx, base, done.Commit)
	b.must(err)
	if len(changes) != 3 {
		t.Errorf("committed %+v", changes)
	}
	restored := b.restore(start.Commit)
	if restored.After != start.Tree || len(restored.Left) != 0 || b.snapshot() != start.Tree {
		t.Errorf("restored %+v, want tree %s", restored, start.Tree)
	}
	b.restore(restored.Before)
	if got := b.snapshot(); got != worked.Tree {
		t.Error("the undo gave another tree")
	}
	w, err := b.repo.Worktree(ctx, filepath.Join(t.TempDir(), "judge"), start.Tree)
	b.must(err)
	b.must(w.Reset(ctx, worked.Tree))
	b.must(w.Remove(ctx))
}

// clone replaces the repository with a clone.
func (b *sandbox) clone(how string) {
	b.Helper()
	to := b.dir + "-clone"
	b.git("clone", "-q", "--no-local", how, "file://"+b.dir, to)
	b.dir = to
}
