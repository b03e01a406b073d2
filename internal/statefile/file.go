package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// readFile returns the content and the FileInfo of another tool's file. It does not follow links,
// which may lead to files that nobody wanted to share.
func readFile(path string, most int64) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	odd := failure.New(failure.Usage, "put a file in its place, or remove it", "%s is not a regular file of at most %d bytes", path, most)
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, nil, odd
	}
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1)) // it may have grown since
	if err = errors.Join(err, f.Close()); err == nil && int64(len(data)) > most {
		err = odd
	}
	return data, info, err
}

// readAndParse reads such a file and parses it.
func readAndParse[F any](path string, most int64, parse func([]byte) (F, error)) (f F, info fs.FileInfo, err error) {
	data, info, err := readFile(path, most)
	if err != nil {
		return f, nil, err
	}
	f, err = parse(data)
	return f, info, err
}

// writeFile replaces the content of a file that readFile has read.
func writeFile(path string, data []byte) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("write %s: %w", path, atomicfile.ErrNotRegular)
	}
	return atomicfile.Write(path, data, 0o644)
}

// existingPath returns path if it exists, else "".
func existingPath(path string) string {
	if path == "" {
		return ""
	}
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// relativePaths returns the paths that are inside root, relative to it, with slashes.
func relativePaths(root string, paths ...string) []string {
	var own []string
	for _, path := range paths {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			own = append(own, filepath.ToSlash(rel))
		}
	}
	return own
}
