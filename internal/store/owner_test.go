package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

func TestOwnStartsNewEpoch(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	for want := int64(1); want <= 3; want++ {
		o := own(t, l)
		if o.Epoch() != want {
			t.Errorf("epoch = %d, want %d", o.Epoch(), want)
		}
		append1(t, o, "turn")
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var epochs []int64
	for r, err := range l.Records(journal.Mark{}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Type == store.TypeOwnerTaken {
			var h store.Holder
			if err := json.Unmarshal(r.Data, &h); err != nil || h.PID != os.Getpid() || h.Loop != l.ID {
				t.Errorf("holder = %+v, %v", h, err)
			}
			epochs = append(epochs, r.Epoch)
		}
	}
	if diff := cmp.Diff([]int64{1, 2, 3}, epochs); diff != "" {
		t.Error(diff)
	}
}

func TestOwnReturnsHolder(t *testing.T) {
	t.Parallel()
	l, _ := owned(t)
	_, err := l.Own(t.Context())
	var held *store.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("error = %v, want a HeldError", err)
	}
	want := store.Holder{Loop: l.ID, PID: os.Getpid(), Epoch: 1}
	if diff := cmp.Diff(want, held.Holder, cmpopts.IgnoreFields(store.Holder{}, "Host", "Since")); diff != "" {
		t.Error(diff)
	}
	if failure.CodeOf(err) != failure.Usage || !strings.Contains(failure.Hint(err), "pawl stop "+l.ID) {
		t.Errorf("hint = %q", failure.Hint(err))
	}
	if !strings.Contains(err.Error(), "held by loop "+l.ID) {
		t.Errorf("error = %v", err)
	}
}

func TestUnknownHolderIsReported(t *testing.T) {
	t.Parallel()
	l, _ := owned(t)
	if err := os.Remove(filepath.Join(l.Dir, "owner.lock.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Own(t.Context()); err == nil || !strings.Contains(err.Error(), "held by another process") {
		t.Errorf("error = %v", err)
	}
}

func TestHolderIsAlive(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	wantAlive(t, l, 0, false)
	o := own(t, l)
	wantAlive(t, l, os.Getpid(), true)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	wantAlive(t, l, os.Getpid(), false)
}

// Reading the holder must never make an owner think that the loop is held.
func TestHolderDoesNotBlockOwn(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	own(t, l).Close()
	ctx, cancel := context.WithCancel(t.Context())
	looking := make(chan struct{})
	go func() {
		defer close(looking)
		for ctx.Err() == nil {
			if _, _, err := l.Holder(); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 20 {
		if err := own(t, l).Close(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	<-looking
}

// What speaks against a new owner is asked while nobody else can own the loop, and
// leaves the old one's epoch as it was.
func TestOwnIfChecksTheState(t *testing.T) {
	t.Parallel()
	l, o := owned(t)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	_, err := l.OwnIf(t.Context(), func(epoch int64) error {
		if _, alive, err := l.Holder(); err != nil || !alive || epoch != o.Epoch() {
			t.Errorf("asked about epoch %d with the lock held %v, %v", epoch, alive, err)
		}
		return no
	})
	if !errors.Is(err, no) {
		t.Fatalf("%v", err)
	}
	again, err := l.Rejoin(t.Context(), o.Epoch())
	if err := errors.Join(err, again.Close()); err != nil {
		t.Fatal(err)
	}
	next, err := l.OwnIf(t.Context(), func(int64) error { return nil })
	if err != nil || next.Epoch() != o.Epoch()+1 {
		t.Fatalf("%v", err)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRejoinKeepsTheEpoch(t *testing.T) {
	t.Parallel()
	l, o := owned(t)
	epoch := o.Epoch()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := l.Rejoin(t.Context(), epoch)
	if err != nil {
		t.Fatal(err)
	}
	append1(t, again, "turn")
	if _, err := l.Rejoin(t.Context(), epoch); !errors.As(err, new(*store.HeldError)) {
		t.Errorf("error = %v, want a HeldError", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := own(t, l).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Rejoin(t.Context(), epoch); !errors.Is(err, store.ErrOwnershipLost) {
		t.Errorf("error = %v, want ErrLostOwnership", err)
	}
	if good, _, err := l.VerifyJournal(); good != 3 || err != nil {
		t.Errorf("verify: %d, %v; want 3 records", good, err)
	}
}

func TestOwnIsCancelled(t *testing.T) {
	t.Parallel()
	l, _ := owned(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Own(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want Canceled", err)
	}
}

func TestOwnDamagedJournal(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	if err := os.WriteFile(filepath.Join(l.Dir, "journal.jsonl"), []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the lock was let go of
		if _, err := l.Own(t.Context()); !errors.As(err, new(*journal.CorruptError)) {
			t.Errorf("error = %v, want a CorruptError", err)
		}
	}
}

// folder is a work tree that is its own git folder.
type folder string

func (f folder) Root() string   { return string(f) }
func (f folder) GitDir() string { return string(f) }

func TestLockWorktreeIsExclusive(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	tree := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(tree, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	unlock, err := s.LockWorktree(t.Context(), folder(tree), "brisk-otter-7f3a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.LockWorktree(t.Context(), folder(link), "calm-wren-0001")
	var held *store.HeldError
	if !errors.As(err, &held) || held.Loop != "brisk-otter-7f3a" || held.PID != os.Getpid() {
		t.Errorf("error = %v, want a HeldError of brisk-otter-7f3a", err)
	}
	if want := "work tree " + link + " is held by loop brisk-otter-7f3a"; !strings.HasPrefix(held.Error(), want) {
		t.Errorf("error = %v, want %s", held, want)
	}
	other, err := s.LockWorktree(t.Context(), folder(t.TempDir()), "calm-wren-0001")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{other, unlock} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	if unlock, err = s.LockWorktree(t.Context(), folder(link), "calm-wren-0001"); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LockWorktree(t.Context(), folder(filepath.Join(tree, "gone")), "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
}

func wantAlive(t *testing.T, l *store.Loop, pid int, alive bool) {
	t.Helper()
	h, got, err := l.Holder()
	if err != nil || got != alive || h.PID != pid {
		t.Errorf("holder = %+v, alive %v, %v; want process %d, alive %v", h, got, err, pid, alive)
	}
}

func TestConcurrentAuditsHaveSeparateFolders(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	audit := func() (string, func() error) {
		t.Helper()
		dir, leave, err := s.LockAuditDir(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = leave() })
		return dir, leave
	}
	first, leave := audit()
	second, _ := audit()
	if first == second {
		t.Fatalf("both are at work in %s", first)
	}
	left := filepath.Join(first, "left")
	if err := errors.Join(os.WriteFile(left, nil, 0o600), leave()); err != nil {
		t.Fatal(err)
	}
	if third, _ := audit(); third != first {
		t.Errorf("the next audit is at work in %s, and never finds %s", third, left)
	}
}
