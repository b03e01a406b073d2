package store

import (
	"encoding/json"
	"os"
	"reflect"
	"runtime"
	"sync"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// ListEntry is a loop in a list.
type ListEntry[T any] struct {
	Loop    *Loop
	Summary T
	Err     error // why it has no summary
}

// List summarizes all loops, sorted by id. It reads one small file per loop. If that is
// missing, older than the journal, or of another version of Pawl, it calls derive (with
// Fold, for example) and stores the result. Several loops are read at once.
func List[T any](s *Store, derive func(*Loop) (T, error)) ([]ListEntry[T], error) {
	return (&Lister[T]{Derive: derive}).List(s)
}

// Lister is List for repeated calls: it reads only what has changed. Its methods may be called from
// several goroutines.
type Lister[T any] struct {
	Derive func(*Loop) (T, error) // called from several goroutines
	IsIdle func(T) bool           // whether a loop is unlikely to change: it is checked every idleCheckEvery calls; may be nil

	mu   sync.Mutex
	n    int                  // calls of List
	last map[string]listed[T] // by id, as of the last List
}

// listed is an entry at a length of the journal.
type listed[T any] struct {
	ListEntry[T]
	size int64
}

// List returns the same as the function List.
func (r *Lister[T]) List(s *Store) ([]ListEntry[T], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	loops, err := s.Loops()
	if err != nil {
		return nil, err
	}
	r.n++
	now, shape := make([]listed[T], len(loops)), typeHash(reflect.TypeFor[T]())
	var wg sync.WaitGroup
	workers := min(len(loops), runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(loops); i += workers {
				now[i] = r.entry(loops[i], shape, (i+r.n)%idleCheckEvery == 0)
			}
		})
	}
	wg.Wait()
	out := make([]ListEntry[T], 0, len(loops))
	r.last = make(map[string]listed[T], len(loops))
	for _, l := range now {
		r.last[l.Loop.ID] = l
		out = append(out, l.ListEntry)
	}
	return out, nil
}

// idleCheckEvery is the number of calls of List in which each idle loop is checked once.
const idleCheckEvery = 8

// entry returns the loop's cached entry if its journal has not grown since, else a new one.
func (r *Lister[T]) entry(l *Loop, shape string, due bool) listed[T] {
	last, known := r.last[l.ID]
	if known && !due && last.Err == nil && r.IsIdle != nil && r.IsIdle(last.Summary) {
		return last
	}
	size, err := l.JournalSize()
	if err != nil {
		return listed[T]{ListEntry[T]{Loop: l, Err: err}, -1}
	}
	if known && last.size == size {
		return last
	}
	e := listed[T]{ListEntry[T]{Loop: l}, size}
	e.Summary, e.Err = loadSummary(l, summaryFile[T]{TypeHash: shape, JournalSize: size}, r.Derive)
	return e
}

// loadSummary returns the stored summary if it has the type and the length of the journal
// that are wanted, or a new one.
func loadSummary[T any](l *Loop, wanted summaryFile[T], derive func(*Loop) (T, error)) (T, error) {
	var kept summaryFile[T]
	data, err := os.ReadFile(l.summaryPath())
	if err == nil && json.Unmarshal(data, &kept) == nil && kept.JournalSize == wanted.JournalSize && kept.TypeHash == wanted.TypeHash {
		return kept.Summary, nil
	}
	fresh, err := derive(l)
	if err != nil {
		return fresh, err
	}
	// The file is a cache: if it cannot be written (a read-only home), the list is only
	// slower. The size was read before derive read the journal, so a record that was
	// added in between makes this summary stale.
	wanted.Summary = fresh
	_ = atomicfile.WriteJSON(l.summaryPath(), wanted)
	return fresh, nil
}
