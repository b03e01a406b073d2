package git

import (
	"context"
	"fmt"
	"path/filepath"
)

// Untracked lists the files that git neither tracks nor ignores. It reads no file,
// which makes it cheaper than a status or a snapshot. It returns the state of the
// user's index as well, which tells whether git tracks the same files as at another
// call.
func (r *Repo) Untracked(ctx context.Context) (files []string, index string, err error) {
	index, err = indexStamp(filepath.Join(r.gitDir, "index"))
	if err != nil {
		return nil, "", fmt.Errorf("read the user's index: %w", err)
	}
	out, err := r.run(ctx, call{args: []string{"ls-files", "--others", "--exclude-standard", "-z"}})
	if err != nil {
		return nil, "", fmt.Errorf("list untracked files: %w", err)
	}
	return fields(out), index, nil
}

// Ignored lists what git ignores in the work tree beside the rest, files and whole
// folders, these with a / at the end: what lies in them is not looked at.
func (r *Repo) Ignored(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, call{args: []string{"ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	return fields(out), nil
}
