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
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
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

// sweep removes what killed operations left: private indexes after an hour, notes
// about a write after a month.
func sweep(base string) {
	for pattern, most := range map[string]time.Duration{"op-*": time.Hour, writingPrefix + "*": 30 * 24 * time.Hour} {
		old, _ := filepath.Glob(filepath.Join(base, pattern))
		for _, path := range old {
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > most {
				_ = os.RemoveAll(path)
			}
		}
	}
}

// A private index is kept between snapshots, because it remembers which files
// it has seen unchanged. It is a cache: its name says which state of the user's
// index it goes with, the tree it stands for, and how many bytes of untracked
// files it has taken in.
//
// The user's own index remembers too, but it is anyone's: one git add with a
// filter of its own leaves in it a file's new times beside its old content. So it
// is believed once, when nothing is kept yet, and asked only for its paths from
// then on; and of the kept ones only that which this process wrote, to the byte, or
// another one that vouched for it, see VouchIn.

// Distrust forgets the private indexes, and has the next snapshot read every file:
// git was told to see other contents than there are, and marked them as seen.
func (r *Repo) Distrust() error {
	for _, name := range r.keptIndexes() {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget a private index: %w", err)
		}
	}
	r.vouch(nobodys)
	return nil
}

// nobodys stands where the last kept index would: there is none to be believed.
const nobodys = "none"

func (r *Repo) vouch(kept string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vouched = kept
	if r.voucher != "" { // a file that lags behind costs time, and nothing else
		_ = os.WriteFile(r.voucher, []byte(kept), 0o600)
	}
}

// VouchIn has the processes of a loop, one after another, tell in a file outside of
// the work tree which index they kept.
func (r *Repo) VouchIn(file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.voucher = file
	if b, err := atomicfile.Read(file, atomicfile.Large); err == nil {
		r.vouched = string(b)
	}
}

// seed puts a private index into the scratch: the kept one as it is, or with the
// paths that the user's has by now; else a copy of the user's.
func (r *Repo) seed(ctx context.Context, s *scratch, fresh bool) (seeded, error) {
	users := filepath.Join(r.gitDir, "index")
	stamp, err := indexStamp(users)
	if err != nil {
		return seeded{}, fmt.Errorf("read the user's index: %w", err)
	}
	kept, vouched := r.ours(s.index)
	if kept.had != "" && kept.stamp == stamp && !fresh {
		return kept, nil
	}
	switch {
	case kept.had != "":
		err = r.follow(ctx, s.index, kept.had)
	case vouched:
		err = r.reread(ctx, s.index)
	default:
		err = copyIndex(users, s.index)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = r.run(ctx, call{args: []string{"read-tree", "HEAD"}, index: s.index})
		}
		if err == nil {
			err = r.reveal(ctx, s.index)
		}
	}
	if err != nil {
		return seeded{}, fmt.Errorf("copy the user's index: %w", err)
	}
	return seeded{stamp: stamp}, nil
}

// ours copies the kept index, if it is one to be believed; vouched tells whether
// this process knows which one that is.
func (r *Repo) ours(to string) (s seeded, vouched bool) {
	r.mu.Lock()
	known := r.vouched
	r.mu.Unlock()
	for _, name := range r.keptIndexes() {
		parts := strings.Split(filepath.Base(name), "-")
		if len(parts) != 4 {
			continue
		}
		bytes, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil || copyIndex(name, to) != nil {
			continue
		}
		if known == "" || known == printOf(name, to) {
			return seeded{stamp: parts[1], kept: true, had: parts[2], untracked: bytes}, known != ""
		}
	}
	return seeded{}, known != ""
}

// printOf tells a kept index, by its name and the content of a copy, from any other.
func printOf(name, content string) string {
	b, err := atomicfile.Read(content, atomicfile.Large)
	if err != nil {
		return nobodys
	}
	sum := sha256.Sum256(b)
	return filepath.Base(name) + " " + hex.EncodeToString(sum[:])
}

// follow gives a kept index, which stands for a tree, the paths of the user's: what
// is new in it is read, what is not tracked any more is found again.
func (r *Repo) follow(ctx context.Context, index, had string) error {
	out, err := r.run(ctx, call{args: []string{"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none", "--diff-filter=AD", had}})
	if err != nil {
		return err
	}
	changes, err := parseRaw(out)
	if err == nil && len(changes) > 0 {
		err = r.setEntries(ctx, index, changes)
	}
	if err != nil {
		return err
	}
	return r.leaveOut(ctx, index)
}

// reread makes an index of what the user's has, and of nothing that it remembers.
func (r *Repo) reread(ctx context.Context, index string) error {
	out, err := r.run(ctx, call{args: []string{"ls-files", "-s", "-z"}})
	if err == nil {
		err = os.Remove(index)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		_, err = r.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, index: index, stdin: out})
	}
	if err != nil {
		return err
	}
	return r.leaveOut(ctx, index)
}

// seeded says what a private index was copied from.
type seeded struct {
	stamp     string // of the user's index
	kept      bool   // from an earlier snapshot, not from the user's index
	had       string // tree of the kept one
	untracked int64  // bytes of untracked files it holds
}

// keep stores the index of a snapshot for the next one. Failing to is not an
// error: then the next reads every file.
func (r *Repo) keep(s *snapshot) {
	name := filepath.Join(r.IndexDir(), fmt.Sprintf("index-%s-%s-%d", s.stamp, s.tree, s.untracked))
	sum := printOf(name, s.index)
	if os.Rename(s.index, name) != nil {
		sum = nobodys
	}
	r.vouch(sum)
	for _, old := range r.keptIndexes() {
		if old != name {
			_ = os.Remove(old)
		}
	}
}

func (r *Repo) keptIndexes() []string {
	entries, _ := os.ReadDir(r.IndexDir())
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "index-") {
			found = append(found, filepath.Join(r.IndexDir(), e.Name()))
		}
	}
	return found
}

// indexStamp tells one state of an index file from another: by the checksum at
// its end, or by size and time where git was told to write none.
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

// copyIndex copies an index with its time: git takes entries as new as the
// index file for possibly changed, and would trust them in a newer file.
func copyIndex(from, to string) error {
	src, err := atomicfile.Open(from)
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
