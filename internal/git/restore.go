package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Restored is the result of a restore.
type Restored struct {
	Before  string    // tree of the work tree before; restoring it undoes the restore
	After   string    // tree of the work tree now; the target unless Left has files
	Changed []string  // paths written or deleted, sorted
	Left    []Skipped // what still differs, and why
}

// Restore makes the work tree equal to a checkpoint, commit or tree, except for the paths in keep
// (files or folders). It compares with a new snapshot and writes or deletes exactly what differs.
// Files that a snapshot does not capture (ignored or oversized files, nested repositories,
// submodules) stay, and are reported if they are in the way. HEAD, the user's index and stashes do
// not change. A restore that was interrupted can be run again.
func (r *Repo) Restore(ctx context.Context, target string, keep []string) (Restored, error) {
	s, err := r.snapshot(ctx)
	if err != nil {
		return Restored{}, err
	}
	defer s.close()
	done := Restored{Before: s.tree}
	if err := r.restore(ctx, s, target, keep, &done); err != nil {
		return done, fmt.Errorf("restore %s: %w", target, err)
	}
	s.tree = done.After
	r.keepIndex(s)
	return done, nil
}

func (r *Repo) restore(ctx context.Context, s *snapshot, target string, keep []string, done *Restored) error {
	changes, err := r.Diff(ctx, s.tree, target)
	if err != nil {
		return err
	}
	kept := newPathSet(keep)
	changes = slices.DeleteFunc(changes, func(c Change) bool { return kept.covers(c.Path) })
	if changes, err = r.removeConflicts(ctx, changes, done); err != nil {
		return err
	}
	if err := r.checkObjects(ctx, changes); err != nil {
		return err
	}
	if err := r.deleteFiles(changes); err != nil {
		return err
	}
	if err := r.setEntries(ctx, s.index, changes); err != nil {
		return err
	}
	if err := r.writeFiles(ctx, s.index, changes); err != nil {
		return err
	}
	done.Changed = append(done.Changed, Paths(changes)...)
	done.After, err = r.writeTree(ctx, s.index)
	return err
}

// writeFiles writes the changed entries of a private index to the work tree.
func (r *Repo) writeFiles(ctx context.Context, index string, changes []Change) error {
	var paths []string
	for _, c := range changes {
		if c.Status != 'D' {
			paths = append(paths, c.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	_, err := r.run(ctx, call{args: []string{"checkout-index", "--force", "--index", "-z", "--stdin"}, index: index, stdin: joinNul(paths)})
	if stderrContains(err, "Permission denied") {
		return failure.New(failure.Error, "make the folder writable, then restore again", "%w", err)
	}
	return missingObjectError(err, "a file")
}

// checkObjects checks, before anything is deleted, that all content to be written exists.
func (r *Repo) checkObjects(ctx context.Context, changes []Change) error {
	var ids bytes.Buffer
	byID := map[string]string{}
	for _, c := range changes {
		if c.Status != 'D' {
			fmt.Fprintln(&ids, c.To.ID)
			byID[c.To.ID] = c.Path
		}
	}
	if ids.Len() == 0 {
		return nil
	}
	out, err := r.run(ctx, call{args: []string{"cat-file", "--batch-check=%(objectname)"}, stdin: ids.Bytes()})
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		if id, lost := strings.CutSuffix(strings.TrimSpace(line), " missing"); lost {
			return failure.New(failure.Error, "look at what is damaged: git fsck; another checkpoint may be whole",
				"git has lost the content of %q; nothing was changed", byID[id])
		}
	}
	return nil
}

// deleteFiles removes the files that the target lacks, and folders that become empty.
func (r *Repo) deleteFiles(changes []Change) error {
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, c := range changes {
		if c.Status != 'D' {
			continue
		}
		name := filepath.FromSlash(c.Path)
		err := root.Remove(name)
		if errors.Is(err, fs.ErrPermission) {
			return failure.New(failure.Error, "make the folder writable, then restore again", "delete %q: %w", c.Path, err)
		}
		if err != nil && !isAbsent(err) {
			return fmt.Errorf("delete %q: %w", c.Path, err)
		}
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			if root.Remove(dir) != nil {
				break // not empty, or already gone
			}
		}
	}
	return nil
}

// removeConflicts drops changes that would overwrite files that are in no snapshot, and lists them
// in done.Left.
func (r *Repo) removeConflicts(ctx context.Context, changes []Change, done *Restored) ([]Change, error) {
	deleted := map[string]string{} // folded path → path: on some file systems a and A are one file
	for _, c := range changes {
		if c.Status == 'D' {
			deleted[strings.ToLower(c.Path)] = c.Path
		}
	}
	var ahead []Change
	for _, c := range changes {
		var reason string
		switch {
		case c.From.Mode == modeSubmodule || c.To.Mode == modeSubmodule:
			reason = "a submodule"
		case c.Status == 'A':
			var err error
			if reason, err = r.obstacle(ctx, c, deleted); err != nil {
				return nil, err
			}
		}
		if reason != "" {
			done.Left = append(done.Left, Skipped{Path: c.Path, Reason: reason})
			continue
		}
		ahead = append(ahead, c)
	}
	return ahead, nil
}

// obstacle returns the file, in no snapshot, at the place where a file would be written. It returns
// "" if there is none or the same file.
func (r *Repo) obstacle(ctx context.Context, c Change, deleted map[string]string) (string, error) {
	ours := func(p string, info fs.FileInfo) bool {
		d, ok := deleted[strings.ToLower(p)]
		if !ok || d == p {
			return ok
		}
		other, err := os.Lstat(r.path(d))
		return err == nil && os.SameFile(info, other)
	}
	if dir := r.firstNonFolder(c.Path); dir != "" {
		info, err := os.Lstat(r.path(dir))
		if err != nil {
			return "", ignoreNotExist(err)
		}
		if ours(dir, info) || isSpecialFile(info) {
			return "", nil
		}
		return fmt.Sprintf("%q is in the way, and in no snapshot", dir), nil
	}
	info, err := os.Lstat(r.path(c.Path))
	switch {
	case err != nil:
		return "", ignoreNotExist(err)
	case ours(c.Path, info), isSpecialFile(info):
		return "", nil
	case info.IsDir():
		return r.findUntracked(c.Path, deleted)
	}
	same, err := r.matchesFile(ctx, c, info)
	if same || err != nil {
		return "", err
	}
	return "a file in no snapshot is there (ignored, or too large)", nil
}

// ignoreNotExist turns fs.ErrNotExist into nil.
func ignoreNotExist(err error) error {
	if isAbsent(err) {
		return nil
	}
	return err
}

// isAbsent reports whether an error means that the path does not exist, or that a parent
// is a file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir)
}

