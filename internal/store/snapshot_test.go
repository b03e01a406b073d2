package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// state counts records by type; folded counts those of the last Fold.
type state struct {
	Count  map[string]int `json:"count"`
	folded int
}

func zero() state { return state{Count: map[string]int{}} }

func step(s state, r journal.Record) (state, error) {
	if r.Type == "impossible" {
		return s, errors.New("cannot be folded")
	}
	s.Count[r.Type]++
	s.folded++
	return s, nil
}

func TestFoldStartsAtSnapshot(t *testing.T) {
	t.Parallel()
	l, o := owned(t)
	append1(t, o, "turn")
	save(t, l, o)
	append1(t, o, "turn")
	append1(t, o, "end")

	got, mark := fold(t, l)
	if diff := cmp.Diff(map[string]int{store.TypeOwnerTaken: 1, "turn": 2, "end": 1}, got.Count); diff != "" {
		t.Error(diff)
	}
	if got.folded != 2 || mark.Seq != 4 {
		t.Errorf("folded %d records up to %d, want 2 up to 4", got.folded, mark.Seq)
	}
}

func TestDamagedSnapshotIsRebuilt(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, content string }{
		{"deleted", ""},
		{"rubbish", "{"},
		{"of another shape", `{"mark":{"seq":1,"start":0,"end":10,"hash":"x"},"state":{"count":7}}`},
		{"of another journal", `{"mark":{"seq":1,"start":0,"end":10,"hash":"x"},"state":{"count":{"turn":99}}}`},
		{"empty", "{}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, o := owned(t)
			append1(t, o, "turn")
			save(t, l, o)
			path := filepath.Join(l.Dir, "state.json")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if c.content != "" {
				if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, mark := fold(t, l)
			if diff := cmp.Diff(map[string]int{store.TypeOwnerTaken: 1, "turn": 1}, got.Count); diff != "" || mark.Seq != 2 {
				t.Errorf("up to %d: %s", mark.Seq, diff)
			}
		})
	}
}

func TestFoldSkipsDamagedRecordAndReturnsIt(t *testing.T) {
	t.Parallel()
	l, o := owned(t)
	append1(t, o, "lost")
	append1(t, o, "turn")
	replaceInJournal(t, l, `"type":"lost"`, `"type":"lost`)
	got, mark, err := store.Fold(l, zero, step)
	var corrupt *journal.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Seq != 2 {
		t.Errorf("error = %v, want record 2", err)
	}
	if diff := cmp.Diff(map[string]int{store.TypeOwnerTaken: 1, "turn": 1}, got.Count); diff != "" || mark.Seq != 3 {
		t.Errorf("up to %d: %s", mark.Seq, diff)
	}
	if _, _, err := l.VerifyJournal(); !errors.As(err, &corrupt) {
		t.Errorf("verify = %v", err)
	}
}

// The hash chain does not show that its end is missing. The saved state does.
func TestVerifyDetectsMissingEnd(t *testing.T) {
	t.Parallel()
	l, o := owned(t)
	append1(t, o, "turn")
	last := append1(t, o, "turn")
	if good, at, err := l.VerifyJournal(); good != 3 || at != last || err != nil {
		t.Fatalf("without a saved state: %d up to %+v, %v", good, at, err)
	}
	save(t, l, o)
	append1(t, o, "turn")
	if good, _, err := l.VerifyJournal(); good != 4 || err != nil {
		t.Fatalf("with a state of before the end: %d, %v", good, err)
	}
	path := filepath.Join(l.Dir, "journal.jsonl")
	if err := os.Truncate(path, last.End); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.VerifyJournal(); err != nil {
		t.Fatalf("cut behind what was saved: %v", err)
	}
	if err := os.Truncate(path, last.Start); err != nil {
		t.Fatal(err)
	}
	var corrupt *journal.CorruptError
	good, _, err := l.VerifyJournal()
	if !errors.As(err, &corrupt) || good != 2 || corrupt.Seq != 3 || !strings.Contains(corrupt.Reason, "record 3, which is missing") {
		t.Errorf("%d good, %v", good, err)
	}
}

func TestFoldStopsAtStepError(t *testing.T) {
	t.Parallel()
	l, o := owned(t)
	append1(t, o, "impossible")
	append1(t, o, "turn")
	_, mark, err := store.Fold(l, zero, step)
	if err == nil || !strings.Contains(err.Error(), "record 2 (impossible)") || mark.Seq != 1 {
		t.Errorf("up to %d, %v", mark.Seq, err)
	}
}

func TestUnencodableStateIsNotSaved(t *testing.T) {
	t.Parallel()
	_, o := owned(t)
	m := append1(t, o, "turn")
	if err := o.Save(m, func() {}, nil); err == nil {
		t.Error("saved a function as state")
	}
	if err := o.Save(m, nil, func() {}); err == nil {
		t.Error("saved a function as summary")
	}
}

