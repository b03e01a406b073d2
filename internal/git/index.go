package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/git/indexfile"
)

// scratchDir is the folder of one operation, with a private index. Each operation has its
// own, so that a killed one leaves no lock and two at a time do not conflict.
type scratchDir struct {
	dir   string
	index string
}

func (r *Repo) newScratchDir() (*scratchDir, error) {
	if err := r.makeIndexDir(); err != nil {
		return nil, err
	}
	removeOldScratch(r.IndexDir())
	dir, err := os.MkdirTemp(r.IndexDir(), "op-")
	if err != nil {
		return nil, fmt.Errorf("create private index: %w", err)
	}
	return &scratchDir{dir: dir, index: filepath.Join(dir, "index")}, nil
}

// close removes the folder. If that fails, removeOldScratch does it later.
func (s *scratchDir) close() { _ = os.RemoveAll(s.dir) }

// removeOldScratch removes what killed operations left: private indexes after an hour,
// notes about writes after a month.
func removeOldScratch(base string) {
	for pattern, most := range map[string]time.Duration{"op-*": time.Hour, writeNotePrefix + "*": 30 * 24 * time.Hour} {
		old, _ := filepath.Glob(filepath.Join(base, pattern))
		for _, path := range old {
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > most {
				_ = os.RemoveAll(path)
			}
		}
	}
}

// A private index is kept between snapshots as a cache of unchanged files. Its name
// contains the state of the user's index, its tree, and the number of bytes of untracked
// files in it.
//
// The user's own index has such a cache too, but anyone may write to it: one git add with
// a filter leaves a file's new times beside its old content. So it is trusted once, when
// no index is kept yet, and read only for its paths afterwards. Of the kept indexes only
// the one that this process wrote is trusted, or one that another process of the loop
// recorded, see LoadTrustedIndex.

// InvalidateIndexes removes the private indexes, so that the next snapshot reads every file. Call
// it after a filter showed git other contents than the files have.
func (r *Repo) InvalidateIndexes() error {
	for _, name := range r.keptIndexes() {
		if err := ignoreNotExist(os.Remove(name)); err != nil {
			return fmt.Errorf("remove private index: %w", err)
		}
	}
	r.recordTrustedIndex(noIndex)
	return nil
}

// noIndex is recorded in place of the last kept index if none is trusted.
const noIndex = "none"

// recordTrustedIndex records which index was kept.
func (r *Repo) recordTrustedIndex(kept string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trustedIndex = kept
	if r.trustFile != "" { // an outdated file only costs time
		_ = os.WriteFile(r.trustFile, []byte(kept), 0o600)
	}
}

// LoadTrustedIndex sets the file, outside the work tree, in which the processes of a loop
// record which private index they kept.
func (r *Repo) LoadTrustedIndex(file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trustFile = file
	if b, err := atomicfile.Read(file, atomicfile.Large); err == nil {
		r.trustedIndex = string(b)
	}
}

// seed copies a private index into the scratch folder: the kept one with the user's current paths,
// or else the user's.
func (r *Repo) seed(ctx context.Context, s *scratchDir, fresh bool) (indexSource, error) {
	users := filepath.Join(r.gitDir, "index")
	stamp, err := indexStamp(users)
	if err != nil {
		return indexSource{}, fmt.Errorf("read the user's index: %w", err)
	}
	kept, isKnown := r.copyKeptIndex(s.index)
	if kept.had != "" && r.CheckTree(ctx, kept.had) != nil {
		kept = indexSource{} // git gc has deleted what it describes
	}
	if kept.had != "" && kept.stamp == stamp && !fresh {
		return kept, nil
	}
	switch {
	case kept.had != "":
		had, err := r.syncIndexPaths(ctx, s.index, kept.had)
		if err != nil {
			return indexSource{}, fmt.Errorf("copy the user's index: %w", err)
		}
		return indexSource{stamp: stamp, had: had}, nil
	case isKnown:
		err = r.rebuildIndex(ctx, s.index)
	default:
		_, err = copyIndex(users, s.index)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = r.run(ctx, call{args: []string{"read-tree", "HEAD"}, index: s.index})
		}
		if err == nil {
			err = r.reveal(ctx, s.index)
		}
	}
	if err != nil {
		return indexSource{}, fmt.Errorf("copy the user's index: %w", err)
	}
	return indexSource{stamp: stamp}, nil
}

