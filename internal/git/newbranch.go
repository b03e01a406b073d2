package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// NewBranchObstacles returns what would keep git from making a branch and from putting
// HEAD on it: a branch whose name is a folder of this one's, or the other way round, and
// the locks of another git. For name "" it looks for locks alone.
func (r *Repo) NewBranchObstacles(ctx context.Context, name string) []error {
	var all []error
	for _, file := range []string{"HEAD.lock", "index.lock"} {
		lock := filepath.Join(r.gitDir, file)
		if info, err := os.Lstat(lock); err == nil {
			all = append(all, failure.New(failure.Usage, lockHint(lock), "another git holds the lock %s, which is %s old", lock, age(info)))
		}
	}
	if name == "" {
		return all
	}
	first, _, _ := strings.Cut(name, "/")
	refs, err := r.git(ctx, "for-each-ref", "--format=%(refname)", headsRef+first)
	if err != nil {
		return append(all, fmt.Errorf("look for branches like %s: %w", name, err))
	}
	for ref := range strings.Lines(refs) {
		other := strings.TrimPrefix(strings.TrimSpace(ref), headsRef)
		if strings.HasPrefix(name, other+"/") || strings.HasPrefix(other, name+"/") {
			return append(all, failure.New(failure.Usage, "rename that one:  git branch -m "+other+" NAME;  or name another with --branch",
				"there is a branch %s, so none can be named %s", other, name))
		}
	}
	return all
}

// lockHint is what a user can do about the lock of another git.
func lockHint(lock string) string {
	return fmt.Sprintf("wait for the other git to end; if none is running, remove its lock file:  rm '%s'", lock)
}

func age(info os.FileInfo) time.Duration { return time.Since(info.ModTime()).Round(time.Second) }
