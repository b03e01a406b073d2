package record

import (
	"os"
	"path/filepath"
)

// PathKeys are the names under which editing tools give the path of their file.
func PathKeys() []string { return []string{"file_path", "notebook_path", "path"} }

// Resolved follows the links of a path whose end need not exist yet.
func Resolved(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
