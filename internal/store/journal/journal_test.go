package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/store/journal"
)

func TestAppendedRecordsAreReadBack(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	w := open(t, path)
	add(t, w, 1, "begun", map[string]string{"gate": "go vet && go test"})
	add(t, w, 1, "turn", nil)
	add(t, w, 2, "taken", 7)

	got := records(t, path, journal.Mark{})
	want := []string{
		`1 e1 begun {"gate":"go vet && go test"}`,
		`2 e1 turn `,
		`3 e2 taken 7`,
	}
	if diff := cmp.Diff(want, brief(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(w.Last().Mark, got[2].Mark); diff != "" {
		t.Errorf("the writer's last mark is not the reader's:\n%s", diff)
	}
	if since := time.Since(got[0].At); since < 0 || since > time.Minute {
		t.Errorf("at = %v", got[0].At)
	}
}

func TestReadingBeginsBehindAMark(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	w := open(t, path)
	add(t, w, 1, "a", nil)
	mark := add(t, w, 1, "b", nil)
	add(t, w, 1, "c", nil)
	if diff := cmp.Diff([]string{"3 e1 c "}, brief(records(t, path, mark))); diff != "" {
		t.Error(diff)
	}
}

func TestMarkOfAnotherJournalIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	w := open(t, path)
	mark := add(t, w, 1, "a", "first")
	other := mark
	other.Hash = strings.Repeat("0", 64)
	beyond := journal.Mark{Seq: 9, Start: 5_000, End: 5_100, Hash: mark.Hash}
	inside := journal.Mark{Seq: 1, Start: 0, End: mark.End - 2, Hash: mark.Hash}
	for name, m := range map[string]journal.Mark{"hash": other, "beyond": beyond, "inside a line": inside, "negative": {Seq: 1, Start: -1, End: 3}} {
		for _, err := range journal.Records(path, m) {
			if !errors.Is(err, journal.ErrMarkNotFound) {
				t.Errorf("%s: error = %v, want ErrMark", name, err)
			}
		}
	}
}

func TestAbsentJournalIsEmpty(t *testing.T) {
	t.Parallel()
	if got := records(t, newPath(t), journal.Mark{}); len(got) != 0 {
		t.Errorf("read %d records", len(got))
	}
}

func TestReopenedWriterGoesOn(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	for i := range 3 {
		w := open(t, path)
		add(t, w, int64(i+1), "turn", i)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantWhole(t, path, 3)
}

func TestTwoWritersOfOneOwnerTakeTurns(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	a, b := open(t, path), open(t, path)
	add(t, a, 1, "a", nil)
	add(t, b, 1, "b", nil)
	add(t, a, 1, "c", nil)
	wantWhole(t, path, 3)
}

func TestNewerEpochSilencesTheOlderOwner(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	old, young := open(t, path), open(t, path)
	add(t, old, 1, "turn", nil)
	add(t, young, 2, "taken", nil)
	if _, err := old.Append(1, journal.Entry{Type: "turn"}); !errors.Is(err, journal.ErrLostOwnership) {
		t.Errorf("error = %v, want ErrLostOwnership", err)
	}
	wantWhole(t, path, 2)
}

func TestEntriesOfOneAppendShareItsFate(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	w := open(t, path)
	add(t, w, 1, "a", nil)
	_, err := w.Append(1, journal.Entry{Type: "b"}, journal.Entry{Type: "c", Data: func() {}})
	if err == nil {
		t.Fatal("a function was marshalled")
	}
	huge := strings.Repeat("x", journal.MaxRecord)
	if _, err := w.Append(1, journal.Entry{Type: "b"}, journal.Entry{Type: "c", Data: huge}); err == nil {
		t.Fatal("a record above the limit was written")
	}
	wantWhole(t, path, 1)
	if _, err := w.Append(1, journal.Entry{Type: "b"}, journal.Entry{Type: "c"}); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, path, 3)
}

func TestFollowSeesWhatComes(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := make(chan string)
		go func() {
			defer close(got)
			for r, err := range journal.Follow(ctx, path, journal.Mark{}, 250*time.Millisecond) {
				if err != nil {
					t.Error(err)
				}
				got <- r.Type
			}
		}()
		w := open(t, path)
		for _, kind := range []string{"a", "b", "c"} {
			time.Sleep(time.Second)
			add(t, w, 1, kind, nil)
			if seen := <-got; seen != kind {
				t.Errorf("followed %q, want %q", seen, kind)
			}
		}
		cancel()
		if more, open := <-got; open {
			t.Errorf("followed %q after the end", more)
		}
	})
}

func TestFollowTellsOfABadLineOnce(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		add(t, open(t, path), 1, "a", nil)
		appendBytes(t, path, "rubbish\n")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var bad int
		for _, err := range journal.Follow(ctx, path, journal.Mark{}, time.Second) {
			if err != nil {
				bad++
			}
		}
		if bad != 1 {
			t.Errorf("told of %d bad lines, want 1", bad)
		}
	})
}

// Whoever stops reading early, or in the middle of a bad stretch, gets no more.
func TestReadingCanStop(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	w := open(t, path)
	add(t, w, 1, "a", nil)
	add(t, w, 1, "b", nil)
	appendBytes(t, path, "rubbish\nmore\n")
	for stopAt := 1; stopAt <= 3; stopAt++ {
		n := 0
		for range journal.Follow(t.Context(), path, journal.Mark{}, time.Hour) {
			if n++; n == stopAt {
				break
			}
		}
		if n != stopAt {
			t.Errorf("read %d, stopped at %d", n, stopAt)
		}
	}
}

func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "journal.jsonl")
}

func open(t *testing.T, path string) *journal.Writer {
	t.Helper()
	w, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() }) // may be closed already
	return w
}

func add(t *testing.T, w *journal.Writer, epoch int64, kind string, data any) journal.Mark {
	t.Helper()
	m, err := w.Append(epoch, journal.Entry{Type: kind, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func records(t *testing.T, path string, from journal.Mark) []journal.Record {
	t.Helper()
	var out []journal.Record
	for r, err := range journal.Records(path, from) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func brief(rs []journal.Record) []string {
	var out []string
	for _, r := range rs {
		out = append(out, fmt.Sprintf("%d e%d %s %s", r.Seq, r.Epoch, r.Type, r.Data))
	}
	return out
}

func wantWhole(t *testing.T, path string, n int64) {
	t.Helper()
	good, _, err := journal.Verify(path)
	if err != nil || good != n {
		t.Errorf("verify: %d records, %v; want %d", good, err, n)
	}
}

func appendBytes(t *testing.T, path, data string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(data)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func dataOf[T any](t *testing.T, r journal.Record) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(r.Data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
