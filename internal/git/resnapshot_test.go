package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// TestResnapshotIsASnapshot makes random changes, also to ignore rules and by Pawl's commits. The
// result with a watch must equal what git finds without it.
func TestResnapshotIsASnapshot(t *testing.T) {
	t.Parallel()
	needsWatch(t)
	var asked, watched atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		b := randomRepo(rt, t.TempDir())
		defer os.RemoveAll(b.dir)
		b.write("d/kept.ign", "ignored")
		b.play(rt, "before")
		b.git("add", "-A")
		b.git("commit", "-q", "--allow-empty", "-m", "base")
		b.must(b.repo.AlignIndex(context.Background(), "HEAD"))
		defer b.repo.watchFiles(1)()
		b.snapshot()
		for i := range rapid.IntRange(1, 6).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"play", "play", "play", "commit", "ignore", "new", "track", "look"}).Draw(rt, fmt.Sprint("step", i)) {
			case "play":
				b.play(rt, fmt.Sprint("play", i))
			case "commit":
				base := b.git("rev-parse", "HEAD")
				tree, _, err := b.repo.Resnapshot(context.Background())
				b.must(err)
				b.commit(CommitRequest{Branch: "main", Parent: base, Tree: tree})
			case "ignore":
				b.write(rapid.SampledFrom([]string{".gitignore", ".git/info/exclude"}).Draw(rt, "rules"), rapid.SampledFrom([]string{"*.ign\n", "*.ign\nb\n", ""}).Draw(rt, "ignored"))
			case "look":
				b.snapshot()
			case "new":
				b.write(fmt.Sprintf("new%d/x/y", i), "new")
				b.write(fmt.Sprintf("new%d/x/y.ign", i), "ignored")
			case "track": // commits an ignored file
				b.write("forced.ign", fmt.Sprint(i))
				tree, err := b.repo.WithContent(context.Background(), b.snapshot(), map[string][]byte{"forced.ign": []byte("forced")})
				b.must(err)
				b.commit(CommitRequest{Branch: "main", Parent: b.git("rev-parse", "HEAD"), Tree: tree})
			}
			round, want := b.repo.watching.round, b.reference()
			got, _, err := b.repo.Resnapshot(context.Background())
			b.must(err)
			if got != want {
				rt.Fatalf("the tree differs:\n%s", b.git("diff-tree", "-r", want, got))
			}
			if asked.Add(1); b.repo.watching.round == round {
				watched.Add(1)
			}
		}
		b.equal("afterwards", b.reference())
	})
	if watched.Load() == 0 {
		t.Errorf("%d snapshots, and none by watching", asked.Load())
	}
}

func needsWatch(t *testing.T) {
	t.Helper()
	b := newRepo(t)
	defer b.repo.watchFiles(1)()
	b.snapshot()
	if b.repo.watching.base == nil {
		agenttest.Lacks(t, "folders of this file system are not watched, or the watches of the user are used up")
	}
}

// The test checks that git does not run a status of the whole tree.
func TestResnapshotChecksOnlyChanges(t *testing.T) {
	t.Parallel()
	needsWatch(t)
	b := newRepo(t, "a.txt", "a\n", "dir/b.txt", "b\n")
	ctx := context.Background()
	b.must(b.repo.AlignIndex(ctx, "HEAD"))
	defer b.repo.watchFiles(1)()
	b.snapshot()
	round := b.repo.watching.round
	resnap := func() string {
		t.Helper()
		tree, _, err := b.repo.Resnapshot(ctx)
		b.must(err)
		if want := b.reference(); tree != want {
			t.Errorf("the tree differs:\n%s", b.git("diff-tree", "-r", want, tree))
		}
		return tree
	}
	b.write("dir/new.txt", "new")
	b.remove("a.txt")
	tree := resnap()
	b.commit(CommitRequest{Branch: "main", Parent: b.git("rev-parse", "HEAD"), Tree: tree})
	b.write("dir/new.txt", "newer")
	resnap()
	if b.repo.watching.round != round {
		t.Error("everything was looked at again")
	}
	b.git("config", "core.ignorecase", "true")
	b.repo.watching.plain = ""
	resnap()
	if b.repo.watching.round == round {
		t.Error("names in another case were not looked at")
	}
	if err := os.RemoveAll(b.path("dir")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	resnap()
}
