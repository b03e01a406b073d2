package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/git/indexfile"
)

// Two flags in an index make git ignore changes of a file: assume-unchanged and skip-worktree.
// Users set them to keep local changes out of commits. An agent could set them so that gates run on
// a change that is not in the tree. So snapshots include such files. Status lists them, so that the
// loop does not commit those that were hidden before it.

// hiddenFiles lists tracked files whose changes git ignores, by flag. Files that a sparse checkout
// left out are listed apart.
type hiddenFiles struct{ assumed, skipped, leftOut []string }

func (r *Repo) hidden(ctx context.Context, index string) (hiddenFiles, error) {
	h, err := r.hiddenFiles(ctx, cmp.Or(index, filepath.Join(r.gitDir, "index")))
	if err != nil {
		return h, fmt.Errorf("list hidden files: %w", err)
	}
	if len(h.skipped) == 0 {
		return h, nil
	}
	if sparse, err := r.sparse(ctx); err != nil || !sparse {
		return h, err
	}
	present := h.skipped[:0]
	for _, p := range h.skipped {
		if _, err := os.Lstat(r.path(p)); err == nil {
			present = append(present, p)
		} else {
			h.leftOut = append(h.leftOut, p)
		}
	}
	h.skipped = present
	return h, nil
}

// hiddenFiles returns the hidden files of an index.
func (r *Repo) hiddenFiles(ctx context.Context, index string) (h hiddenFiles, err error) {
	entries, err := indexfile.Read(index)
	if !errors.Is(err, indexfile.ErrFormat) {
		for _, e := range entries {
			h.add(e.Path, e.IsAssumed(), e.IsSkipped())
		}
		return h, ignoreNotExist(err)
	}
	out, err := r.run(ctx, call{args: []string{"ls-files", "-v", "-z"}, index: index})
	for _, rec := range splitNul(out) { // records are a tag, a space, the path
		if len(rec) < 3 {
			return h, fmt.Errorf("unexpected record %q", rec)
		}
		h.add(rec[2:], rec[0] >= 'a' && rec[0] <= 'z', rec[0] == 'S' || rec[0] == 's')
	}
	return h, err
}

func (h *hiddenFiles) add(path string, assumed, skipped bool) {
	if assumed {
		h.assumed = append(h.assumed, path)
	}
	if skipped {
		h.skipped = append(h.skipped, path)
	}
}

// revealChanged clears the flags of hidden files in the user's index that differ in a commit,
// because git would not update them. Files that only the user changed are committed without the
// change and keep their flag.
func (r *Repo) revealChanged(ctx context.Context, commit string) error {
	h, err := r.hidden(ctx, "")
	if err != nil || len(h.assumed)+len(h.skipped) == 0 {
		return err
	}
	out, err := r.run(ctx, call{args: []string{"diff-index", "--cached", "--name-only", "--no-renames", "-z", commit}})
	if err != nil {
		return fmt.Errorf("list hidden files: %w", err)
	}
	changed := splitNul(out)
	same := func(path string) bool { return !slices.Contains(changed, path) }
	if err := r.updateIndex(ctx, "", slices.DeleteFunc(h.assumed, same), "--no-assume-unchanged"); err != nil {
		return err
	}
	return r.updateIndex(ctx, "", slices.DeleteFunc(h.skipped, same), "--no-skip-worktree")
}

// reveal clears the flags in a private index.
func (r *Repo) reveal(ctx context.Context, index string) error {
	h, err := r.hidden(ctx, index)
	if err != nil {
		return err
	}
	if err := r.updateIndex(ctx, index, h.assumed, "--no-assume-unchanged"); err != nil {
		return err
	}
	return r.updateIndex(ctx, index, h.skipped, "--no-skip-worktree")
}

// sparse reports whether the work tree is a sparse checkout.
func (r *Repo) sparse(ctx context.Context) (bool, error) {
	if _, err := os.Lstat(filepath.Join(r.gitDir, "info", "sparse-checkout")); isAbsent(err) {
		return false, nil // without this file git leaves nothing out, whatever the setting
	}
	return r.boolSetting(ctx, "core.sparsecheckout")
}

// applySparse makes a private index that was not copied from the user's leave out exactly the files
// that the sparse checkout leaves out now.
func (r *Repo) applySparse(ctx context.Context, index string) error {
	own, err := r.hidden(ctx, index)
	if err != nil {
		return err
	}
	var users hiddenFiles
	if sparse, err := r.sparse(ctx); err != nil {
		return err
	} else if sparse {
		if users, err = r.hidden(ctx, ""); err != nil {
			return err
		}
	}
	if err := r.updateIndex(ctx, index, slices.Concat(own.skipped, own.leftOut), "--no-skip-worktree"); err != nil {
		return err
	}
	return r.updateIndex(ctx, index, users.leftOut, "--skip-worktree")
}
