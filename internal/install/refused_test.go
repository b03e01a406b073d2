package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
)

func TestSpecialFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T, path string){
		"a folder":                func(t *testing.T, path string) { put(t, filepath.Join(path, "x"), "", 0o644) },
		"a link to a folder":      func(t *testing.T, path string) { link(t, t.TempDir(), path) },
		"a link to a device":      func(t *testing.T, path string) { link(t, os.DevNull, path) },
		"a link that goes astray": func(t *testing.T, path string) { link(t, filepath.Join(t.TempDir(), "no"), path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t)
			make(t, r.Path)
			before := listing(t, filepath.Dir(r.Path))
			for _, do := range []func(Request) (Result, error){Install, Uninstall} {
				if _, err := do(r); failure.CodeOf(err) != failure.Usage {
					t.Errorf("error = %v", err)
				}
			}
			if diff := cmp.Diff(before, listing(t, filepath.Dir(r.Path))); diff != "" {
				t.Error(diff)
			}
		})
	}
	r := request(t)
	put(t, filepath.Dir(r.Path), "a file where the folder should be", 0o644)
	if _, err := Install(r); err == nil {
		t.Error("no error")
	}
}

func TestAReadOnlyFileIsRefused(t *testing.T) {
	t.Parallel()
	r := request(t)
	put(t, r.Path, clientFile, 0o444)
	if _, err := Install(r); !errors.Is(err, fs.ErrPermission) || failure.Hint(err) == "" {
		t.Errorf("error = %v", err)
	}
	if content(t, r.Path) != clientFile {
		t.Error("it was changed")
	}
	if err := os.Chmod(r.Path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(r); err != nil {
		t.Fatal(err)
	}
	installed := content(t, r.Path)
	if err := os.Chmod(r.Path, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := Uninstall(r); !errors.Is(err, fs.ErrPermission) || content(t, r.Path) != installed {
		t.Errorf("error = %v", err)
	}
}

// If a write fails, the settings stay as they were.
func TestAFailedWriteChangesNothing(t *testing.T) {
	t.Parallel()
	t.Run("of the record", func(t *testing.T) {
		t.Parallel()
		r := request(t)
		put(t, r.Home, "a file where the folder should be", 0o644)
		if _, err := Install(r); err == nil {
			t.Error("no error")
		}
		if _, err := os.Stat(filepath.Dir(r.Path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("left something: %v", err)
		}
	})
	t.Run("of the settings", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS == "windows" {
			t.Skip("folders are not read-only there")
		}
		if os.Geteuid() == 0 {
			t.Skip("root writes into read-only folders")
		}
		r := request(t)
		put(t, r.Path, clientFile, 0o644)
		if err := os.Chmod(filepath.Dir(r.Path), 0o555); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Chmod(filepath.Dir(r.Path), 0o755) }()
		if _, err := Install(r); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("error = %v", err)
		}
		if content(t, r.Path) != clientFile {
			t.Error("it was changed")
		}
	})
}

func TestADamagedRecordIsNamed(t *testing.T) {
	t.Parallel()
	r := request(t)
	put(t, recordPath(r.Home, r.Path), `{"path": "x"`, 0o600)
	for _, do := range []func(Request) (Result, error){Install, Uninstall} {
		if _, err := do(r); err == nil || !strings.Contains(err.Error(), "damaged") || failure.Hint(err) == "" {
			t.Errorf("error = %v", err)
		}
	}
}
