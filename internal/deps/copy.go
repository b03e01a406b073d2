package deps

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/regex"
)

const (
	// Files and bytes of a folder that is still copied.
	maxFiles = 150_000
	maxBytes = 2 << 30

	maxScript = 1 << 20 // bytes of a script that is read for paths
)

// ErrTooLarge says that a folder is too large to copy.
var ErrTooLarge = errors.New("too large")

// Fingerprint returns a text that differs for each state of a folder, made from names, sizes and
// times. It returns ErrTooLarge for a folder that is too large to copy.
func Fingerprint(ctx context.Context, root, folder string) (string, error) {
	top := filepath.Join(root, filepath.FromSlash(folder))
	h, files, size := sha256.New(), 0, int64(0)
	err := filepath.WalkDir(top, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() && isScratch(e):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		files, size = files+1, size+info.Size()
		if files > maxFiles || size > maxBytes {
			return ErrTooLarge
		}
		_, err = fmt.Fprintln(h, file[len(top):], info.Mode(), info.Size(), info.ModTime().UnixNano(), ChangeTime(info))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", folder, err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// isScratch: whatever runs writes there, so it is not copied.
func isScratch(e fs.DirEntry) bool { return IsScratch(e.Name()) }

// IsScratch reports whether programs that run keep their caches in folders of that name.
func IsScratch(name string) bool {
	return slices.Contains([]string{".cache", ".vite", ".vitest", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}, name)
}

// Copier copies folders of dependencies from one checkout to another. What leads
// into the first one there, a symbolic link or a path in an installed script, leads
// into the second one in the copy.
type Copier struct {
	From, To string // roots of the checkouts, absolute
	SeenAs   string // path at which the second one is seen by what runs in it, "" for its own
	Kept     string // folder that holds what Keep copied of the first one, "" to copy from there
	ReadOnly bool
}

// Keep copies a folder of the checkout at root below another folder, as it is, without its
// scratch: for a Copier, later. It must not be there yet.
func Keep(ctx context.Context, root, folder, below string) error {
	from, to := filepath.Join(root, filepath.FromSlash(folder)), filepath.Join(below, filepath.FromSlash(folder))
	return copyFolder(ctx, from, to, func(_ fs.DirEntry, file, target string) error { return CopyFile(file, target) })
}

// Copy copies one folder, without its scratch. It must not be there yet.
func (c Copier) Copy(ctx context.Context, folder string) error {
	from, to := filepath.Join(cmp.Or(c.Kept, c.From), filepath.FromSlash(folder)), filepath.Join(c.To, filepath.FromSlash(folder))
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return copyFolder(ctx, from, to, func(e fs.DirEntry, file, target string) error {
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			return c.link(file, target)
		case e.Type().IsRegular():
			return c.file(file, target)
		}
		return nil
	})
}

// copyFolder makes the folders of one folder in another, and calls copyFile for what else is in them.
// It leaves scratch empty: it is there, so that a run which makes it leaves no trace.
func copyFolder(ctx context.Context, from, to string, copyFile func(e fs.DirEntry, file, target string) error) error {
	return filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		target := filepath.Join(to, file[len(from):])
		if !e.IsDir() {
			return copyFile(e, file, target)
		}
		if err := os.MkdirAll(target, 0o755); err != nil || !isScratch(e) {
			return err
		}
		return fs.SkipDir
	})
}

// link makes a symbolic link that leads to the same place of the other checkout.
func (c Copier) link(file, target string) error {
	to, err := os.Readlink(file)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(c.Kept, file); err == nil && c.Kept != "" {
		file = filepath.Join(c.From, below)
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	if below, err := filepath.Rel(c.From, to); err == nil && filepath.IsLocal(below) {
		to = filepath.Join(cmp.Or(c.SeenAs, c.To), below)
	}
	return os.Symlink(to, target)
}

// CopyFile copies a file, or a symbolic link as it is, to where nothing is yet. What is
// neither (a socket) is left out.
func CopyFile(file, target string) error {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(file)
		if err != nil {
			return err
		}
		return os.Symlink(to, target)
	case info.Mode().IsRegular():
		return Copier{}.file(file, target)
	}
	return nil
}

func (c Copier) file(file, target string) error {
	in, err := atomicfile.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if c.ReadOnly {
		mode = mode&0o555 | 0o400
	}
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if c.From != "" && namesRoot(file) && info.Size() <= maxScript {
		err = c.relocate(out, in)
	} else {
		_, err = io.Copy(out, in)
	}
	return errors.Join(err, out.Close())
}

// namesRoot reports whether an installer writes the checkout's path into such a file:
// the scripts of a virtual environment, and the links of an editable install.
func namesRoot(file string) bool {
	base, dir := filepath.Base(file), filepath.Base(filepath.Dir(file))
	return dir == "bin" || dir == ".bin" || strings.HasPrefix(base, "__editable__") || strings.HasSuffix(base, ".pth")
}

// relocate copies a script with the path of the other checkout in it.
func (c Copier) relocate(out io.Writer, in io.Reader) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if !bytes.ContainsRune(data, 0) { // else it is a program
		path := regex.New(regexp.QuoteMeta(c.From) + `([/"':\s]|$)`)
		data = path.ReplaceAll(data, []byte(strings.ReplaceAll(cmp.Or(c.SeenAs, c.To), "$", "$$")+"$1"))
	}
	_, err = out.Write(data)
	return err
}
