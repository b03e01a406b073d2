package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Holder tells who holds a lock.
type Holder struct {
	Loop  string    `json:"loop"` // id
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Epoch int64     `json:"epoch,omitempty"` // of the owner; 0 for a work tree
}

// HeldError: somebody else holds the lock.
type HeldError struct {
	What string // "loop brisk-otter-7f3a", "work tree /home/a/app"
	Holder
}

func (e *HeldError) Error() string {
	if e.PID == 0 { // the holder has not yet said who it is
		return e.What + " is held by another process"
	}
	return fmt.Sprintf("%s is held by loop %s (process %d on %s, since %s)",
		e.What, e.Loop, e.PID, e.Host, e.Since.Local().Format(time.DateTime))
}

// lock is an advisory lock that ends with its process. The file is never
// unlinked: somebody might be waiting on the old one while a third locks the new.
// Who holds it stands in a file beside it, since Windows forbids reading a locked
// file.
type lock struct {
	flock *flock.Flock
	path  string
}

// patience is how long a lock is tried for: enough to outlast those who only look
// whether it is held.
const patience = 300 * time.Millisecond

// acquire takes the lock at path or returns a *HeldError about what.
func acquire(ctx context.Context, path, what string) (*lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	l := &lock{flock: flock.New(path, flock.SetPermissions(0o600)), path: path}
	tryCtx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ok, err := l.flock.TryLockContext(tryCtx, patience/20)
	if ok {
		return l, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("lock %s: %w", what, ctx.Err())
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	held := &HeldError{What: what, Holder: readHolder(path)}
	hint := "wait for it"
	if held.Loop != "" {
		hint = fmt.Sprintf("pawl status %s shows it; pawl stop %[1]s ends it", held.Loop)
	}
	return nil, failure.New(failure.Usage, hint, "%w", held)
}

// tell writes who holds the lock.
func (l *lock) tell(h Holder) error {
	if err := writeJSON(l.path+".json", h); err != nil {
		return fmt.Errorf("tell who holds %s: %w", l.path, err)
	}
	return nil
}

func (l *lock) release() error { return l.flock.Unlock() }

func readHolder(path string) (h Holder) {
	data, err := os.ReadFile(path + ".json")
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{} // display only: the lock itself is what decides
	}
	return h
}

func newHolder(loop string, epoch int64) Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return Holder{Loop: loop, PID: os.Getpid(), Host: host, Since: time.Now().UTC(), Epoch: epoch}
}

// Holder tells who drives the loop, or drove it last, and whether that process
// still lives.
func (l *Loop) Holder() (h Holder, alive bool, err error) {
	path := l.lockPath()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	}
	f := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := f.TryRLock()
	if err != nil {
		return Holder{}, false, fmt.Errorf("look at the lock of loop %s: %w", l.ID, err)
	}
	if free {
		err = f.Unlock()
	}
	return readHolder(path), !free, err
}

func (l *Loop) lockPath() string { return filepath.Join(l.Dir, "owner.lock") }

// WorkTree is a work tree of git: its root, and the git dir that names it.
type WorkTree interface {
	Root() string
	GitDir() string
}

// LockWorktree makes the loop the only one that acts on the work tree, until
// unlock is called or the process ends. It returns a *HeldError, with a hint, if
// another loop does.
func (s *Store) LockWorktree(ctx context.Context, tree WorkTree, loop string) (unlock func() error, err error) {
	what := "work tree " + tree.Root()
	real, err := filepath.EvalSymlinks(tree.GitDir())
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	sum := sha256.Sum256([]byte(real))
	l, err := acquire(ctx, filepath.Join(s.home, "worktrees", hex.EncodeToString(sum[:16])+".lock"), what)
	if err != nil {
		return nil, err
	}
	if err := l.tell(newHolder(loop, 0)); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l.release, nil
}

// AuditDir is a folder in which this process alone audits, until leave is called or
// the process ends. What stands in it was left by one that was killed.
func (s *Store) AuditDir(ctx context.Context) (dir string, leave func() error, err error) {
	for n := 1; ; n++ {
		dir := filepath.Join(s.home, "audits", strconv.Itoa(n))
		l, err := acquire(ctx, dir+".lock", dir)
		if _, held := errors.AsType[*HeldError](err); held {
			continue // another audit is at work there
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
