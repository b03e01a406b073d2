package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Holder identifies who holds a lock.
type Holder struct {
	Loop  string    `json:"loop"` // id
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Epoch int64     `json:"epoch,omitempty"` // the owner's number, which increases with each owner; 0 for a work tree

	Detached bool `json:"detached,omitempty"` // an owner that left its terminal
}

// HeldError means that another process holds the lock.
type HeldError struct {
	Object string // "loop brisk-otter-7f3a", "work tree /home/a/app"
	Holder
}

// Error says who holds the lock.
func (e *HeldError) Error() string {
	if e.PID == 0 { // the holder has not written its file yet
		return e.Object + " is held by another process"
	}
	return fmt.Sprintf("%s is held by loop %s (process %d on %s, since %s)",
		e.Object, e.Loop, e.PID, e.Host, e.Since.Local().Format(time.DateTime))
}

// IsHeld reports whether err says that another process holds a lock.
func IsHeld(err error) bool {
	_, held := errors.AsType[*HeldError](err)
	return held
}

// lock is an advisory lock that ends with its process. The file is never deleted: a
// process could wait for the old file while another locks a new one. The holder is in a
// separate file, since Windows forbids reading a locked file.
type lock struct {
	flock *flock.Flock
	path  string
}

// lockTimeout bounds the attempts to take a lock. It is longer than Holder takes to test
// it.
const lockTimeout = 300 * time.Millisecond

// acquireLock takes the lock at path, or returns a *HeldError about object.
func acquireLock(ctx context.Context, path, what string) (*lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	l := &lock{flock: flock.New(path, flock.SetPermissions(0o600)), path: path}
	tryCtx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	ok, err := l.flock.TryLockContext(tryCtx, lockTimeout/20)
	if ok {
		return l, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("lock %s: %w", what, ctx.Err())
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	held := &HeldError{Object: what, Holder: readHolder(path)}
	hint := "wait for it"
	if held.Loop != "" {
		hint = fmt.Sprintf("pawl status %s shows it; pawl stop %[1]s ends it", held.Loop)
	}
	return nil, failure.New(failure.Usage, hint, "%w", held)
}

// writeHolder stores who holds the lock.
func (l *lock) writeHolder(h Holder) error {
	if err := atomicfile.WriteJSON(l.path+".json", h); err != nil {
		return fmt.Errorf("write holder of %s: %w", l.path, err)
	}
	return nil
}

// release unlocks the file.
func (l *lock) release() error { return l.flock.Unlock() }

// readHolder returns the stored holder, or a zero Holder. It is for display: only the
// lock decides.
func readHolder(path string) (h Holder) {
	if atomicfile.ReadJSON(path+".json", &h) != nil {
		return Holder{} // display only: the lock itself is what decides
	}
	return h
}

// newHolder describes this process.
func newHolder(loop string, epoch int64) Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return Holder{Loop: loop, PID: os.Getpid(), Host: host, Since: time.Now().UTC(), Epoch: epoch}
}

// Holder returns who drives the loop, or drove it last, and whether that process still
// runs.
func (l *Loop) Holder() (h Holder, alive bool, err error) {
	path := l.lockPath()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	}
	f := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := f.TryRLock()
	if err != nil {
		return Holder{}, false, fmt.Errorf("test lock of loop %s: %w", l.ID, err)
	}
	if free {
		err = f.Unlock()
	}
	return readHolder(path), !free, err
}

// lockPath returns the file of the owner's lock.
func (l *Loop) lockPath() string { return filepath.Join(l.Dir, "owner.lock") }

// WorkTree is a git work tree.
type WorkTree interface {
	Root() string
	GitDir() string
}

// LockWorktree reserves a work tree for the loop, until unlock is called or the process
// ends. It returns a *HeldError, with a hint, if another loop uses the work tree.
func (s *Store) LockWorktree(ctx context.Context, tree WorkTree, loop string) (unlock func() error, err error) {
	what := "work tree " + tree.Root()
	gitDir, err := filepath.EvalSymlinks(tree.GitDir())
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	if gitDir, err = filepath.Abs(gitDir); err != nil {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	sum := sha256.Sum256([]byte(gitDir))
	l, err := acquireLock(ctx, filepath.Join(s.home, "worktrees", hex.EncodeToString(sum[:16])+".lock"), what)
	if err != nil {
		return nil, err
	}
	if err := l.writeHolder(newHolder(loop, 0)); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l.release, nil
}

// LockCheckout reserves the checkouts that gates of the loop run in, until unlock is
// called or the process ends. It returns a *HeldError if another process uses them.
func (l *Loop) LockCheckout(ctx context.Context) (unlock func() error, err error) {
	lock, err := acquireLock(ctx, filepath.Join(l.Dir, "checkout.lock"), "checkout of loop "+l.ID)
	if err != nil {
		return nil, err
	}
	return lock.release, nil
}

// ClaimCheckout is LockCheckout, but asks the process that uses the checkouts to stop,
// see IsCheckoutClaimed, and waits for that up to a timeout.
func (l *Loop) ClaimCheckout(ctx context.Context, timeout time.Duration) (unlock func() error, err error) {
	for deadline := time.Now().Add(timeout); ; {
		unlock, err = l.LockCheckout(ctx)
		if !IsHeld(err) || time.Now().After(deadline) {
			_ = os.Remove(l.checkoutClaim()) // one that is left keeps others from beginning, no more
			return unlock, err
		}
		if err := os.WriteFile(l.checkoutClaim(), nil, 0o600); err != nil {
			return nil, fmt.Errorf("claim the checkout of loop %s: %w", l.ID, err)
		}
	}
}

// IsCheckoutClaimed reports whether another process wants the checkouts, or the loop's
// folder is gone.
func (l *Loop) IsCheckoutClaimed() bool {
	_, gone := os.Lstat(l.Dir)
	_, err := os.Lstat(l.checkoutClaim())
	return err == nil || gone != nil
}

func (l *Loop) checkoutClaim() string { return filepath.Join(l.Dir, "checkout.claimed") }

// LockAuditDir returns a folder for an audit by this process, until unlock is called or
// the process ends. The folder may have files of an audit that was killed.
func (s *Store) LockAuditDir(ctx context.Context) (dir string, unlock func() error, err error) {
	for n := 1; ; n++ {
		dir := filepath.Join(s.home, "audits", strconv.Itoa(n))
		l, err := acquireLock(ctx, dir+".lock", dir)
		if IsHeld(err) {
			continue // another audit uses it
		}
		if err != nil {
			return "", nil, err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", nil, errors.Join(err, l.release())
		}
		return dir, l.release, nil
	}
}
