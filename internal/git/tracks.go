package git

import (
	"context"
	"errors"
	"fmt"
)

// Tracks reports whether git tracks a file of a folder; path is relative to it with
// slashes. Without a repository it returns false.
func Tracks(ctx context.Context, dir, path string) (bool, error) {
	r, err := Reopen(ctx, dir)
	if _, none := errors.AsType[*NoRepoError](err); none {
		return false, nil
	}
	if err == nil {
		_, err = runOnce(ctx, dir, call{
			places: r.gitDirs(),
			args:   []string{"--literal-pathspecs", "ls-files", "--error-unmatch", "--", path},
			env:    []string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.root},
		})
	}
	if saidNo(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check if git tracks %s: %w", path, err)
	}
	return true, nil
}
