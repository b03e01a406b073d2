package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

func TestReadTakesARegularFileOfABoundedSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	write(t, path, "1234", 0o600)
	if got, err := atomicfile.Read(path, 4); err != nil || string(got) != "1234" {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := atomicfile.Read(path, 3); err == nil || !strings.Contains(err.Error(), path+": it is larger than 3 bytes") {
		t.Errorf("too large: %v", err)
	}
	if _, err := atomicfile.Read(dir, 4); !errors.Is(err, atomicfile.ErrNotRegular) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := atomicfile.Read(filepath.Join(dir, "gone"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("there are no links here: ", err)
	}
	if got, err := atomicfile.Read(link, 4); err != nil || string(got) != "1234" {
		t.Errorf("through a link: %q, %v", got, err)
	}
}

func TestFingerprintTellsStatesApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	seen := map[string]string{}
	note := func(what, at string) {
		got := atomicfile.Fingerprint(at, 4)
		if before, known := seen[got]; known {
			t.Errorf("%s and %s are the same: %s", what, before, got)
		}
		seen[got] = what
	}
	note("none", path)
	note("a folder", dir)
	write(t, path, "1234", 0o600)
	note("a file", path)
	write(t, path, "4321", 0o600)
	note("another", path)
	write(t, path, "12345", 0o600)
	note("a large one", path)
	write(t, path, "123456", 0o600)
	note("a larger one", path)
}
