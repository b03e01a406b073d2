package git

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// UnrecordedModes returns the scripts of a tree that may be executed in the work tree but not in the
// tree. Git records no such change if core.fileMode is false; it returns nil for every other repository.
// Only files with an interpreter line count, since on some file systems every file may be executed.
func (r *Repo) UnrecordedModes(ctx context.Context, tree string) ([]string, error) {
	if ignored, err := r.ignoresModes(ctx); err != nil || !ignored {
		return nil, err
	}
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	var scripts []string
	err = r.walk(ctx, id, nil, func(path string, e Entry) bool {
		if e.Mode == "100644" && isScript(r.path(path)) {
			scripts = append(scripts, path)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("find scripts: %w", err)
	}
	return scripts, nil
}

// ignoresModes reports whether git does not look at the modes of files.
func (r *Repo) ignoresModes(ctx context.Context) (bool, error) {
	if _, set, err := r.setting(ctx, "core.filemode"); err != nil || !set {
		return false, err
	}
	records, err := r.boolSetting(ctx, "core.filemode")
	return !records, err
}

// isScript reports whether a file may be executed and begins with #!.
func isScript(path string) bool {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Mode()&0o100 == 0 {
		return false
	}
	f, err := atomicfile.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	var begin [2]byte
	_, err = io.ReadFull(f, begin[:])
	return err == nil && string(begin[:]) == "#!"
}
