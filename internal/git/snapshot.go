package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/git/indexfile"
)

// Larger untracked files are reported instead of captured.
const (
	maxFile      = 50 << 20 // bytes per file
	maxUntracked = 1 << 30  // bytes in total; the smallest files are captured first
)

// Skipped is a file that a snapshot does not contain, or that a restore does not change.
type Skipped struct {
	Path   string // a folder ends with a /
	Reason string // for a user: "larger than 50 MB"
}

// submoduleChanged is the reason why a snapshot does not contain all of a submodule.
const submoduleChanged = "a submodule with changes of its own"

// Snapshot stores the whole work tree (tracked and untracked, not ignored) as a tree object and
// returns its id: equal content has an equal id. It does not change the user's index or files.
// skipped lists what could not be captured.
func (r *Repo) Snapshot(ctx context.Context) (tree string, skipped []Skipped, err error) {
	base := r.beginWatch(ctx)
	s, err := r.snapshot(ctx)
	if err != nil {
		return "", nil, err
	}
	defer s.close()
	r.keepIndex(s)
	r.watchSince(base, s)
	return s.tree, s.skipped, nil
}

// snapshot is a captured work tree with the index that describes it.
type snapshot struct {
	*scratchDir
	indexSource
	tree    string
	skipped []Skipped
}

// maxSnapshotTries limits how often a snapshot is repeated because files changed meanwhile.
const maxSnapshotTries = 3

func (r *Repo) snapshot(ctx context.Context) (*snapshot, error) {
	sc, err := r.newScratchDir()
	if err != nil {
		return nil, err
	}
	s := &snapshot{scratchDir: sc}
	for range maxSnapshotTries {
		if err = r.capture(ctx, s); err == nil {
			return s, nil
		}
		if ctx.Err() != nil || !errors.As(err, new(*runError)) {
			break
		}
	}
	s.close()
	return nil, fmt.Errorf("take a snapshot of %s: %w", r.root, err)
}

// capture fills the private index and writes its tree. A kept index is discarded first if tracked
// and untracked files in it no longer match the user's index.
func (r *Repo) capture(ctx context.Context, s *snapshot) error {
	todo, stale, err := r.prepareIndex(ctx, s, false)
	if stale && err == nil {
		todo, _, err = r.prepareIndex(ctx, s, true)
	}
	if err != nil {
		return err
	}
	return r.writeSnapshotTree(ctx, s, todo)
}

// prepareIndex creates the private index, from the user's if fresh, and finds what it lacks. A kept
// index is stale if it has untracked files that are ignored now, or if sizes must be counted again.
func (r *Repo) prepareIndex(ctx context.Context, s *snapshot, fresh bool) (todo pending, stale bool, err error) {
	if s.indexSource, err = r.seed(ctx, s.scratchDir, fresh); err != nil {
		return todo, false, err
	}
	began := time.Now()
	// The private index may be written: refreshed times make the next status cheap.
	report, err := r.status(ctx, call{index: s.index, env: []string{"GIT_OPTIONAL_LOCKS=1"}})
	if err != nil {
		return todo, false, err
	}
	todo = r.classify(report.files, s.untracked)
	var untracked []string
	for _, f := range report.files {
		if f.staged == '?' {
			untracked = append(untracked, f.path)
		}
	}
	if err := r.keepUnignored(ctx, untracked, began); err != nil {
		return todo, false, err
	}
	if !s.kept || todo.full || len(todo.extra) == 0 {
		return todo, s.kept && todo.full, nil
	}
	stale, err = r.ignoresAny(ctx, todo.extra)
	return todo, stale, err
}

// writeSnapshotTree updates the private index and writes its tree.
func (r *Repo) writeSnapshotTree(ctx context.Context, s *snapshot, todo pending) error {
	s.skipped = todo.skipped
	s.untracked += todo.bytes
	if s.had != "" && len(todo.remove)+len(todo.add) == 0 {
		s.tree = s.had
		return nil
	}
	// Removals first: a folder may have taken the place of a file.
	if err := r.updateIndex(ctx, s.index, todo.remove, "--force-remove"); err != nil {
		return err
	}
	slices.Sort(todo.add) // git appends each to its index without moving others
	if err := r.updateIndex(ctx, s.index, todo.add, "--add", "--remove", "--replace"); err != nil {
		return err
	}
	var err error
	if s.tree, err = r.updatedTree(ctx, s, todo); errors.Is(err, indexfile.ErrFormat) {
		s.tree, err = r.writeTree(ctx, s.index)
	}
	return err
}

// updatedTree returns the tree of the private index, computed from the tree before and the updates.
// If that is unknown the error is indexfile.ErrFormat.
func (r *Repo) updatedTree(ctx context.Context, s *snapshot, todo pending) (string, error) {
	if s.had == "" {
		return "", indexfile.ErrFormat
	}
	entries, err := indexfile.Read(s.index)
	if err != nil {
		return "", err
	}
	var changes []Change
	for _, path := range slices.Concat(todo.remove, todo.add) {
		c := Change{Path: path, Status: 'D'}
		if i, there := indexfile.Find(entries, path); there && !entries[i].IsIntended() {
			c = Change{Path: path, Status: 'M', To: Entry(entries[i].Object())}
		}
		changes = append(changes, c)
	}
	return r.withChanges(ctx, s.had, changes)
}