func TestFollowStartsAtSequence(t *testing.T) {
	t.Parallel()
	l, o := owned(t)
	append1(t, o, "a")
	append1(t, o, "b")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var got []string
	for r, err := range l.Follow(ctx, 2) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, r.Type); r.Type == "b" {
			append1(t, o, "later")
		}
		if r.Type == "later" {
			break
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "later"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestListRebuildsStaleSummaries(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	fresh, stale, fresher := create(t, s, "/a"), create(t, s, "/a"), create(t, s, "/a")
	for _, l := range []*store.Loop{fresh, stale} {
		o := own(t, l)
		save(t, l, o)
		if l == stale {
			append1(t, o, "turn")
		}
	}
	var mu sync.Mutex
	var derived []string
	derive := func(l *store.Loop) (int, error) {
		mu.Lock()
		derived = append(derived, l.ID)
		mu.Unlock()
		st, _, err := store.Fold(l, zero, step)
		return st.Count["turn"] + 100, err
	}
	want := map[string]int{fresh.ID: 0, stale.ID: 101, fresher.ID: 100}
	for range 2 { // the second time, nothing is stale
		got := map[string]int{}
		listed, err := store.List(s, derive)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range listed {
			if got[x.Loop.ID] = x.Summary; x.Err != nil {
				t.Error(x.Err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if len(derived) != 2 {
		t.Errorf("derived %v, want %s and %s once", derived, stale.ID, fresher.ID)
	}
}

func TestListReportsLoopWithoutSummary(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	create(t, s, "/a")
	create(t, s, "/a")
	bad := errors.New("no idea")
	var n atomic.Int64
	listed, err := store.List(s, func(*store.Loop) (string, error) {
		if n.Add(1) == 1 {
			return "", bad
		}
		return "fine", nil
	})
	if err != nil || len(listed) != 2 {
		t.Fatalf("listed %d, %v", len(listed), err)
	}
	if listed[0].Err == nil { // the other one came first
		slices.Reverse(listed)
	}
	if !errors.Is(listed[0].Err, bad) || listed[1].Err != nil || listed[1].Summary != "fine" {
		t.Errorf("listed %+v", listed)
	}
}

func owned(t *testing.T) (*store.Loop, *store.Owner) {
	t.Helper()
	l := create(t, store.Open(t.TempDir()), "/repo")
	return l, own(t, l)
}

func own(t *testing.T, l *store.Loop) *store.Owner {
	t.Helper()
	o, err := l.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() }) // may be closed already
	return o
}

func append1(t *testing.T, o *store.Owner, kind string) journal.Mark {
	t.Helper()
	m, err := o.Append(journal.Entry{Type: kind})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// save stores a snapshot of the whole journal; its summary is 0.
func save(t *testing.T, l *store.Loop, o *store.Owner) {
	t.Helper()
	st, mark := fold(t, l)
	if err := o.Save(mark, st, 0); err != nil {
		t.Fatal(err)
	}
}

func fold(t *testing.T, l *store.Loop) (state, journal.Mark) {
	t.Helper()
	st, mark, err := store.Fold(l, zero, step)
	if err != nil {
		t.Fatal(err)
	}
	return st, mark
}

func replaceInJournal(t *testing.T, l *store.Loop, old, new string) {
	t.Helper()
	path := filepath.Join(l.Dir, "journal.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A large state is not stored for each record, and none of it is lost for that: whoever
// dies between two saves leaves a journal whose fold is the same, and short.
func TestSaveOfLargeStateIsRareAndFoldsTheSame(t *testing.T) {
	t.Parallel()
	l, o := owned(t)
	large := func() state { s := zero(); s.Count[strings.Repeat("x", 20_000)] = 1; return s }
	path := filepath.Join(l.Dir, "state.json")
	writes, last := 0, []byte(nil)
	live := large()
	live.Count[store.TypeOwnerTaken] = 1
	for range 100 {
		mark := append1(t, o, "turn")
		live.Count["turn"]++
		if err := o.Save(mark, live, 0); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(now) != string(last) {
			writes, last = writes+1, now
		}
		got, _, err := store.Fold(l, large, step)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(live.Count, got.Count); diff != "" {
			t.Fatalf("what a new owner reads (-live +read):\n%s", diff)
		}
	}
	if writes < 2 || writes > 20 {
		t.Errorf("100 records of a large state stored it %d times", writes)
	}
	mark := append1(t, o, "end")
	live.Count["end"]++
	if err := o.SaveState(mark, live); err != nil {
		t.Fatal(err)
	}
	if got, _, err := store.Fold(l, large, step); err != nil || got.folded != 0 {
		t.Errorf("the last state was not stored: %d records to fold, %v", got.folded, err)
	}
}
