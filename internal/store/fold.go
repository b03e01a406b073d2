package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/pawl-dev/pawl/internal/store/journal"
)

// snapshot is state.json: the fold of the journal up to and including a record.
type snapshot struct {
	Shape string          `json:"shape"` // of the state, see shapeOf
	Mark  journal.Mark    `json:"mark"`
	State json.RawMessage `json:"state"`
}

// Fold brings the state of a loop up to date: it begins with the saved snapshot,
// or with zero() where there is none that fits the journal, and gives step each
// record behind it, in order. Its cost depends on what happened since the
// snapshot, not on the length of the journal. The mark is that of the last record
// folded.
//
// A damaged record is left out and folding goes on; the state is then returned
// together with the first *journal.CorruptError.
func Fold[S any](l *Loop, zero func() S, step func(S, journal.Record) (S, error)) (S, journal.Mark, error) {
	state, from := loadState(l, zero)
	state, last, err := foldBehind(l, state, from, step)
	if errors.Is(err, journal.ErrMark) { // a snapshot of another journal
		state, last, err = foldBehind(l, zero(), journal.Mark{}, step)
	}
	if err != nil {
		err = fmt.Errorf("read loop %s: %w", l.ID, err)
	}
	return state, last, err
}

// loadState reads the snapshot. One that is absent, unreadable or of another shape
// (another version of Pawl made it) is no error: it is derived from the journal, and
// will be again.
func loadState[S any](l *Loop, zero func() S) (S, journal.Mark) {
	snap, state := readSnapshot(l), zero()
	if snap.Shape != shapeOf(reflect.TypeFor[S]()) || json.Unmarshal(snap.State, &state) != nil {
		return zero(), journal.Mark{}
	}
	return state, snap.Mark
}

func readSnapshot(l *Loop) (snap snapshot) {
	data, err := os.ReadFile(filepath.Join(l.Dir, "state.json"))
	if err != nil || json.Unmarshal(data, &snap) != nil {
		return snapshot{}
	}
	return snap
}

func foldBehind[S any](l *Loop, state S, from journal.Mark, step func(S, journal.Record) (S, error)) (S, journal.Mark, error) {
	var damage error
	for r, err := range l.Records(from) {
		if corrupt := (*journal.CorruptError)(nil); errors.As(err, &corrupt) {
			if damage == nil {
				damage = err
			}
			continue
		}
		if err != nil {
			return state, from, err
		}
		if state, err = step(state, r); err != nil {
			return state, from, fmt.Errorf("record %d (%s): %w", r.Seq, r.Type, err)
		}
		from = r.Mark
	}
	return state, from, damage
}

// Records reads the loop's journal behind a mark, see journal.Records.
func (l *Loop) Records(from journal.Mark) iter.Seq2[journal.Record, error] {
	return journal.Records(l.journalPath(), from)
}

// followEvery is how long a follower may be behind.
const followEvery = 250 * time.Millisecond

// Follow reads the records from sequence number seq on and waits for more until
// ctx is done.
func (l *Loop) Follow(ctx context.Context, seq int64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range journal.Follow(ctx, l.journalPath(), journal.Mark{}, followEvery) {
			if err == nil && r.Seq < seq {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Verify checks the hash chain of the loop's journal, see journal.Verify. A chain
// tells nothing of what is gone from its end: there the saved state is the witness,
// which names the last record that it knows of.
func (l *Loop) Verify() (good int64, last journal.Mark, err error) {
	saved := readSnapshot(l).Mark
	good, last, err = journal.Verify(l.journalPath())
	if err != nil {
		return good, last, err
	}
	for _, err := range l.Records(saved) {
		if errors.Is(err, journal.ErrMark) {
			return good, last, &journal.CorruptError{
				Path: l.journalPath(), Seq: min(saved.Seq, last.Seq+1), Offset: last.End,
				Reason: fmt.Sprintf("the state was saved with record %d, which is not there any more", saved.Seq),
			}
		}
		break // it is there
	}
	return good, last, nil
}

func (l *Loop) journalPath() string { return filepath.Join(l.Dir, "journal.jsonl") }

// summaryFile is summary.json: what a list shows, as of a length of the journal.
type summaryFile[T any] struct {
	Shape   string `json:"shape"`   // of the summary, see shapeOf
	Journal int64  `json:"journal"` // bytes
	Summary T      `json:"summary"`
}

// Listed is a loop as List found it.
type Listed[T any] struct {
	Loop    *Loop
	Summary T
	Err     error // it could not be summarized; the others are listed all the same
}

// List summarizes all loops, sorted by id. It reads one small file a loop. Where that
// is missing, older than the journal or of another version of Pawl, derive makes the
// summary anew (with Fold, say), and List keeps it for the next time.
func List[T any](s *Store, derive func(*Loop) (T, error)) ([]Listed[T], error) {
	loops, err := s.Loops()
	if err != nil {
		return nil, err
	}
	out, shape := make([]Listed[T], 0, len(loops)), shapeOf(reflect.TypeFor[T]())
	for _, l := range loops {
		listed := Listed[T]{Loop: l}
		listed.Summary, listed.Err = summarize(l, shape, derive)
		out = append(out, listed)
	}
	return out, nil
}

func summarize[T any](l *Loop, shape string, derive func(*Loop) (T, error)) (T, error) {
	var kept summaryFile[T]
	size, err := l.JournalSize()
	if err != nil {
		return kept.Summary, err
	}
	data, err := os.ReadFile(l.summaryPath())
	if err == nil && json.Unmarshal(data, &kept) == nil && kept.Journal == size && kept.Shape == shape {
		return kept.Summary, nil
	}
	fresh, err := derive(l)
	if err != nil {
		return fresh, err
	}
	// A cache: where it cannot be written (a read-only home), the list is right
	// all the same and only slower. The size is from before derive read the
	// journal, so a record that came in between makes this summary stale.
	_ = writeJSON(l.summaryPath(), summaryFile[T]{Shape: shape, Journal: size, Summary: fresh})
	return fresh, nil
}

func (l *Loop) summaryPath() string { return filepath.Join(l.Dir, "summary.json") }

// JournalSize is the length of the journal in bytes, 0 before its first record.
func (l *Loop) JournalSize() (int64, error) {
	info, err := os.Stat(l.journalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read loop %s: %w", l.ID, err)
	}
	return info.Size(), nil
}
