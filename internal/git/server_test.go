package git

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A server that died is started again by the next request. The same happens after objects were
// packed, because a git only knows the packs that existed when it started.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "one", "b", "two")
	show := func(path, want string) {
		t.Helper()
		got, err := b.repo.Show(t.Context(), "HEAD", path)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	show("a", "one")
	first := b.repo.reader.cmd
	b.must(first.Process.Kill())
	show("b", "two")
	second := b.repo.reader.cmd
	b.git("repack", "-a", "-d", "-q")
	show("README", "hello\n")
	if third := b.repo.reader.cmd; first == second || second == third {
		t.Error("the same git answered")
	}
	b.repo.reader.end()
	show("a", "one")
}

// A request is limited in time and by its context.
func TestServerTimesOut(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	ask := func(ctx context.Context) error {
		return b.repo.askServer(ctx, &b.repo.reader, []string{"cat-file", "--batch"}, nil, func(out *bufio.Reader) error { _, err := out.ReadString(10); return err })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	b.repo.callTime = 100 * time.Millisecond
	if err := ask(t.Context()); !errors.Is(err, errTimeout) {
		t.Error(err)
	}
	if b.repo.reader.cmd != nil {
		t.Error("it still runs")
	}
}

// Objects are read as git reads them; a forged tree is rejected.
func TestForgedTreeIsRejected(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "d/a", "old")
	was := b.snapshot()
	b.write("d/a", "new")
	now := b.snapshot()
	id := b.git("rev-parse", was+":d")
	b.forge(id, "tree", b.raw("tree", b.git("rev-parse", now+":d")))
	b.open() // without a cache
	if _, err := b.repo.Entries(t.Context(), was); err == nil || !strings.Contains(err.Error(), id) {
		t.Error(err)
	}
}
