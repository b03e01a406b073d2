package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

var benchSummary = json.RawMessage(`{"id":"brisk-otter-7f3a","name":"","kind":"change","state":"ended","outcome":"verified","iteration":12,` +
	`"tasks":{"done":9,"open":0,"skipped":0},"gates":[{"name":"go test ./...","result":"pass","exit_code":0}],"evidence":"proven",` +
	`"commits":9,"cost_usd":4.21,"tokens":{"input":1,"output":2,"cache_read":3,"cache_write":4},"turns":14,"started_at":"2026-01-31T09:00:00Z"}`)

func BenchmarkList1000(b *testing.B) {
	s := store.Open(b.TempDir())
	derive := func(*store.Loop) (json.RawMessage, error) { return benchSummary, nil }
	for range 1000 {
		if _, err := s.Create("/repo", spec{}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := store.List(s, derive); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := store.List(s, derive); err != nil {
			b.Fatal(err)
		}
	}
}

// A loop of 10,000 iterations has 100,000 records; its snapshot is ten records old.
func BenchmarkOpen10000Iterations(b *testing.B) {
	l, err := store.Open(b.TempDir()).Create("/repo", spec{})
	if err != nil {
		b.Fatal(err)
	}
	o, err := l.Own(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer o.Close()
	batch := make([]journal.Entry, 1000)
	for i := range batch {
		batch[i] = journal.Entry{Type: "turn", Data: strings.Repeat("x", 500)}
	}
	for range 100 {
		if _, err := o.Append(batch...); err != nil {
			b.Fatal(err)
		}
	}
	st, mark, err := store.Fold(l, zero, step)
	if err == nil {
		err = o.Save(mark, st, nil)
	}
	if err == nil {
		_, err = o.Append(batch[:10]...)
	}
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		got, _, err := store.Fold(l, zero, step)
		if err != nil || got.folded != 10 {
			b.Fatalf("folded %d, %v", got.folded, err)
		}
	}
}