// copyKeptIndex copies the kept index if it is trusted. isKnown reports whether this process knows
// which index that is.
func (r *Repo) copyKeptIndex(to string) (s indexSource, isKnown bool) {
	r.mu.Lock()
	known := r.trustedIndex
	r.mu.Unlock()
	for _, name := range r.keptIndexes() {
		parts := strings.Split(filepath.Base(name), "-")
		if len(parts) != 4 {
			continue
		}
		bytes, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			continue
		}
		sum, err := copyIndex(name, to)
		if err == nil && (known == "" || known == filepath.Base(name)+" "+sum) {
			return indexSource{stamp: parts[1], kept: true, had: parts[2], untracked: bytes}, known != ""
		}
	}
	return indexSource{}, known != ""
}

// indexFingerprint identifies a kept index by its name and content.
func indexFingerprint(name, content string) string {
	f, err := atomicfile.Open(content)
	if err != nil {
		return noIndex
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, atomicfile.Large)); err != nil {
		return noIndex
	}
	return filepath.Base(name) + " " + hex.EncodeToString(sum.Sum(nil))
}

// syncIndexPaths changes the paths of a kept index to those of the user's index. New paths are
// read, and untracked ones are found again. It returns the tree of the index, or "" if unknown.
func (r *Repo) syncIndexPaths(ctx context.Context, index, had string) (string, error) {
	changes, err := r.newPaths(ctx, index, had)
	if err == nil && len(changes) > 0 {
		if err = r.setEntries(ctx, index, changes); err == nil {
			had, err = r.withChanges(ctx, had, changes)
		}
	}
	if err != nil {
		return "", err
	}
	return had, r.applySparse(ctx, index)
}

// newPaths returns the differences in paths between the user's index and a kept index.
func (r *Repo) newPaths(ctx context.Context, index, had string) ([]Change, error) {
	users, err := indexfile.Read(filepath.Join(r.gitDir, "index"))
	kept, errKept := indexfile.Read(index)
	if err = errors.Join(ignoreNotExist(err), errKept); err != nil && !errors.Is(err, indexfile.ErrFormat) {
		return nil, err
	}
	if err != nil {
		out, err := r.run(ctx, call{args: []string{"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none", "--diff-filter=AD", had}})
		if err != nil {
			return nil, err
		}
		return parseRaw(out)
	}
	changes := comparePaths(users, kept)
	if ignored, err := r.ignoresModes(ctx); err != nil || !ignored {
		return changes, err
	}
	return append(changes, compareModes(users, kept)...), nil
}

// compareModes returns the changes that give files of a kept index the modes of the user's index, where
// git update-index --chmod and git add --chmod set them.
func compareModes(users, kept []indexfile.Entry) (changes []Change) {
	for _, e := range users {
		i, there := indexfile.Find(kept, e.Path)
		if !there || e.IsIntended() || e.IsConflict() || kept[i].IsConflict() {
			continue
		}
		is, was := Entry(e.Object()), Entry(kept[i].Object())
		if is.IsExecutable() != was.IsExecutable() {
			changes = append(changes, Change{Path: e.Path, Status: 'M', From: was, To: Entry{Mode: is.Mode, ID: was.ID}})
		}
	}
	return changes
}

// comparePaths returns the changes that give a kept index the paths of the user's index.
func comparePaths(users, kept []indexfile.Entry) (changes []Change) {
	remove := func(e indexfile.Entry) {
		changes = append(changes, Change{Path: e.Path, Status: 'D', From: Entry(e.Object())})
	}
	for _, e := range users {
		for ; len(kept) > 0 && kept[0].Path < e.Path; kept = kept[1:] {
			remove(kept[0])
		}
		has := false
		for ; len(kept) > 0 && kept[0].Path == e.Path; kept = kept[1:] {
			if has = true; e.IsIntended() {
				remove(kept[0])
			}
		}
		if !has && !e.IsIntended() && !e.IsConflict() {
			changes = append(changes, Change{Path: e.Path, Status: 'A', To: Entry(e.Object())})
		}
	}
	for _, e := range kept {
		remove(e)
	}
	return changes
}

