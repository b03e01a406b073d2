package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stateDir, below the git directory of the work tree, holds nothing but caches.
const stateDir = "pawl"

// scratch is a folder for one operation, with a private index in it. Each
// operation has its own, so that a killed one leaves no lock in the way and two
// at once do not meet.
type scratch struct {
	dir   string
	index string
}

func (r *Repo) newScratch() (*scratch, error) {
	base := filepath.Join(r.gitDir, stateDir)
	// Not MkdirAll: a .git that was deleted is not ours to make.
	if err := os.Mkdir(base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make private index: %w", err)
	}
	sweep(base)
	dir, err := os.MkdirTemp(base, "op-")
	if err != nil {
		return nil, fmt.Errorf("make private index: %w", err)
	}
	return &scratch{dir: dir, index: filepath.Join(dir, "index")}, nil
}

// close removes the folder; what could not be removed is swept later.
func (s *scratch) close() { _ = os.RemoveAll(s.dir) }

// sweep removes what killed operations left, an hour later.
func sweep(base string) {
	old, _ := filepath.Glob(filepath.Join(base, "op-*"))
	for _, dir := range old {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
}

// A private index is kept between snapshots, because it remembers which files
// it has seen unchanged. It is a cache, valid as long as the user's index is the
// one it was copied from: its name says which that was, the tree it stands for,
// and how many bytes of untracked files it has taken in.

// Distrust forgets the private indexes, and has the next snapshot read every file:
// git was told to see other contents than there are, and marked them as seen.
func (r *Repo) Distrust() error {
	for _, name := range r.keptIndexes("index-*") {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget a private index: %w", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.distrust = true
	return nil
}

// distrusts tells whether no index is to be believed.
func (r *Repo) distrusts() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.distrust
}

// seed puts a private index into the scratch: the kept one, or else a copy of
// the user's.
func (r *Repo) seed(ctx context.Context, s *scratch, fresh bool) (seeded, error) {
	stamp, err := indexStamp(filepath.Join(r.gitDir, "index"))
	if err != nil {
		return seeded{}, fmt.Errorf("read the user's index: %w", err)
	}
	if !fresh {
		for _, name := range r.keptIndexes("index-" + stamp + "-*") {
			parts := strings.Split(filepath.Base(name), "-")
			bytes, err := strconv.ParseInt(parts[len(parts)-1], 10, 64)
			if err == nil && len(parts) == 4 && copyIndex(name, s.index) == nil {
				return seeded{stamp: stamp, kept: true, had: parts[2], untracked: bytes}, nil
			}
		}
	}
	err = copyIndex(filepath.Join(r.gitDir, "index"), s.index)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = r.run(ctx, call{args: []string{"read-tree", "HEAD"}, index: s.index})
	}
	if err == nil {
		err = r.reveal(ctx, s.index)
	}
	if err == nil && r.distrusts() {
		long := time.Unix(1, 0) // git reads a file that is newer than the index
		err = os.Chtimes(s.index, long, long)
	}
	if err != nil {
		return seeded{}, fmt.Errorf("copy the user's index: %w", err)
	}
	return seeded{stamp: stamp}, nil
}

// seeded says what a private index was copied from.
type seeded struct {
	stamp     string // of the user's index
	kept      bool   // from an earlier snapshot, not from the user's index
	had       string // tree of the kept one
	untracked int64  // bytes of untracked files it holds
}

// keep stores the index of a snapshot for the next one. Failing to is not an
// error: it is a cache.
func (r *Repo) keep(s *snapshot) {
	name := filepath.Join(r.gitDir, stateDir, fmt.Sprintf("index-%s-%s-%d", s.stamp, s.tree, s.untracked))
	if os.Rename(s.index, name) != nil {
		return
	}
	for _, old := range r.keptIndexes("index-*") {
		if old != name {
			_ = os.Remove(old)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.distrust = false
}

func (r *Repo) keptIndexes(pattern string) []string {
	base := filepath.Join(r.gitDir, stateDir)
	entries, _ := os.ReadDir(base)
	var found []string
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok {
			found = append(found, filepath.Join(base, e.Name()))
		}
	}
	return found
}

// indexStamp tells one state of an index file from another: by the checksum at
// its end, or by size and time where git was told to write none.
func indexStamp(path string) (string, error) {
	f, err := os.Open(path)
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

// copyIndex copies an index with its time: git takes entries as new as the
// index file for possibly changed, and would trust them in a newer file.
func copyIndex(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err := errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
