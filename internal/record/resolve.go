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

// PathNames returns the names of a file for authorship: as given, and with links followed.
func PathNames(path string) []string {
	return []string{filepath.ToSlash(filepath.Clean(path)), filepath.ToSlash(ResolvePath(path))}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
