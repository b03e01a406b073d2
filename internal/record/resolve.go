package record

import (
	"os"
	"path/filepath"
)

// ResolvePath follows the symbolic links of a path whose last parts need not exist.
func ResolvePath(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(resolved, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
