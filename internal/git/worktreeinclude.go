package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// includeFile lists ignored files that a fresh worktree needs (.env), with patterns as in
// .gitignore.
const includeFile = ".worktreeinclude"

// CopyIncluded copies the ignored and compiled files listed in the project's .worktreeinclude to
// another worktree, with their modes. Existing files stay. It returns the copied paths, none
// without such a file.
func (r *Repo) CopyIncluded(ctx context.Context, to string) ([]string, error) {
	if _, err := os.Stat(r.path(includeFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	paths, err := r.included(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", includeFile, err)
	}
	src, err := os.OpenRoot(r.root)
	if err != nil {
		return nil, fmt.Errorf("copy included files: %w", err)
	}
	defer src.Close()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return nil, fmt.Errorf("copy included files: %w", err)
	}
	defer dst.Close()
	var copied []string
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return copied, err
		}
		fresh, err := copyFile(dst, src, filepath.FromSlash(p))
		if err != nil {
			return copied, fmt.Errorf("copy included file %q: %w", p, err)
		}
		if fresh {
			copied = append(copied, p)
		}
	}
	return copied, nil
}

// included returns the files that match the patterns and are in no tree.
func (r *Repo) included(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, call{args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-from=" + includeFile}})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	paths := splitNul(out)
	found, err := r.ignored(ctx, paths)
	for _, path := range paths {
		if r.isByproduct(path, true) && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found, err
}

// copyFile copies a file or symlink unless the target exists.
func copyFile(dst, src *os.Root, name string) (bool, error) {
	info, err := src.Lstat(name)
	if err != nil || info.IsDir() { // a folder is a nested repository
		return false, ignoreNotExist(err)
	}
	if err := dst.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return false, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := src.Readlink(name)
		if err == nil {
			err = dst.Symlink(target, name)
		}
		return ignoreExist(err)
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	in, err := src.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return false, err
	}
	defer in.Close()
	out, err := dst.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return ignoreExist(err)
	}
	_, err = io.Copy(out, in)
	return true, errors.Join(err, out.Close())
}

// ignoreExist turns fs.ErrExist into nil, and returns that nothing was copied.
func ignoreExist(err error) (bool, error) {
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// NotIncluded returns the files, without folders and compiled files, that git ignores and
// .worktreeinclude does not list: worktrees lack them.
func (r *Repo) NotIncluded(ctx context.Context) ([]string, error) {
	ignored, err := r.Ignored(ctx)
	if err != nil {
		return nil, err
	}
	var included []string
	if _, err := os.Stat(r.path(includeFile)); err == nil {
		if included, err = r.included(ctx); err != nil {
			return nil, fmt.Errorf("read %s: %w", includeFile, err)
		}
	}
	return slices.DeleteFunc(ignored, func(file string) bool {
		return strings.HasSuffix(file, "/") || slices.Contains(included, file) || r.isByproduct(file, true)
	}), nil
}
