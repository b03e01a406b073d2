package atomicfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

func TestNewFileHasTheGivenMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.json")
	write(t, path, "one", 0o600)
	wantFile(t, path, "one", 0o600)
}

func TestExistingFileKeepsItsMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.sh")
	write(t, path, "one", 0o755)
	write(t, path, "two", 0o600)
	wantFile(t, path, "two", 0o755)
}

func TestNothingElseIsLeftInTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "one", 0o600)
	write(t, filepath.Join(dir, "a"), "two", 0o600)
	if diff := cmp.Diff([]string{"a"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestTemporaryFilesAreRecognized(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{".pawl-123.tmp": true, "plan.md": false, ".pawl-123.txt": false, "x.pawl-1.tmp": false} {
		if got := atomicfile.IsTemp(name); got != want {
			t.Errorf("IsTemp(%q) = %v", name, got)
		}
	}
}

func TestLinkStaysAndItsTargetIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "elsewhere", "plan.md")
	if err := os.Mkdir(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, target, "- [ ] a", 0o640)
	link := filepath.Join(dir, "plan.md")
	symlink(t, filepath.Join("elsewhere", "plan.md"), link)

	write(t, link, "- [x] a", 0o600)
	wantFile(t, target, "- [x] a", 0o640)
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
}

func TestSpecialFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	dangling, toFolder := filepath.Join(dir, "dangling"), filepath.Join(dir, "to-folder")
	symlink(t, "nowhere", dangling)
	symlink(t, "folder", toFolder)
	cases := []struct {
		name, path string
		want       error
	}{
		{"a folder", folder, atomicfile.ErrNotRegular},
		{"a link to a folder", toFolder, atomicfile.ErrNotRegular},
		{"a link to nothing", dangling, fs.ErrNotExist},
		{"a folder that is not there", filepath.Join(dir, "no", "a"), fs.ErrNotExist},
	}
	before := names(t, dir)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := atomicfile.Write(c.path, []byte("x"), 0o600); !errors.Is(err, c.want) {
				t.Errorf("error = %v, want %v", err, c.want)
			}
			if diff := cmp.Diff(before, names(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A reader sees one whole version or another, whoever writes.
func TestReadersNeverSeeAPart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	versions := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 70_000)}
	write(t, path, string(versions[0]), 0o600)
	var writers sync.WaitGroup
	for _, v := range versions {
		writers.Go(func() {
			for range 20 {
				if err := atomicfile.Write(path, v, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, versions[0]) && !bytes.Equal(got, versions[1]) {
			t.Fatalf("read a mixture of %d bytes", len(got))
		}
	}
	writers.Wait()
}

func write(t *testing.T, path, data string, perm fs.FileMode) {
	t.Helper()
	if err := atomicfile.Write(path, []byte(data), perm); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, data string, perm fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(data, string(got)); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != perm {
		t.Errorf("mode = %v, want %v", info.Mode().Perm(), perm)
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
