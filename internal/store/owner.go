package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Taken is the type of the record with which each ownership begins; its data is
// the Holder.
const Taken = "owner_taken"

// ErrLostOwnership: another owner has taken the loop over; this one must stop and
// say nothing more.
var ErrLostOwnership = journal.ErrLostOwnership

// Owner drives a loop: it alone appends to the journal. It holds the loop's lock
// until Close.
type Owner struct {
	loop    *Loop
	lock    *lock
	journal *journal.Writer
	epoch   int64
}

// Own makes this process the loop's owner, with a new epoch. It returns a
// *HeldError if another process is.
func (l *Loop) Own(ctx context.Context) (*Owner, error) {
	return l.OwnIf(ctx, func(int64) error { return nil })
}

// OwnIf is Own where may has nothing against it. It is asked with the epoch of the
// owner so far while the loop's lock is held: what it finds then stays true. After
// its error nothing was written.
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
	if _, err := o.Append(journal.Entry{Type: Taken, Data: h}); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	if err := o.lock.tell(h); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Rejoin goes on as an owner of this epoch that let go of the lock in between,
// as the hook processes of one session do. It returns ErrLostOwnership if there
// was a newer one meanwhile.
func (l *Loop) Rejoin(ctx context.Context, epoch int64) (*Owner, error) {
	o, err := l.lockAndOpen(ctx)
	if err != nil {
		return nil, err
	}
	if o.epoch = epoch; o.journal.Last().Epoch != epoch {
		return nil, errors.Join(fmt.Errorf("rejoin loop %s: %w", l.ID, ErrLostOwnership), o.Close())
	}
	return o, nil
}

func (l *Loop) lockAndOpen(ctx context.Context) (*Owner, error) {
	lock, err := acquire(ctx, l.lockPath(), "loop "+l.ID)
	if err != nil {
		return nil, err
	}
	w, err := journal.Open(l.journalPath())
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return &Owner{loop: l, lock: lock, journal: w}, nil
}

// Epoch counts the owners of the loop, from 1.
func (o *Owner) Epoch() int64 { return o.epoch }

// Append journals the entries, all or none, and returns when they are on disk,
// with the mark of the last. After ErrLostOwnership nothing was written.
func (o *Owner) Append(entries ...journal.Entry) (journal.Mark, error) {
	return o.journal.Append(o.epoch, entries...)
}

// AppendSoon is Append without the wait for the disk, see journal.Writer.
func (o *Owner) AppendSoon(entries ...journal.Entry) (journal.Mark, error) {
	return o.journal.AppendSoon(o.epoch, entries...)
}

// There says, by journal.ErrGone, that the loop's folder was moved or deleted.
func (o *Owner) There() error { return o.journal.There() }

// Save keeps a snapshot: state is the fold of the journal up to and including the
// record at mark, summary what List shows of it.
func (o *Owner) Save(mark journal.Mark, state, summary any) error {
	err := o.SaveState(mark, state)
	if err == nil {
		err = deriveJSON(o.loop.summaryPath(), summaryFile[any]{Shape: shapeOf(reflect.TypeOf(summary)), Journal: mark.End, Summary: summary})
	}
	if err != nil {
		return fmt.Errorf("save state of loop %s: %w", o.loop.ID, err)
	}
	return nil
}

// SaveState is Save without the summary, which List then makes when it is asked
// for.
func (o *Owner) SaveState(mark journal.Mark, state any) error {
	body, err := json.Marshal(state)
	if err == nil {
		err = deriveJSON(filepath.Join(o.loop.Dir, "state.json"), snapshot{Shape: shapeOf(reflect.TypeOf(state)), Mark: mark, State: body})
	}
	if err != nil {
		return fmt.Errorf("save state of loop %s: %w", o.loop.ID, err)
	}
	return nil
}

// Close lets go of the loop. The journal needs no closing words: what was
// appended is on disk.
func (o *Owner) Close() error {
	return errors.Join(o.journal.Close(), o.lock.release())
}
