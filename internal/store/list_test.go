package store_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/pawl-dev/pawl/internal/store"
)

// Who asks again reads only the loops whose journal has grown, and those that are new.
func TestAListerReadsWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	type summary struct{ N int64 }
	var derived atomic.Int64
	lister := store.Lister[summary]{Derive: func(*store.Loop) (summary, error) { return summary{derived.Add(1)}, nil }}
	var loops []*store.Loop
	create := func() {
		l, err := s.Create("/repo", nil)
		if err != nil {
			t.Fatal(err)
		}
		loops = append(loops, l)
	}
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(loops[0].Dir, name), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		create()
	}
	for _, step := range []struct {
		name    string
		change  func()
		derived int64 // by then
		loops   int
	}{
		{"at first", func() {}, 20, 20},
		{"nothing changed", func() { write("summary.json") }, 20, 20},
		{"a journal grew", func() { write("journal.jsonl") }, 21, 20},
		{"another came", create, 22, 21},
		{"one went", func() { _ = os.RemoveAll(loops[1].Dir) }, 22, 20},
	} {
		step.change()
		got, err := lister.List(s)
		if err != nil || len(got) != step.loops || derived.Load() != step.derived {
			t.Errorf("%s: %d loops, %v, %d summaries were made", step.name, len(got), err, derived.Load())
		}
		for i := 1; i < len(got); i++ {
			if got[i-1].Loop.ID >= got[i].Loop.ID {
				t.Errorf("%s: not sorted", step.name)
			}
		}
	}
}

// A loop that rests is looked at after a while, too.
func TestListerRarelyChecksIdleLoops(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	l, err := s.Create("/repo", nil)
	if err != nil {
		t.Fatal(err)
	}
	derived := 0
	lister := store.Lister[int]{Derive: func(*store.Loop) (int, error) { derived++; return derived, nil }, IsIdle: func(int) bool { return true }}
	for i := range 10 {
		if i == 1 {
			if err := os.WriteFile(filepath.Join(l.Dir, "journal.jsonl"), []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := lister.List(s)
		if err != nil || i < 2 && got[0].Summary != 1 || i == 9 && got[0].Summary != 2 {
			t.Errorf("list %d: %+v, %v", i, got, err)
		}
	}
}
