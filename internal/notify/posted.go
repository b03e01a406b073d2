package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/notice"
)

const (
	noticePrefix = "notice-"    // begins the file names of posted notices
	quietLock    = "quiet.lock" // lock of the process that waits for the end of quiet hours
	// clockCheckInterval is how often that process reads the clock: a timer stops while the machine sleeps.
	clockCheckInterval = time.Minute
)

// Posted returns the names of notices in a loop's folder that no process has taken yet, the oldest
// first.
func Posted(dir string) []string {
	paths, _ := filepath.Glob(filepath.Join(dir, noticePrefix+"*.json")) // only an invalid pattern fails
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

// TakePosted reads a posted notice and removes it, so that only one process sends it.
func TakePosted(dir, name string) (notice.Notice, error) {
	var n notice.Notice
	path := filepath.Join(dir, filepath.Base(name))
	mine := path + ".taken"
	err := os.Rename(path, mine)
	if err == nil {
		err = atomicfile.ReadJSON(mine, &n)
		err = errors.Join(err, os.Remove(mine))
	}
	if err != nil {
		return n, fmt.Errorf("read notice: %w", err)
	}
	return n, nil
}

// AwaitQuietEnd waits until the loop's quiet hours end. It returns false if the context ends first, or
// if another process already waits and will send what was posted.
func AwaitQuietEnd(ctx context.Context, dir string, s notice.Settings) (bool, error) {
	if s.QuietUntil(time.Now()).IsZero() {
		return true, nil
	}
	lock := flock.New(filepath.Join(dir, quietLock), flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); !locked {
		return false, err
	}
	defer func() { _ = lock.Unlock() }()
	for {
		until := s.QuietUntil(time.Now())
		if until.IsZero() {
			return true, nil
		}
		select {
		case <-time.After(min(clockCheckInterval, time.Until(until))):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
