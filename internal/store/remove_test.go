package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/store"
)

func TestRemoveDeletesTheLoop(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := store.Open(home)
	l, err := s.Create("/repo", map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	left := func() int {
		entries, err := os.ReadDir(filepath.Join(home, "loops"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	// A loop that is driven stays, and so does one whose removal is refused.
	owner, err := l.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = l.Remove(t.Context(), func() error { t.Error("it is driven"); return nil })
	if _, held := errors.AsType[*store.HeldError](err); !held {
		t.Errorf("a driven loop: %v", err)
	}
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("no")
	if err := l.Remove(t.Context(), func() error { return refused }); !errors.Is(err, refused) || left() != 1 {
		t.Errorf("a refused removal: %v, %d folders", err, left())
	}
	if err := l.Remove(t.Context(), func() error { return nil }); err != nil || left() != 0 {
		t.Errorf("removal: %v, %d folders", err, left())
	}
	// A crash leaves hidden folders: those of a removal, and old ones of a creation.
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".removing-otter", ".new-1", ".new-2"} {
		if err := os.MkdirAll(filepath.Join(home, "loops", name, "inbox"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(home, "loops", ".new-1"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveLeftovers(time.Now()); err != nil || left() != 1 {
		t.Errorf("leftovers: %v, %d folders", err, left())
	}
}
