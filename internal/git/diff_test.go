package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiffNamesEveryKindOfChange(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "mod", "1\n2\n", "gone", "1\n", "exec", "x\n", "type", "x\n", "new\nline", "1\n")
	from := b.snapshot()
	b.write("mod", "1\n3\n4\n")
	b.remove("gone")
	b.must(os.Chmod(b.path("exec"), 0o755))
	b.remove("type")
	b.must(os.Symlink("mod", b.path("type")))
	b.write("new\nline", "2\n")
	b.write("binary", "\x00\x01")
	to := b.snapshot()

	changes, err := b.repo.Diff(ctx, from, to)
	b.must(err)
	var got []string
	for _, c := range changes {
		got = append(got, string(c.Status)+" "+c.From.Mode+" "+c.To.Mode+" "+c.Path)
	}
	want := []string{
		"A  100644 binary", "M 100644 100755 exec", "D 100644  gone", "M 100644 100644 mod",
		"M 100644 100644 new\nline", "T 100644 120000 type",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none, err := b.repo.Diff(ctx, to, to); err != nil || none != nil {
		t.Errorf("no difference: %v, %v", none, err)
	}
	if _, err := b.repo.Diff(ctx, from, "nope"); err == nil {
		t.Error("want an error for an unknown tree")
	}
}

func TestDiffTextIsBounded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "a", "1\n", "dir/b", "1\n", ":(glob)*", "1\n")
	from := b.snapshot()
	b.write("a", strings.Repeat("long line\n", 100_000))
	b.write("dir/b", "2\n")
	b.write(":(glob)*", "2\n")
	to := b.snapshot()
	b.git("config", "diff.external", "false")
	b.git("config", "color.ui", "always")
	for name, tc := range map[string]struct {
		options DiffOptions
		files   int
		bytes   int
	}{
		"a folder":           {DiffOptions{Paths: []string{"dir"}}, 1, 0},
		"a name, no pattern": {DiffOptions{Paths: []string{":(glob)*"}}, 1, 0},
		"all":                {DiffOptions{}, 3, 0},
		"cut":                {DiffOptions{Paths: []string{"a"}, MaxBytes: 1000}, 1, 1000},
	} {
		text, err := b.repo.DiffText(ctx, from, to, tc.options)
		b.must(err)
		if got := strings.Count(text, "diff --git"); got != tc.files {
			t.Errorf("%s: %d files, want %d:\n%.300s", name, got, tc.files, text)
		}
		if tc.bytes > 0 && len(text) != tc.bytes {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "one\n\ntwo", "b", "", "c", strings.Repeat("x", 1<<17))
	entries, err := b.repo.Entries(t.Context(), b.snapshot())
	b.must(err)
	got, err := b.repo.Blobs(t.Context(), []string{entries["a"].ID, entries["b"].ID, entries["c"].ID, entries["a"].ID})
	b.must(err)
	for _, name := range []string{"a", "b", "c"} {
		if text, ok := got[entries[name].ID]; !ok || string(text) != b.read(name) {
			t.Errorf("%s: %t, %.20q", name, ok, text)
		}
	}
	if got, err := b.repo.Blobs(t.Context(), []string{strings.Repeat("1", 40)}); err == nil {
		t.Errorf("an object that is not there: %v", got)
	}
	if got, err := b.repo.Blobs(t.Context(), nil); len(got) != 0 || err != nil {
		t.Errorf("none: %v, %v", got, err)
	}
}

func TestShowAndEntries(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "dir/a\nb", "content", "dirt", "x")
	b.must(os.Symlink("dirt", b.path("link")))
	tree := b.snapshot()
	for path, want := range map[string]string{"dir/a\nb": "content", "link": "dirt"} {
		got, err := b.repo.Show(ctx, tree, path)
		b.must(err)
		if string(got) != want {
			t.Errorf("%q = %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{"dir", "none", "dir/", "--all", "*"} {
		if got, err := b.repo.Show(ctx, tree, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q = %q, %v; want fs.ErrNotExist", path, got, err)
		}
	}
	entries, err := b.repo.Entries(ctx, tree, "dir", "link", "none")
	b.must(err)
	if len(entries) != 2 || entries["link"].Mode != modeLink || entries["dir/a\nb"].Mode != "100644" {
		t.Errorf("entries %v", entries)
	}
	if all, err := b.repo.Entries(ctx, tree); err != nil || len(all) != 4 {
		t.Errorf("all %v, %v", all, err)
	}
}

func TestOverlayTakesPathsFromAnotherTree(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "src/a", "before", "test/a", "before", "test/gone", "before", "file", "before")
	base := b.snapshot()
	b.write("src/a", "after")
	b.write("test/a", "after")
	b.write("test/new", "after")
	b.remove("test/gone")
	b.remove("file")
	b.write("file/inner", "after")
	from := b.snapshot()
	untouched := b.untouchable()
	tests := map[string]struct {
		paths []string
		want  string
	}{
		"a folder":             {[]string{"test/"}, "M\ttest/a\nD\ttest/gone\nA\ttest/new"},
		"a file, a deletion":   {[]string{"test/a", "test/gone", "none"}, "M\ttest/a\nD\ttest/gone"},
		"a file turned folder": {[]string{"file/inner"}, "D\tfile\nA\tfile/inner"},
		"nothing":              {nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := b.overlay(base, from, tc.paths...)
			if diff := cmp.Diff(tc.want, b.git("diff-tree", "-r", "--name-status", base, got)); diff != "" {
				t.Errorf("against base (-want +got):\n%s", diff)
			}
		})
	}
	if b.untouchable() != untouched || b.snapshot() != from {
		t.Error("the index, HEAD or the work tree changed")
	}
}