// rebuildIndex creates an index with the paths of the user's index and no cached state.
func (r *Repo) rebuildIndex(ctx context.Context, index string) error {
	out, err := r.run(ctx, call{args: []string{"ls-files", "-s", "-z"}})
	if err == nil {
		err = ignoreNotExist(os.Remove(index))
	}
	if err == nil {
		_, err = r.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, index: index, stdin: out})
	}
	if err != nil {
		return err
	}
	return r.applySparse(ctx, index)
}

// indexSource describes what a private index was copied from.
type indexSource struct {
	stamp     string // of the user's index
	kept      bool   // copied from an earlier snapshot, not from the user's index
	had       string // tree of the kept index
	untracked int64  // bytes of untracked files in it
}

// keepIndex stores the index of a snapshot for the next one. If that fails, the next
// snapshot reads every file.
func (r *Repo) keepIndex(s *snapshot) {
	name := filepath.Join(r.IndexDir(), fmt.Sprintf("index-%s-%s-%d", s.stamp, s.tree, s.untracked))
	sum := indexFingerprint(name, s.index)
	if os.Rename(s.index, name) != nil {
		sum = noIndex
	}
	r.recordTrustedIndex(sum)
	for _, old := range r.keptIndexes() {
		if old != name {
			_ = os.Remove(old)
		}
	}
}

// alignKept makes the kept index valid for another state of the user's index, which only these
// changes by Pawl made, if it has the same paths.
func (r *Repo) alignKept(ctx context.Context, stamp string, changes []Change) {
	r.mu.Lock()
	name, sum, _ := strings.Cut(r.trustedIndex, " ")
	was := r.aligned.stamp
	r.mu.Unlock()
	parts := strings.Split(name, "-")
	if len(parts) != 4 || parts[1] != was || stamp == was {
		return
	}
	has, err := r.EntriesAt(ctx, parts[2], Paths(changes))
	if err != nil || slices.ContainsFunc(changes, func(c Change) bool { _, kept := has[c.Path]; return kept != (c.Status != 'D') }) {
		return
	}
	parts[1] = stamp
	aligned := strings.Join(parts, "-")
	if os.Rename(filepath.Join(r.IndexDir(), name), filepath.Join(r.IndexDir(), aligned)) == nil {
		r.recordTrustedIndex(aligned + " " + sum)
	}
}

func (r *Repo) keptIndexes() []string {
	if !r.hasIndexDir() {
		return nil
	}
	entries, _ := os.ReadDir(r.IndexDir())
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "index-") {
			found = append(found, filepath.Join(r.IndexDir(), e.Name()))
		}
	}
	return found
}

// indexStamp identifies the state of an index file by the checksum at its end, or by size and time
// if git writes no checksum.
func indexStamp(path string) (string, error) {
	f, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "none", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	sum := make([]byte, 20)
	if info.Size() < int64(len(sum)) {
		return "short", nil
	}
	if _, err := f.ReadAt(sum, info.Size()-int64(len(sum))); err != nil {
		return "", err
	}
	if hexSum := hex.EncodeToString(sum); strings.Trim(hexSum, "0") != "" {
		return hexSum, nil
	}
	return fmt.Sprintf("t%dx%d", info.ModTime().UnixNano(), info.Size()), nil
}

// copyIndex copies an index with its time. Git checks entries that are as new as the index file,
// and would trust them in a newer file. It returns the SHA-256 of the copy.
func copyIndex(from, to string) (sum string, err error) {
	src, err := atomicfile.Open(from)
	if err != nil {
		return "", err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return "", err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.CopyBuffer(io.MultiWriter(dst, hash), src, make([]byte, 1<<18))
	if err := errors.Join(err, dst.Close()); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), os.Chtimes(to, info.ModTime(), info.ModTime())
}
