//go:build unix

package protected_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type files map[string]string

// project is a folder with files.
type project struct {
	t    *testing.T
	root string
}

func newProject(t *testing.T, start files) *project {
	t.Helper()
	b := &project{t, t.TempDir()}
	b.write(start)
	return b
}

// write puts files into the project; empty content deletes one.
func (b *project) write(fs files) {
	b.t.Helper()
	for name, content := range fs {
		path := filepath.Join(b.root, name)
		if content == "" {
			if err := os.Remove(path); err != nil {
				b.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			b.t.Fatal(err)
		}
	}
}
