package git

import (
	"context"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTreesAreAsGitHasThem makes random changes, and compares the trees that are read and written
// with the results of git's commands.
func TestTreesAreAsGitHasThem(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		b := randomRepo(rt, t.TempDir())
		defer os.RemoveAll(b.dir)
		b.play(rt, "before")
		from := b.reference()
		b.play(rt, "after")
		to := b.reference()
		changes, err := b.repo.Diff(ctx, from, to)
		b.must(err)
		out, err := b.repo.run(ctx, call{args: []string{"diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to}})
		b.must(err)
		want, err := parseRaw(out)
		b.must(err)
		if diff := cmp.Diff(append([]Change{}, want...), append([]Change{}, changes...)); diff != "" {
			rt.Fatalf("the difference: %s", diff)
		}
		below := func(path string, _ Entry) bool { return strings.Contains(path, "/") }
		selection := NewSelection(below)
		for _, tree := range []string{from, to, from} { // the second and third are computed from differences
			got, err := b.repo.Entries(ctx, tree)
			b.must(err)
			want := b.slowEntries(tree)
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("the list of %s: %s", tree, diff)
			}
			folders := map[string]bool{}
			for file := range want {
				for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
					folders[dir] = true
				}
			}
			asked := append(slices.Collect(maps.Keys(folders)), "no", "a/no/such")
			if got, err := b.repo.Folders(ctx, tree, asked); err != nil || !maps.Equal(got, folders) {
				rt.Fatalf("the folders of %s: %v, %v; want %v", tree, got, err, folders)
			}
			maps.DeleteFunc(want, func(path string, e Entry) bool { return !below(path, e) })
			got, err = b.repo.Select(ctx, tree, selection)
			b.must(err)
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("the selection of %s: %s", tree, diff)
			}
			if has, err := b.repo.HasAny(ctx, tree, func(path string) bool { return below(path, Entry{}) }); has != (len(want) > 0) || err != nil {
				rt.Fatalf("%s has any: %v, %v", tree, has, err)
			}
		}
		var paths []string
		for i, c := range changes {
			if i%2 == 0 {
				paths = append(paths, c.Path)
			}
		}
		for _, some := range [][]string{nil, paths, {"d"}, {"a", "b/x"}} {
			if got, want := b.overlay(from, to, some...), b.slowOverlay(from, to, some); got != want {
				rt.Fatalf("%q laid over: %s", some, b.git("diff-tree", "-r", want, got))
			}
		}
	})
}

// slowOverlay is Overlay with an index.
func (b *sandbox) slowOverlay(base, from string, paths []string) string {
	b.Helper()
	ctx := context.Background()
	changes, err := b.repo.Diff(ctx, base, from)
	b.must(err)
	wanted := newPathSet(paths)
	var some []Change
	for _, c := range changes {
		if wanted.covers(c.Path) {
			some = append(some, c)
		}
	}
	s, err := b.repo.newScratchDir()
	b.must(err)
	defer s.close()
	_, err = b.repo.run(ctx, call{args: []string{"read-tree", base}, index: s.index})
	b.must(err)
	b.must(b.repo.setEntries(ctx, s.index, some))
	tree, err := b.repo.writeTree(ctx, s.index)
	b.must(err)
	return strings.TrimSpace(tree)
}

// slowEntries is Entries of a whole tree with git's command.
func (b *sandbox) slowEntries(tree string) map[string]Entry {
	b.Helper()
	out, err := b.repo.run(context.Background(), call{args: []string{"ls-tree", "-r", "-z", "--full-tree", tree}})
	b.must(err)
	entries := map[string]Entry{}
	for _, line := range splitNul(out) {
		about, path, _ := strings.Cut(line, "\t")
		words := strings.Fields(about)
		entries[path] = Entry{Mode: words[0], ID: words[2]}
	}
	return entries
}