// findUntracked returns a file in a folder to be removed that the restore does not
// delete.
func (r *Repo) findUntracked(dir string, deleted map[string]string) (string, error) {
	var found string
	err := filepath.WalkDir(r.path(dir), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(r.root, p)
		if err != nil {
			return err
		}
		if _, ok := deleted[strings.ToLower(filepath.ToSlash(rel))]; !ok {
			found = filepath.ToSlash(rel)
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || found == "" {
		return "", err
	}
	return fmt.Sprintf("%q is in the way, and in no snapshot", found), nil
}

// matchesFile reports whether the file at a path has the wanted mode and content.
func (r *Repo) matchesFile(ctx context.Context, c Change, info fs.FileInfo) (bool, error) {
	isLink := info.Mode()&fs.ModeSymlink != 0
	if isLink != (c.To.Mode == modeLink) || !isLink && !info.Mode().IsRegular() {
		return false, nil
	}
	args := []string{"hash-object", "--path=" + c.Path, "--", r.path(c.Path)}
	var stdin []byte
	if isLink {
		target, err := os.Readlink(r.path(c.Path))
		if err != nil {
			return false, err
		}
		args, stdin = []string{"hash-object", "--stdin"}, []byte(filepath.ToSlash(target))
	}
	out, err := r.run(ctx, call{args: args, stdin: stdin})
	return strings.TrimSpace(string(out)) == c.To.ID, err
}

// Unchanged returns the paths at which the work tree equals a tree.
func (r *Repo) Unchanged(ctx context.Context, tree string, paths []string) (same []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	entries, err := r.Entries(ctx, tree, paths...)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		e, there := entries[path]
		info, err := os.Lstat(r.path(path))
		switch {
		case isAbsent(err):
			if !there {
				same = append(same, path)
			}
			continue
		case err != nil:
			return nil, err
		case !there, !e.IsFile(), e.Mode != modeLink && runtime.GOOS != "windows" && (info.Mode()&0o100 != 0) != (e.Mode == "100755"):
			continue
		}
		holds, err := r.matchesFile(ctx, Change{Path: path, To: e}, info)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", path, err)
		}
		if holds {
			same = append(same, path)
		}
	}
	return same, nil
}
