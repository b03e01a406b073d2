package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/pawl-dev/pawl/internal/store/journal"
)

// TypeOwnerTaken is the type of the first record of each owner. Its data is the Holder.
const TypeOwnerTaken = "owner_taken"

// OwnTypes lists the types of records that the store writes itself.
func OwnTypes() []string { return []string{TypeOwnerTaken, journal.TornType} }

// ErrOwnershipLost means that another owner has taken the loop. The caller must stop and
// write nothing more.
var ErrOwnershipLost = journal.ErrLostOwnership

// Owner drives a loop: only it appends to the journal. It holds the loop's lock until
// Close.
type Owner struct {
	loop    *Loop
	lock    *lock
	journal *journal.Writer
	epoch   int64
	saved   journal.Mark // loopsIn the state as SaveState wrote it last
	size    int          // loopsIn that, in bytes
}

// Own makes this process the loop's owner, with a new epoch. It returns a *HeldError if
// another process owns the loop.
func (l *Loop) Own(ctx context.Context) (*Owner, error) {
	return l.OwnIf(ctx, func(int64) error { return nil })
}

// OwnIf is Own if may returns nil. may is called with the epoch of the last owner while
// the lock is held, so that nothing it reads can change. If it returns an error, nothing
// is written.
func (l *Loop) OwnIf(ctx context.Context, may func(epoch int64) error) (*Owner, error) {
	o, err := l.lockAndOpen(ctx)
	if err != nil {
		return nil, err
	}
	before := o.journal.Last().Epoch
	if err := may(before); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.epoch = before + 1
	h := newHolder(l.ID, o.epoch)
	if _, err := o.Append(journal.Entry{Type: TypeOwnerTaken, Data: h}); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	if err := o.lock.writeHolder(h); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Rejoin continues as an owner with this epoch that released the lock, as the hooks of a
// session do. It returns ErrOwnershipLost if there is a newer owner.
func (l *Loop) Rejoin(ctx context.Context, epoch int64) (*Owner, error) {
	o, err := l.lockAndOpen(ctx)
	if err != nil {
		return nil, err
	}
	if o.epoch = epoch; o.journal.Last().Epoch != epoch {
		return nil, errors.Join(fmt.Errorf("rejoin loop %s: %w", l.ID, ErrOwnershipLost), o.Close())
	}
	return o, nil
}

// lockAndOpen takes the owner's lock and opens the journal.
func (l *Loop) lockAndOpen(ctx context.Context) (*Owner, error) {
	lock, err := acquireLock(ctx, l.lockPath(), "loop "+l.ID)
	if err != nil {
		return nil, err
	}
	w, err := journal.Open(l.journalPath())
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return &Owner{loop: l, lock: lock, journal: w}, nil
}

// Detach notes that the owner has left its terminal, so that a restart of the machine
// does not end its loop.
func (o *Owner) Detach() error {
	h := readHolder(o.lock.path)
	h.Detached = true
	return o.lock.writeHolder(h)
}

// Epoch returns the number of the owner, from 1.
func (o *Owner) Epoch() int64 { return o.epoch }

// Append writes the entries to the journal, all or none, and returns the mark of the last
// when they are on disk. If it returns ErrOwnershipLost, nothing was written.
func (o *Owner) Append(entries ...journal.Entry) (journal.Mark, error) {
	return o.journal.Append(o.epoch, entries...)
}

// AppendSoon is Append without waiting for the disk, see journal.Writer.
func (o *Owner) AppendSoon(entries ...journal.Entry) (journal.Mark, error) {
	return o.journal.AppendSoon(o.epoch, entries...)
}

// Sync returns when all that was appended is on disk.
func (o *Owner) Sync() error { return o.journal.Sync() }

// CheckPath returns journal.ErrGone if the loop's folder was moved or deleted.
func (o *Owner) CheckPath() error { return o.journal.CheckPath() }

// saveRatio limits the size of the state relative to the journal since the last save: a larger state
// is not saved yet. So a large state (a plan of thousands of tasks) is not written for each record,
// and readers still have few records to fold.
const saveRatio = 8

// Save stores a snapshot: state is the fold of the journal up to and including the record
// at mark, summary is what List returns. A large state is stored once it is worth it: call
// SaveState when you are done.
func (o *Owner) Save(mark journal.Mark, state, summary any) error {
	if o.size == 0 || saveRatio*(mark.End-o.saved.End) >= int64(o.size) {
		if err := o.SaveState(mark, state); err != nil {
			return err
		}
	}
	if _, err := writeDerived(o.loop.summaryPath(), summaryFile[any]{TypeHash: typeHash(reflect.TypeOf(summary)), JournalSize: mark.End, Summary: summary}); err != nil {
		return fmt.Errorf("save summary of loop %s: %w", o.loop.ID, err)
	}
	return nil
}

// SaveState is Save at once and without the summary, which List derives when needed. It
// does nothing if the state at mark is stored.
func (o *Owner) SaveState(mark journal.Mark, state any) error {
	if o.size > 0 && mark == o.saved {
		return nil
	}
	size, err := writeDerived(filepath.Join(o.loop.Dir, "state.json"), snapshot[any]{TypeHash: typeHash(reflect.TypeOf(state)), Mark: mark, State: state})
	if err != nil {
		return fmt.Errorf("save state of loop %s: %w", o.loop.ID, err)
	}
	o.saved, o.size = mark, size
	return nil
}

// Close releases the loop.
func (o *Owner) Close() error {
	return errors.Join(o.journal.Close(), o.lock.release())
}
