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

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// snapshot is state.json: the fold of the journal up to and including a record.
type snapshot[State any] struct {
	TypeHash string       `json:"type_hash"` // loopsIn the state's type, see typeHash
	Mark     journal.Mark `json:"mark"`
	State    State        `json:"state"`
}

// Fold returns the state of a loop. It starts with the saved snapshot, or with zero() if
// there is none that fits the journal, and passes each later record to step, in order.
// Its cost depends on what happened since the snapshot, not on the length of the journal.
// The mark is that of the last record.
//
// A damaged record is skipped. Fold then returns the state together with the first
// *journal.CorruptError.
func Fold[S any](l *Loop, zero func() S, step func(S, journal.Record) (S, error)) (S, journal.Mark, error) {
	state, from := loadState(l, zero)
	state, last, err := foldAfter(l, state, from, step)
	if errors.Is(err, journal.ErrMarkNotFound) { // a snapshot of another journal
		state, last, err = foldAfter(l, zero(), journal.Mark{}, step)
	}
	if err != nil {
		err = fmt.Errorf("read loop %s: %w", l.ID, err)
	}
	return state, last, err
}

// loadState reads the snapshot. If it is missing, unreadable or of another type (written
// by another version of Pawl), loadState returns zero(): the journal is folded again.
func loadState[S any](l *Loop, zero func() S) (S, journal.Mark) {
	snap, state := readSnapshot(l), zero()
	if snap.TypeHash != typeHash(reflect.TypeFor[S]()) || json.Unmarshal(snap.State, &state) != nil {
		return zero(), journal.Mark{}
	}
	return state, snap.Mark
}

// readSnapshot reads state.json. It returns a zero snapshot if that fails.
func readSnapshot(l *Loop) (snap snapshot[json.RawMessage]) {
	if atomicfile.ReadJSON(filepath.Join(l.Dir, "state.json"), &snap) != nil {
		return snapshot[json.RawMessage]{}
	}
	return snap
}

// foldAfter folds the records after a mark.
func foldAfter[S any](l *Loop, state S, from journal.Mark, step func(S, journal.Record) (S, error)) (S, journal.Mark, error) {
	var damage error
	for r, err := range l.Records(from) {
		if _, corrupt := errors.AsType[*journal.CorruptError](err); corrupt {
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

// Records reads the loop's journal after a mark, see journal.Records.
func (l *Loop) Records(from journal.Mark) iter.Seq2[journal.Record, error] {
	return journal.Records(l.journalPath(), from)
}

// followInterval is how often a follower checks for new records.
const followInterval = 250 * time.Millisecond

// Follow reads the records from sequence number seq on, and waits for more until ctx is
// done.
func (l *Loop) Follow(ctx context.Context, seq int64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range journal.Follow(ctx, l.journalPath(), journal.Mark{}, followInterval) {
			if err == nil && r.Seq < seq {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// VerifyJournal checks the hash chain of the loop's journal, see journal.Verify. The
// chain does not show whether its end is missing, but the saved state names the last
// record that it includes.
func (l *Loop) VerifyJournal() (good int64, last journal.Mark, err error) {
	saved := readSnapshot(l).Mark
	good, last, err = journal.Verify(l.journalPath())
	if err != nil {
		return good, last, err
	}
	for _, err := range l.Records(saved) {
		if errors.Is(err, journal.ErrMarkNotFound) {
			return good, last, &journal.CorruptError{
				Path: l.journalPath(), Seq: min(saved.Seq, last.Seq+1), Offset: last.End,
				Reason: fmt.Sprintf("the saved state includes record %d, which is missing", saved.Seq),
			}
		}
		break // the journal has the record
	}
	return good, last, nil
}

// journalPath returns the file of the journal.
func (l *Loop) journalPath() string { return filepath.Join(l.Dir, "journal.jsonl") }

// summaryFile is summary.json: what a list shows, at a length of the journal.
type summaryFile[T any] struct {
	TypeHash    string `json:"type_hash"` // loopsIn the summary's type, see typeHash
	JournalSize int64  `json:"journal"`   // bytes
	Summary     T      `json:"summary"`
}

// summaryPath returns the file of the summary.
func (l *Loop) summaryPath() string { return filepath.Join(l.Dir, "summary.json") }

// JournalSize returns the length of the journal in bytes, 0 before its first record.
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