// updateIndex reads paths from the work tree into a private index.
func (r *Repo) updateIndex(ctx context.Context, index string, paths []string, how ...string) error {
	if len(paths) == 0 {
		return nil
	}
	args := append(append([]string{"update-index"}, how...), "-z", "--stdin")
	_, err := r.run(ctx, call{args: args, index: index, stdin: joinNul(paths), env: mallocEnv})
	return err
}

// mallocEnv makes a git on Linux reuse its memory for the next file. Otherwise it returns 256 kB to
// the kernel after each file, which takes longer than storing a small file.
var mallocEnv = []string{"MALLOC_TRIM_THRESHOLD_=33554432", "MALLOC_TOP_PAD_=1048576"}

// pending is what a private index lacks to describe the work tree.
type pending struct {
	add, remove []string
	skipped     []Skipped
	extra       []string // in the index but not in HEAD: captured earlier, or staged by the user
	bytes       int64    // of the untracked files in add
	full        bool     // something was skipped because of its size, or should be
}

// classify sorts the files of a git status. untracked is the number of bytes already captured.
func (r *Repo) classify(files []statusFile, untracked int64) pending {
	var p pending
	var fresh []sizedFile
	for _, f := range files {
		isNew := f.staged == 'A' || f.staged == '?'
		if r.isByproduct(f.path, isNew) || isNew && atomicfile.IsTemp(path.Base(f.path)) { // Pawl is writing a file
			if f.staged == 'A' { // captured by another process, or staged
				p.remove = append(p.remove, f.path)
			}
			continue
		}
		if f.staged == '?' && strings.HasSuffix(f.path, "/") {
			p.skip(f.path, "a nested repository")
			continue
		}
		if f.hasInnerChanges() {
			p.skip(f.path, submoduleChanged)
		}
		changed := f.unstaged != '.' && !(f.hasInnerChanges() && f.sub[1] == '.')
		size, verdict := int64(0), ""
		if changed {
			size, verdict = r.checkFile(f)
		} else if f.staged == 'A' && r.firstNonFolder(f.path) != "" {
			continue // git treats a file below a dangling symlink as unchanged
		}
		if f.staged == 'A' && verdict != fileGone {
			p.extra = append(p.extra, f.path)
			p.full = p.full || size > maxFile
		}
		switch {
		case !changed:
		case verdict == fileGone:
			p.remove = append(p.remove, f.path)
		case verdict != "":
			p.skip(f.path, verdict)
		case f.staged == '?':
			fresh = append(fresh, sizedFile{f.path, size})
		default:
			p.add = append(p.add, f.path)
		}
	}
	p.fill(fresh, untracked)
	return p
}

// sizedFile is an untracked file with its size.
type sizedFile struct {
	path  string
	bytes int64
}

// fill adds untracked files, the smallest first, up to the size limit.
func (p *pending) fill(files []sizedFile, untracked int64) {
	slices.SortStableFunc(files, func(a, b sizedFile) int { return cmp.Compare(a.bytes, b.bytes) })
	for _, f := range files {
		switch {
		case f.bytes > maxFile:
			p.skip(f.path, "larger than 50 MB")
		case untracked+p.bytes+f.bytes > maxUntracked:
			p.full = true
			p.skip(f.path, "untracked files are larger than 1 GB together")
		default:
			p.bytes += f.bytes
			p.add = append(p.add, f.path)
		}
	}
}

func (p *pending) skip(path, reason string) {
	p.skipped = append(p.skipped, Skipped{Path: path, Reason: reason})
}

// fileGone is checkFile's result for a path without a file.
const fileGone = "gone"

// checkFile returns the size of a file, or why git cannot read it.
func (r *Repo) checkFile(f statusFile) (size int64, verdict string) {
	full := r.path(f.path)
	info, err := os.Lstat(full)
	switch {
	case isAbsent(err) || err == nil && r.firstNonFolder(f.path) != "":
		return 0, fileGone
	case err != nil:
		return 0, "cannot be read"
	case info.IsDir():
		if f.sub[0] == 'S' {
			return 0, "" // git reads the submodule's HEAD
		}
		return 0, fileGone // a folder replaced the file
	case isSpecialFile(info):
		return 0, fileGone
	case info.Mode()&fs.ModeSymlink != 0:
		return info.Size(), ""
	case !info.Mode().IsRegular():
		return 0, "neither a file nor a symlink"
	}
	file, err := atomicfile.Open(full)
	if err != nil {
		return 0, "cannot be read"
	}
	_ = file.Close()
	return info.Size(), ""
}

// isSpecialFile reports whether a file is a named pipe, a socket or a device. No tree can contain
// it, and replacing it loses no content.
func isSpecialFile(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0
}

// path returns the path on disk of a path in a tree.
func (r *Repo) path(p string) string { return filepath.Join(r.root, filepath.FromSlash(p)) }

// firstNonFolder returns the first parent of a path that exists and is not a folder (a
// symbolic link, for example), or "".
func (r *Repo) firstNonFolder(p string) string {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		info, err := os.Lstat(r.path(p[:i]))
		if err != nil {
			return ""
		}
		if !info.IsDir() {
			return p[:i]
		}
	}
	return ""
}
