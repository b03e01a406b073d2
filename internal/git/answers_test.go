package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Objects are cached by their ids, which never change. Other names are resolved each time.
func TestObjectsAreCached(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "one")
	tree, err := b.repo.TreeOf(t.Context(), "HEAD")
	b.must(err)
	b.write("b", "two")
	b.git("add", "b")
	b.git("commit", "-q", "-m", "two")
	if now, err := b.repo.TreeOf(t.Context(), "HEAD"); err != nil || now == tree {
		t.Errorf("the tree of HEAD is %s still: %v", now, err)
	}
	first, err := b.repo.Show(t.Context(), tree, "a")
	b.must(err)
	first[0] = 'X' // the caller's copy
	blob := b.git("rev-parse", "HEAD:a")
	b.must(os.Remove(filepath.Join(b.dir, ".git", "objects", blob[:2], blob[2:])))
	if again, err := b.repo.Show(t.Context(), tree, "a"); err != nil || string(again) != "one" {
		t.Errorf("%q, %v", again, err)
	}
}

// A written tree that git gc removed is written again.
func TestRemovedTreeIsWrittenAgain(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "one")
	files := map[string][]byte{"b": []byte("two")}
	tree, err := b.repo.WithFiles(t.Context(), "HEAD", files)
	b.must(err)
	b.git("prune", "--expire=now")
	again, err := b.repo.WithFiles(t.Context(), "HEAD", files)
	b.must(err)
	if again != tree || b.git("cat-file", "-t", tree) != "tree" {
		t.Errorf("%s, then %s", tree, again)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	var a answers
	a.keep("too large", object{data: make([]byte, maxAnswer)})
	for i := range 3 * maxAnswers / maxAnswer {
		a.keep(strings.Repeat("q", i+1), object{data: make([]byte, maxAnswer/2)})
	}
	if _, ok := a.get("too large"); ok || a.size > maxAnswers+maxAnswer {
		t.Errorf("%d bytes are kept; too large: %v", a.size, ok)
	}
}
