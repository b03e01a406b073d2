package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hook installs one of the user's hooks.
func (b *sandbox) hook(name, script string) {
	b.Helper()
	b.write(name, "#!/bin/sh\n"+script)
	b.must(os.Chmod(b.path(name), 0o755))
}

func TestRunHooks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arrange func(b *sandbox)
		want    HookResult
		file    string // a's content afterwards
	}{
		"none": {
			func(b *sandbox) {},
			HookResult{Message: "feat: x"},
			"changed",
		},
		"not executable": {
			func(b *sandbox) { b.write(".git/hooks/pre-commit", "exit 1") },
			HookResult{Message: "feat: x"},
			"changed",
		},
		"pre-commit sees what is staged, and no more": {
			func(b *sandbox) {
				b.write("mine", "untracked before")
				b.hook(".git/hooks/pre-commit", "git diff --cached --name-status; git ls-files --others; pwd")
			},
			HookResult{Message: "feat: x", Output: "M\ta\nA\tnew\nmine\nROOT"},
			"changed",
		},
		"pre-commit refuses": {
			func(b *sandbox) {
				b.hook(".git/hooks/pre-commit", "echo lint: bad >&2; exit 3")
				b.hook(".git/hooks/commit-msg", "echo not reached")
			},
			HookResult{Failed: "pre-commit", ExitCode: 3, Message: "feat: x", Output: "lint: bad"},
			"changed",
		},
		"pre-commit formats and stages": {
			func(b *sandbox) {
				b.hook(".git/hooks/pre-commit", "echo formatted > a; git add a; git diff --cached --quiet -- a || exit 0")
			},
			HookResult{Message: "feat: x"},
			"formatted\n",
		},
		"commit-msg rewrites": {
			func(b *sandbox) {
				b.hook(".git/hooks/commit-msg", `test "$1" = "$(git rev-parse --absolute-git-dir)/COMMIT_EDITMSG" && echo "Change-Id: I1" >> "$1"`)
			},
			HookResult{Message: "feat: x\nChange-Id: I1"},
			"changed",
		},
		"commit-msg refuses": {
			func(b *sandbox) { b.hook(".git/hooks/commit-msg", "exit 1") },
			HookResult{Failed: "commit-msg", ExitCode: 1, Message: "feat: x"},
			"changed",
		},
		"prepare-commit-msg adds the ticket": {
			func(b *sandbox) {
				b.hook(".git/hooks/prepare-commit-msg", `test "$2" = message && sed -i.bak '1s/^/JIRA-7 /' "$1"`)
				b.hook(".git/hooks/commit-msg", `grep -q '^JIRA-' "$1"`)
			},
			HookResult{Message: "JIRA-7 feat: x"},
			"changed",
		},
		"core.hooksPath": {
			func(b *sandbox) {
				b.git("config", "core.hooksPath", "tools/hooks")
				b.write(".git/info/exclude", "tools\n")
				b.hook("tools/hooks/pre-commit", "echo here; exit 1")
				b.hook(".git/hooks/pre-commit", "echo not there")
			},
			HookResult{Failed: "pre-commit", ExitCode: 1, Message: "feat: x", Output: "here"},
			"changed",
		},
		"cannot start": {
			func(b *sandbox) {
				b.write(".git/hooks/pre-commit", "#!/no/such/interpreter\n")
				b.must(os.Chmod(b.path(".git/hooks/pre-commit"), 0o755))
			},
			HookResult{Failed: "pre-commit", ExitCode: -1, Message: "feat: x", Output: "no such file or directory"},
			"changed",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "a", "a")
			tc.arrange(b)
			b.write("a", "changed")
			b.write("new", "x")
			before := b.untouchable()
			tree := b.overlay(b.snapshot(), "HEAD", "mine")
			got, err := b.repo.RunHooks(context.Background(), HookRequest{Tree: tree, Message: "feat: x"})
			b.must(err)
			got.Output = strings.ReplaceAll(got.Output, b.dir, "ROOT")
			if i := strings.Index(got.Output, "no such file"); i >= 0 {
				got.Output = got.Output[i:]
			}
			tc.want.Ran = name != "none" && name != "not executable"
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := b.read("a"); got != tc.file {
				t.Errorf("a = %q", got)
			}
			if b.untouchable() != before {
				t.Error("the user's index, HEAD or a branch changed")
			}
		})
	}
}

func TestRunHooksOfALinkedWorktree(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.hook(".git/hooks/pre-commit", "git rev-parse --show-toplevel; exit 1")
	w, _, err := b.repo.LoopWorktree(context.Background(), filepath.Join(t.TempDir(), "w"), "pawl/l", "HEAD")
	b.must(err)
	got, err := w.RunHooks(context.Background(), HookRequest{Tree: "HEAD", Message: "m"})
	b.must(err)
	if got.Failed != "pre-commit" || got.Output != w.Root() {
		t.Errorf("got %+v", got)
	}
}

func TestRunHooksIsBounded(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.hook(".git/hooks/pre-commit", "echo waiting; sleep 1000 & wait")
	q := HookRequest{Tree: "HEAD", Message: "m", Timeout: 100 * time.Millisecond}
	got, err := b.repo.RunHooks(context.Background(), q)
	b.must(err)
	if !got.TimedOut || got.Failed != "pre-commit" || got.Output != "waiting" {
		t.Errorf("got %+v", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	q.Timeout = 0
	if _, err := b.repo.RunHooks(ctx, q); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
