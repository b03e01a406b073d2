package git

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
)

func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arrange func(b *sandbox)
		want    string
	}{
		"what origin says": {func(b *sandbox) {
			b.git("update-ref", "refs/remotes/origin/trunk", "HEAD")
			b.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
		}, "trunk"},
		"what is configured": {func(b *sandbox) { b.git("branch", "dev"); b.git("config", "init.defaultBranch", "dev") }, "dev"},
		"main":               {func(b *sandbox) { b.git("config", "init.defaultBranch", "none") }, "main"},
		"master":             {func(b *sandbox) { b.git("branch", "-m", "master") }, "master"},
		"none":               {func(b *sandbox) { b.git("branch", "-m", "other") }, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t)
			tc.arrange(b)
			got, err := b.repo.DefaultBranch(context.Background())
			b.must(err)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A branch that git cannot read is not treated as missing.
func TestUnreadableBranchIsAnError(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.git("checkout", "-q", "--detach")
	b.write(".git/refs/heads/main", "no commit\n")
	if got, err := b.repo.DefaultBranch(context.Background()); err == nil {
		t.Errorf("default branch %q", got)
	}
	if _, err := b.repo.EnsureBranch(context.Background(), "main"); err == nil {
		t.Error("HEAD is on it")
	}
}

func TestEnsureBranchTouchesNoFile(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(b *sandbox){
		"a new one":               func(b *sandbox) {},
		"there, at this commit":   func(b *sandbox) { b.git("branch", "pawl/otter") },
		"there, and on it":        func(b *sandbox) { b.git("checkout", "-q", "-b", "pawl/otter") },
		"from a detached HEAD":    func(b *sandbox) { b.git("checkout", "-q", "--detach") },
		"with changes, staged":    func(b *sandbox) { b.write("README", "x"); b.git("add", "-A") },
		"with changes, untracked": func(b *sandbox) { b.write("new", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t)
			arrange(b)
			before := b.git("status", "--porcelain")
			_, err := b.repo.EnsureBranch(context.Background(), "pawl/otter")
			b.must(err)
			if got := b.git("symbolic-ref", "--short", "HEAD"); got != "pawl/otter" {
				t.Errorf("on %s", got)
			}
			if got := b.git("status", "--porcelain"); got != before {
				t.Errorf("status:\n%s\nwant:\n%s", got, before)
			}
		})
	}
}

// A failed setup leaves no branch behind, and HEAD where it was.
func TestEnsureBranchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, on := range map[string]string{"on a branch": "main", "detached": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t)
			if on == "" {
				b.git("checkout", "-q", "--detach")
			}
			b.repo.lockWait = 50 * time.Millisecond
			b.write(".git/HEAD.lock", "")
			if _, err := b.repo.EnsureBranch(ctx, "pawl/otter"); err == nil {
				t.Error("HEAD was locked")
			}
			if got := b.git("branch", "--list", "pawl/*"); got != "" {
				t.Errorf("left behind: %s", got)
			}
			b.must(os.Remove(b.path(".git/HEAD.lock")))
			undo, err := b.repo.EnsureBranch(ctx, "pawl/otter")
			b.must(err)
			b.must(undo(ctx))
			if got := b.git("branch", "--list", "pawl/*"); got != "" {
				t.Errorf("left behind after undo: %s", got)
			}
			if got, err := b.repo.Branch(ctx); err != nil || got != on {
				t.Errorf("on %q (%v)", got, err)
			}
		})
	}
}

func TestUndoKeepsABranchWithWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t)
	undo, err := b.repo.EnsureBranch(ctx, "pawl/otter")
	b.must(err)
	b.git("commit", "-q", "--allow-empty", "-m", "work")
	b.must(undo(ctx))
	if got, err := b.repo.Branch(ctx); err != nil || got != "pawl/otter" {
		t.Errorf("on %q (%v)", got, err)
	}
	b = newRepo(t)
	b.git("branch", "mine")
	undo, err = b.repo.EnsureBranch(ctx, "mine")
	b.must(err)
	b.must(undo(ctx))
	if got := b.git("branch", "--list", "mine"); got == "" {
		t.Error("a branch of the user's is gone")
	}
}

