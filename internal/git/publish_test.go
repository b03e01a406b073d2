package git

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A push goes to the addresses that were read. Later changes of the repository's configuration do
// not redirect it, and the sums show them.
func TestPublishUsesReadAddresses(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	there, second, elsewhere := RealPath(t.TempDir()), RealPath(t.TempDir()), RealPath(t.TempDir())
	for _, dir := range []string{there, second, elsewhere} {
		b.git("init", "-q", "--bare", dir)
	}
	b.git("remote", "add", "origin", there)
	b.git("remote", "set-url", "--add", "--push", "origin", there)
	b.git("remote", "set-url", "--add", "--push", "origin", second)
	b.git("branch", "work")
	to, err := b.repo.Remote(t.Context(), "work")
	b.must(err)
	if diff := cmp.Diff([]string{there, second}, to.URLs); diff != "" {
		t.Fatal(diff)
	}

	b.git("remote", "set-url", "--push", "--add", "origin", elsewhere)
	b.git("config", "url."+elsewhere+".pushInsteadOf", there[:len(there)-2])
	b.git("config", "url."+elsewhere+".insteadOf", second[:len(second)-2])
	b.must(b.repo.Publish(t.Context(), to, "work"))
	for dir, want := range map[string]bool{there: true, second: true, elsewhere: false} {
		if got := b.gitIn(dir, "branch", "--list") != ""; got != want {
			t.Errorf("pushed to %s: %t", dir, got)
		}
	}

	now, err := b.repo.Remote(t.Context(), "work")
	b.must(err)
	if now.Sum() == to.Sum() {
		t.Error("an address more has the same sum")
	}
	was, is := to.Sums(), now.Sums()
	for name, want := range map[string]bool{"remote.pushurl": true, "url.insteadof": true, "url.pushinsteadof": true, "remote.url": false} {
		if changed := was[name] != is[name]; changed != want {
			t.Errorf("%s changed: %t", name, changed)
		}
	}
}

// The user's hooks run for a push, wherever they are.
func TestPublishRunsTheUsersHooks(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	there := RealPath(t.TempDir())
	b.git("init", "-q", "--bare", there)
	b.git("remote", "add", "origin", there)
	b.git("branch", "work")
	b.git("config", "core.hooksPath", ".git/hooks")
	b.hook(".git/hooks/pre-push", "exit 1\n")
	to, err := b.repo.Remote(t.Context(), "work")
	b.must(err)
	if err := b.repo.Publish(t.Context(), to, "work"); err == nil {
		t.Error("pushed past the hook")
	}
}
