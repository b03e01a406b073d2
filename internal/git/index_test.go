//go:build unix

package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A filter shows git other content than the file has. Both the private index and the user's index
// remember what git saw.
func TestFilterDoesNotHideContent(t *testing.T) {
	for name, look := range map[string]func(*sandbox){
		"git looked":  func(b *sandbox) { b.git("status"); b.git("add", "-A") },
		"we looked":   func(b *sandbox) { b.snapshot() },
		"both looked": func(b *sandbox) { b.git("add", "-A"); b.snapshot(); b.git("status") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newRepo(t, "a", "old", ".gitattributes", "a filter=same\n")
			was := b.snapshot()
			b.write(".git/old", "old")
			b.write("a", "new")
			b.git("config", "filter.same.clean", "cat .git/old")
			look(b)
			if b.snapshot() != was {
				t.Fatal("the filter hides nothing")
			}
			b.git("config", "--remove-section", "filter.same")
			if err := b.repo.InvalidateIndexes(); err != nil {
				t.Fatal(err)
			}
			tree := b.snapshot()
			if got, err := b.repo.Show(t.Context(), tree, "a"); err != nil || string(got) != "new" {
				t.Fatalf("%q, %v", got, err)
			}
			if again := b.snapshot(); again != tree {
				t.Errorf("another tree the next time: %s, %s", tree, again)
			}
		})
	}
}

// An index is a cache that can be forged: git add with a filter stores the new file's times with
// the old content.
func TestForgedIndexIsNotTrusted(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	for name, lie := range map[string]func(b *sandbox, add func(index string)){
		"the user's":         func(_ *sandbox, add func(string)) { add("") },
		"the user's, anew":   func(b *sandbox, add func(string)) { add(""); b.write("b", "b"); b.git("add", "b") },
		"the kept one":       func(b *sandbox, add func(string)) { add(b.repo.keptIndexes()[0]) },
		"none is kept":       func(b *sandbox, add func(string)) { b.must(os.Remove(b.repo.keptIndexes()[0])); add("") },
		"a file of long ago": func(b *sandbox, add func(string)) { long = time.Unix(0, 0); add("") },
		"kept under another name": func(b *sandbox, _ func(string)) {
			b.snapshot()
			old := b.repo.keptIndexes()[0]
			b.must(os.Rename(old, filepath.Join(filepath.Dir(old), "index-"+b.stamp()+"-"+b.git("write-tree")+"-0")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newRepo(t, "a", "old", "c", "c")
			b.snapshot()
			b.write(".git/old", "old")
			b.write(".git/attributes", "a filter=same")
			b.write("a", "new")
			lie(b, func(index string) {
				b.must(os.Chtimes(b.path("a"), long, long))
				if index != "" {
					t.Setenv("GIT_INDEX_FILE", index)
				}
				b.git("-c", "core.attributesFile=.git/attributes", "-c", "filter.same.clean=cat .git/old", "add", "a")
				if index != "" {
					b.must(os.Unsetenv("GIT_INDEX_FILE"))
				}
				b.must(os.Chtimes(b.path(".git/index"), long.Add(time.Minute), long.Add(time.Minute)))
			})
			for range 2 {
				if got, err := b.repo.Show(t.Context(), b.snapshot(), "a"); err != nil || string(got) != "new" {
					t.Fatalf("%q, %v", got, err)
				}
			}
		})
	}
}

// The next process of a loop trusts the index that the last one recorded, and no other.
func TestRecordedIndexIsTrusted(t *testing.T) {
	b := newRepo(t, "a", "old")
	file := filepath.Join(t.TempDir(), "kept")
	b.repo.LoadTrustedIndex(file)
	b.snapshot()
	next := func() *Repo {
		r := &Repo{root: b.repo.root, gitDir: b.repo.gitDir, commonDir: b.repo.commonDir, lockWait: lockWait}
		r.LoadTrustedIndex(file)
		return r
	}
	to := filepath.Join(t.TempDir(), "index")
	if s, isKnown := next().copyKeptIndex(to); s.had == "" || !isKnown {
		t.Errorf("not trusted: %+v, %v", s, isKnown)
	}
	f, err := os.OpenFile(b.repo.keptIndexes()[0], os.O_APPEND|os.O_WRONLY, 0)
	b.must(err)
	_, err = f.WriteString("x")
	b.must(errors.Join(err, f.Close()))
	if s, isKnown := next().copyKeptIndex(to); s.had != "" || !isKnown {
		t.Errorf("trusted: %+v, %v", s, isKnown)
	}
}

// stamp returns the state of the user's index.
func (b *sandbox) stamp() string {
	stamp, err := indexStamp(b.path(".git/index"))
	b.must(err)
	return stamp
}

// An agent can put a link, or a file, in the place of the folder of private indexes. What Pawl
// deletes in that folder is not what a user has elsewhere.
func TestIndexFolderIsNoLink(t *testing.T) {
	for name, replace := range map[string]func(b *sandbox, at, outside string){
		"link": func(b *sandbox, at, outside string) { b.must(os.Symlink(outside, at)) },
		"file": func(b *sandbox, at, _ string) { b.must(os.WriteFile(at, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newRepo(t, "a", "1")
			b.snapshot()
			outside, old := t.TempDir(), time.Now().Add(-100*24*time.Hour)
			for _, name := range []string{"op-notes", "index-mine", "writing-book"} {
				file := filepath.Join(outside, name)
				b.must(os.WriteFile(file, nil, 0o600))
				b.must(os.Chtimes(file, old, old))
			}
			for _, use := range []func() error{
				func() error { b.snapshot(); return nil },
				b.repo.InvalidateIndexes,
				func() error { _ = b.repo.saveWriteNote(call{args: []string{"update-ref"}}); return nil },
			} {
				b.must(os.RemoveAll(b.repo.IndexDir()))
				replace(b, b.repo.IndexDir(), outside)
				b.must(use())
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) != 3 {
				t.Errorf("of the user's files are left: %v, %v", left, err)
			}
		})
	}
}
