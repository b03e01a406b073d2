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

// read returns the content of a file of another tool's, and what the disk says of
// it. Links are not followed: they lead to what nobody meant to hand over.
func read(path string, most int64) ([]byte, fs.FileInfo, error) {
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
	data, err := io.ReadAll(io.LimitReader(f, most+1)) // it may have grown meanwhile
	if err = errors.Join(err, f.Close()); err == nil && int64(len(data)) > most {
		err = odd
	}
	return data, info, err
}

// readAs reads such a file, and what it says.
func readAs[F any](path string, most int64, parse func([]byte) (F, error)) (f F, info fs.FileInfo, err error) {
	data, info, err := read(path, most)
	if err != nil {
		return f, nil, err
	}
	f, err = parse(data)
	return f, info, err
}

// write replaces the content of a file that read has returned the content of.
func write(path string, data []byte) error {
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
