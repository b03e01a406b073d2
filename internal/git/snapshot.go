package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Untracked files above these sizes are named, not captured.
const (
	maxFile      = 50 << 20 // bytes of one file
	maxUntracked = 1 << 30  // bytes of all together; the smallest are captured first
)

// Skipped is something in the work tree that a snapshot does not hold, or that
// a restore leaves alone.
type Skipped struct {
	Path   string // a / at the end: a folder
	Reason string // for a user: "larger than 50 MB"
}

// submoduleDirt is the reason why a snapshot does not hold all of a submodule.
const submoduleDirt = "a submodule with changes of its own"

// Snapshot stores the whole work tree, tracked and untracked but not ignored
// files, as a tree object and returns its id: equal content gives an equal id.
// Nothing of the user's is touched. What could not be captured is named.
func (r *Repo) Snapshot(ctx context.Context) (tree string, skipped []Skipped, err error) {
	s, err := r.snapshot(ctx)
	if err != nil {
		return "", nil, err
	}
	defer s.close()
	r.keep(s)
	return s.tree, s.skipped, nil
}

// snapshot is a captured work tree with the index that describes it.
type snapshot struct {
	*scratch
	seeded
	tree    string
	skipped []Skipped
}

// tries bounds how often a snapshot starts again because files changed under it.
const tries = 3

func (r *Repo) snapshot(ctx context.Context) (*snapshot, error) {
	sc, err := r.newScratch()
	if err != nil {
		return nil, err
	}
	s := &snapshot{scratch: sc}
	for range tries {
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

// capture fills the private index and writes its tree. A kept index that no
// longer tells tracked from untracked as the user's does is thrown away first.
func (r *Repo) capture(ctx context.Context, s *snapshot) error {
	todo, stale, err := r.survey(ctx, s, false)
	if stale && err == nil {
		todo, _, err = r.survey(ctx, s, true)
	}
	if err != nil {
		return err
	}
	return r.store(ctx, s, todo)
}

// survey seeds the private index, from the user's own if fresh, and finds what
// it lacks. A kept one is stale when it holds untracked files that are ignored
// by now, or when sizes have to be counted anew.
func (r *Repo) survey(ctx context.Context, s *snapshot, fresh bool) (todo pending, stale bool, err error) {
	if s.seeded, err = r.seed(ctx, s.scratch, fresh); err != nil {
		return todo, false, err
	}
	// The private index may be written: refreshed times make the next status cheap.
	out, err := r.run(ctx, call{args: statusArgs, index: s.index, env: []string{"GIT_OPTIONAL_LOCKS=1"}})
	if err != nil {
		return todo, false, err
	}
	report, err := parseStatus(out)
	if err != nil {
		return todo, false, err
	}
	todo = r.sift(report.files, s.untracked)
	if !s.kept || todo.full || len(todo.extra) == 0 {
		return todo, s.kept && todo.full, nil
	}
	ignored, err := r.ignored(ctx, todo.extra, "--no-index")
	return todo, len(ignored) > 0, err
}

// store brings the private index up to date and writes its tree.
func (r *Repo) store(ctx context.Context, s *snapshot, todo pending) error {
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
	if err := r.updateIndex(ctx, s.index, todo.add, "--add", "--remove", "--replace"); err != nil {
		return err
	}
	var err error
	s.tree, err = r.writeTree(ctx, s.index)
	return err
}

// updateIndex reads paths from the work tree into a private index.
func (r *Repo) updateIndex(ctx context.Context, index string, paths []string, how ...string) error {
	if len(paths) == 0 {
		return nil
	}
	args := append(append([]string{"update-index"}, how...), "-z", "--stdin")
	_, err := r.run(ctx, call{args: args, index: index, stdin: nul(paths)})
	return err
}

// pending is what a private index lacks to describe the work tree.
type pending struct {
	add, remove []string
	skipped     []Skipped
	extra       []string // in the index, not in HEAD: captured earlier, or staged by the user
	bytes       int64    // of the untracked files in add
	full        bool     // something was skipped for its size, or should be
}

// sift sorts what git status found. untracked are the bytes already captured.
func (r *Repo) sift(files []statusFile, untracked int64) pending {
	var p pending
	var fresh []sized
	for _, f := range files {
		if f.staged == '?' && strings.HasSuffix(f.path, "/") {
			p.skip(f.path, "a repository of its own")
			continue
		}
		if f.innerDirt() {
			p.skip(f.path, submoduleDirt)
		}
		changed := f.unstaged != '.' && !(f.innerDirt() && f.sub[1] == '.')
		size, verdict := int64(0), ""
		if changed {
			size, verdict = r.look(f)
		}
		if f.staged == 'A' && verdict != gone {
			p.extra = append(p.extra, f.path)
			p.full = p.full || size > maxFile
		}
		switch {
		case !changed:
		case verdict == gone:
			p.remove = append(p.remove, f.path)
		case verdict != "":
			p.skip(f.path, verdict)
		case f.staged == '?':
			fresh = append(fresh, sized{f.path, size})
		default:
			p.add = append(p.add, f.path)
		}
	}
	p.fill(fresh, untracked)
	return p
}

// sized is an untracked file.
type sized struct {
	path  string
	bytes int64
}

// fill adds untracked files, the smallest first, while there is room.
func (p *pending) fill(files []sized, untracked int64) {
	slices.SortStableFunc(files, func(a, b sized) int { return cmp.Compare(a.bytes, b.bytes) })
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

// gone is look's verdict on a path at which there is no file any more.
const gone = "gone"

// look says how large a file is, or why git could not read it.
func (r *Repo) look(f statusFile) (size int64, verdict string) {
	full := r.path(f.path)
	info, err := os.Lstat(full)
	switch {
	case absent(err) || err == nil && r.nonFolder(f.path) != "":
		return 0, gone
	case err != nil:
		return 0, "cannot be read"
	case info.IsDir():
		if f.sub[0] == 'S' {
			return 0, "" // at another commit: git reads the submodule's HEAD
		}
		return 0, gone // a folder took the place of the file
	case holdsNothing(info):
		return 0, gone
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

// holdsNothing tells whether this is a named pipe, a socket or a device: no tree can
// hold it, and whoever replaces it loses no content.
func holdsNothing(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0
}

// path is where a path of a tree lies on disk.
func (r *Repo) path(p string) string { return filepath.Join(r.root, filepath.FromSlash(p)) }

// nonFolder is the first parent of a path that exists and is no folder (a
// symlink, say, beyond which nothing belongs to this work tree), or "".
func (r *Repo) nonFolder(p string) string {
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

// Ignores tells whether the ignore rules match a path, relative to the root with
// slashes, that need not be there.
func (r *Repo) Ignores(ctx context.Context, path string) (bool, error) {
	found, err := r.ignored(ctx, []string{path})
	if err != nil {
		return false, fmt.Errorf("ask whether git ignores %s: %w", path, err)
	}
	return len(found) > 0, nil
}

// ignored are those of the paths that the ignore rules match.
func (r *Repo) ignored(ctx context.Context, paths []string, flags ...string) ([]string, error) {
	dotted := make([]string, len(paths))
	for i, p := range paths {
		dotted[i] = "./" + p // else a leading colon would be taken for a pattern
	}
	args := append(append([]string{"check-ignore"}, flags...), "-z", "--stdin")
	out, err := r.run(ctx, call{args: args, stdin: nul(dotted)})
	if exited(err, 1) {
		return nil, nil
	}
	found := fields(out)
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], "./")
	}
	return found, err
}