func TestCheckpointsAreNumberedAndNeverOverwritten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t)
	b.git("config", "user.name", "") // Pawl does not need the user's identity
	head := b.git("rev-parse", "HEAD")
	make := func(content string) Checkpoint {
		b.write("a", content)
		return b.checkpoint()
	}
	one := make("1")
	two := make("2")
	other, err := Open(ctx, b.dir) // another process
	b.must(err)
	b.write("a", "3")
	three, err := other.Checkpoint(ctx, "brisk-otter", "try")
	b.must(err)
	four := make("4") // 3 is taken, and 2 was the last that this process knew
	points, err := b.repo.Checkpoints(ctx, "brisk-otter")
	b.must(err)
	if diff := cmp.Diff([]Checkpoint{one, two, three, four}, points); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if one.N != 1 || two.N != 2 || three.N != 3 || four.N != 4 || points[0].Subject != "try" {
		t.Errorf("numbers %d %d %d %d", one.N, two.N, three.N, four.N)
	}
	if got := b.git("log", "--format=%H %an <%ae>", "refs/pawl/brisk-otter/3", "--not", "HEAD"); got != strings.Join([]string{
		three.Commit + " Pawl <pawl@localhost>", two.Commit + " Pawl <pawl@localhost>", one.Commit + " Pawl <pawl@localhost>",
	}, "\n") {
		t.Errorf("history:\n%s", got)
	}
	if got := b.git("rev-parse", one.Commit+"^"); got != head {
		t.Errorf("the first one's parent is %s", got)
	}
	if none, err := b.repo.Checkpoints(ctx, "other"); err != nil || none != nil {
		t.Errorf("another loop's: %v, %v", none, err)
	}
	for _, bad := range []string{"", "../heads", "a/b", "a..b", "x.lock", "-x", "a b"} {
		if _, err := b.repo.Checkpoint(ctx, bad, "x"); err == nil {
			t.Errorf("loop %q was accepted", bad)
		}
		if _, err := b.repo.Checkpoints(ctx, bad); err == nil {
			t.Errorf("loop %q was accepted", bad)
		}
	}
}

func TestSubjectOfHostileText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "checkpoint", "\n\n x \ny": "x ", "a\x00b\x1b[31m": "ab[31m", "\xff": "\uFFFD",
	} {
		if got := subject(in); got != want {
			t.Errorf("subject(%q) = %q, want %q", in, got, want)
		}
	}
}

// Git's output is untrusted bytes from a repository: parsers must reject what they do not know and
// return paths unchanged.
func FuzzParsers(f *testing.F) {
	f.Add([]byte("# branch.oid abc\x00# branch.head main\x001 .M N... 100644 100644 100644 a b p q\x00? x\ny\x00"))
	f.Add([]byte("u UU N... 1 2 3 4 a b c path\x002 R. N... 1 2 3 a b R100 new\x00old\x00"))
	f.Add([]byte(":100644 000000 abc 000 D\x00path\x00"))
	f.Add([]byte("100644 blob abc\tpath\x00"))
	f.Add([]byte("1\t2\tpath\x00-\t-\tbin\x00"))
	f.Add([]byte("refs/pawl/l/1\x00abc\x00def\x0012\x00subject\n"))
	f.Add([]byte("worktree /a b\nHEAD abc\nbranch refs/heads/x\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if report, err := parseStatus(data); err == nil {
			for _, file := range report.files {
				if file.path == "" || !bytes.Contains(data, []byte(file.path)) || len(file.sub) != 4 {
					t.Errorf("status: %+v", file)
				}
			}
		}
		if changes, err := parseRaw(data); err == nil {
			for _, c := range changes {
				if c.Path == "" || !bytes.Contains(data, []byte(c.Path)) {
					t.Errorf("raw: %+v", c)
				}
			}
		}
		if entries, err := parseTree(data, 40); err == nil && len(entries) > len(data)/22 {
			t.Errorf("tree: %v", entries)
		}
		if points, err := parseCheckpoints(string(data), "refs/pawl/l/"); err == nil && len(points) > 0 && points[0].N < 1 {
			t.Errorf("points: %v", points)
		}
		parseWorktrees(string(data))
		if paths := splitNul(data); len(paths) > 0 && len(data) > 0 && data[len(data)-1] == 0 && !bytes.Equal(joinNul(paths), data) {
			t.Errorf("nul(fields(%q)) = %q", data, joinNul(paths))
		}
	})
}
