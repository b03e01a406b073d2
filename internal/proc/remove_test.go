package proc

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRemoveAllRemovesReadOnlyFolders(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	module := filepath.Join(dir, "module@v1", "src")
	err := errors.Join(os.MkdirAll(module, 0o700), os.WriteFile(filepath.Join(module, "a.go"), nil, 0o400),
		os.Chmod(module, 0o500), os.Chmod(filepath.Dir(module), 0o500))
	if err != nil {
		t.Fatal(err)
	}
	if err := RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
