// Package retention deletes the folders of ended loops and their refs in the repository.
//
//	found, err := retention.Find(ctx, store, "/home/me/app")
//	for _, l := range retention.Rule{OlderThan: 30 * 24 * time.Hour}.Expired(found, time.Now()) {
//		err = retention.Remove(ctx, l)
//	}
//
// Commits, branches and worktrees of a loop are the user's and stay. A loop stays if it
// has not ended, is driven, waits for an approval, or has a worktree.
package retention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// Loop is a loop that may be deleted.
type Loop struct {
	record.Summary
	Bytes      int64  // size of its folder
	KeepReason string // why it is kept, "" if it may be deleted

	kept *store.Loop
}

// Find returns the loops of the repository at root, or all for "", the oldest first.
// A loop that cannot be read stays, and is not among them.
func Find(ctx context.Context, s *store.Store, root string) ([]Loop, error) {
	listed, err := record.List(s)
	if err != nil {
		return nil, err
	}
	var out []Loop
	for _, e := range listed {
		if e.Err != nil || e.Summary.Root == "" || root != "" && e.Summary.Root != root {
			continue
		}
		l := Loop{Summary: e.Summary, kept: e.Loop}
		l.ID = e.Loop.ID
		l.KeepReason = l.reason()
		if l.Bytes, err = folderSize(ctx, e.Loop.Dir); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b Loop) int { return a.EndedAt.Compare(b.EndedAt) })
	return out, nil
}

// reason says why a loop stays.
func (l Loop) reason() string {
	_, driven, err := l.kept.Holder()
	switch {
	case l.EndedAt.IsZero():
		return "it has not ended"
	case driven || err != nil:
		return "a process uses it"
	case len(l.Tests) > 0:
		return "it waits for an approval"
	}
	if _, err := os.Lstat(l.Worktree()); err == nil {
		return WorktreeReason
	}
	return ""
}

// WorktreeReason is the reason to keep a loop whose worktree exists.
const WorktreeReason = "it has a worktree"

// Worktree returns the path of the loop's own worktree, which may not exist.
func (l Loop) Worktree() string { return filepath.Join(l.kept.Dir, record.WorktreeDir) }

// Rule says which loops are deleted.
type Rule struct {
	OlderThan time.Duration // since their end
	MaxBytes  int64         // limit of the total size: the oldest loops are deleted first; 0 = unlimited
}

// Expired returns the loops to delete.
func (r Rule) Expired(loops []Loop, now time.Time) []Loop {
	var total int64
	for _, l := range loops {
		total += l.Bytes
	}
	var out []Loop
	for _, l := range loops {
		tooMuch := r.MaxBytes > 0 && total > r.MaxBytes
		if l.KeepReason != "" || !tooMuch && now.Sub(l.EndedAt) < r.OlderThan {
			continue
		}
		out = append(out, l)
		total -= l.Bytes
	}
	return out
}

// Remove deletes a loop. It deletes the refs first, so that Remove can be repeated if that fails or
// the process dies.
func Remove(ctx context.Context, l Loop) error {
	return l.kept.Remove(ctx, func() error {
		if sum, err := record.ReadSummary(l.kept); err != nil || !sum.EndedAt.Equal(l.EndedAt) {
			return cmp.Or(err, fmt.Errorf("loop %s continues", l.ID))
		}
		if _, err := os.Lstat(filepath.Join(l.Root, ".git")); errors.Is(err, fs.ErrNotExist) {
			return nil // the repository is gone, or there was none
		}
		repo, err := git.Open(ctx, l.Root)
		if err != nil {
			return err
		}
		_, err = repo.DeleteLoopRefs(ctx, l.ID)
		return err
	})
}

// folderSize returns the number of bytes in a folder. It skips files that are deleted meanwhile.
func folderSize(ctx context.Context, dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // what cannot be read has no size
		}
		if info, err := e.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}
