package git

import (
	"context"
	"errors"
	"fmt"
)

// Tracks tells whether git tracks a file of a folder, path relative to it with
// slashes. Where there is no repository it does not.
func Tracks(ctx context.Context, dir, path string) (bool, error) {
	r, err := find(ctx, dir)
	if _, none := errors.AsType[*NoRepoError](err); none {
		return false, nil
	}
	if err == nil {
		_, err = runOnce(ctx, dir, call{
			places: r.places(),
			args:   []string{"--literal-pathspecs", "ls-files", "--error-unmatch", "--", path},
			env:    []string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.root},
		})
	}
	if exited(err, 1) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask whether git tracks %s: %w", path, err)
	}
	return true, nil
}