func TestEnsureBranchRefuses(t *testing.T) {
	t.Parallel()
	for want, arrange := range map[string]func(b *sandbox) string{
		"stands at another commit": func(b *sandbox) string {
			b.git("branch", "old")
			b.git("commit", "-q", "--allow-empty", "-m", "next")
			return "old"
		},
		"is checked out in": func(b *sandbox) string {
			b.git("worktree", "add", "-q", "../other"+b.dir[len(b.dir)-3:], "-b", "busy")
			return "busy"
		},
		"cannot be the name": func(b *sandbox) string { return "a b" },
	} {
		b := newRepo(t)
		_, err := b.repo.EnsureBranch(context.Background(), arrange(b))
		if err == nil || !strings.Contains(err.Error(), want) || failure.Hint(err) == "" {
			t.Errorf("error %v, hint %q, want %q", err, failure.Hint(err), want)
		}
		if got := b.git("symbolic-ref", "--short", "HEAD"); got != "main" {
			t.Errorf("on %s", got)
		}
	}
}

func TestSwitchBackKeepsTheWork(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agent func(b *sandbox)
		was   string // "HEAD" = the detached commit
	}{
		"stayed": {func(b *sandbox) { b.write("work", "x") }, ""},
		"another branch": {func(b *sandbox) {
			b.git("checkout", "-qb", "fix")
			b.write("work", "x")
			b.git("add", "-A")
			b.git("commit", "-qm", "x")
		}, "fix"},
		"detached": {func(b *sandbox) { b.git("checkout", "-q", "--detach"); b.write("work", "x") }, "HEAD"},
		"our branch deleted": {func(b *sandbox) {
			b.git("checkout", "-qb", "fix")
			b.write("work", "x")
			b.git("branch", "-D", "pawl/l")
		}, "fix"},
		"its own was renamed":  {func(b *sandbox) { b.write("work", "x"); b.git("branch", "-m", "renamed") }, "renamed"},
		"an orphan, no commit": {func(b *sandbox) { b.write("work", "x"); b.git("checkout", "-q", "--orphan", "void") }, "void"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "a", "a")
			b.git("checkout", "-q", "-b", "pawl/l")
			base := b.git("rev-parse", "HEAD")
			tc.agent(b)
			tree := b.snapshot()
			if tc.was == "HEAD" {
				tc.was = base
			}
			done, err := b.repo.SwitchBack(context.Background(), SwitchRequest{Loop: "l", Branch: "pawl/l", Base: base, AgentCommits: true})
			b.must(err)
			if diff := cmp.Diff(SwitchResult{From: tc.was, Head: base}, done); diff != "" {
				t.Errorf("switched (-want +got):\n%s", diff)
			}
			if got := b.git("symbolic-ref", "--short", "HEAD") + " " + b.git("rev-parse", "HEAD"); got != "pawl/l "+base {
				t.Errorf("now on %s", got)
			}
			if b.snapshot() != tree {
				t.Error("the work tree changed")
			}
			if got := b.git("status", "--porcelain"); got != "?? work" {
				t.Errorf("status:\n%s", got)
			}
		})
	}
}

// If the other branch lacks the loop's commits, only the changes made there are carried over.
func TestSwitchBackCarriesChangesOver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "a", "a\n", "both", "1\n")
	b.git("checkout", "-q", "-b", "pawl/l")
	b.write("done", "of an earlier task")
	b.write("both", "2\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "an earlier task")
	tip := b.git("rev-parse", "HEAD")
	b.git("checkout", "-q", "main")
	b.write("main", "the user's commit")
	b.git("add", "-A")
	b.git("commit", "-qm", "the user's")
	b.write("work", "x")
	b.write("a", "changed\n")
	b.write("both", "3\n")
	done, err := b.repo.SwitchBack(ctx, SwitchRequest{Loop: "l", Branch: "pawl/l", Base: tip, AgentCommits: true})
	b.must(err)
	if diff := cmp.Diff(SwitchResult{From: "main", Head: tip, Before: done.Before, Clashes: []string{"both"}}, done); diff != "" || done.Before == "" {
		t.Errorf("switched (-want +got):\n%s", diff)
	}
	if got := b.git("symbolic-ref", "--short", "HEAD") + " " + b.git("rev-parse", "HEAD"); got != "pawl/l "+tip {
		t.Errorf("now on %s", got)
	}
	if got := b.git("status", "--porcelain"); got != "M a\n?? work" && got != " M a\n?? work" {
		t.Errorf("status:\n%s", got)
	}
	if got := b.git("show", done.Before+":both") + b.git("log", "-1", "--format=%s", "main"); got != "3the user's" {
		t.Errorf("kept: %s", got)
	}
}
