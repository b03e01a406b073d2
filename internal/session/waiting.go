package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// waitingBinding is a binding without a session id.
type waitingBinding struct {
	Clients []int     `json:"clients"` // process ids, one of which is the client's
	Until   time.Time `json:"until"`
	Binding Binding   `json:"binding"`
}

// AdoptTimeout is how long a loop waits for its session.
const AdoptTimeout = time.Hour

// waitingLock is the name of the lock for waiting.json. No session may have this id.
const waitingLock = "waiting"

// WaitForSession stores a binding for the first session of one of these client processes. The
// binding of its old session id is removed.
func (s Store) WaitForSession(ctx context.Context, b Binding, clients []int, now time.Time) error {
	oldID := b.Session
	b.Session = ""
	err := s.withLock(ctx, waitingLock, func() error {
		all := slices.DeleteFunc(s.readWaiting(), func(w waitingBinding) bool { return w.Binding.Loop == b.Loop || now.After(w.Until) })
		all = append(all, waitingBinding{Clients: clients, Until: now.Add(AdoptTimeout), Binding: b})
		return s.write(s.dir.WaitingPath(), all)
	})
	if err != nil || oldID == "" {
		return err
	}
	_, err = s.Release(ctx, oldID, b.Loop)
	return err
}

// Adopt binds the loop that waits for this client's process to a session. It returns
// ErrNone if there is none.
func (s Store) Adopt(ctx context.Context, id string, client int, now time.Time) (Binding, error) {
	if !place.IsValidID(id) || client == 0 {
		return Binding{}, ErrNone
	}
	if !s.dir.HasWaiting() {
		return Binding{}, ErrNone
	}
	var b Binding
	err := s.withLock(ctx, waitingLock, func() error {
		all := slices.DeleteFunc(s.readWaiting(), func(w waitingBinding) bool { return !now.Before(w.Until) })
		i := slices.IndexFunc(all, func(w waitingBinding) bool { return slices.Contains(w.Clients, client) })
		if i < 0 {
			return errors.Join(ErrNone, s.writeWaiting(all))
		}
		b = all[i].Binding
		b.Session, b.Client = id, client
		if err := s.Bind(ctx, b); err != nil { // first, so that a kill between the two loses no loop
			return err
		}
		return s.writeWaiting(slices.Delete(all, i, i+1))
	})
	if err != nil {
		return Binding{}, err
	}
	return b, nil
}

// writeWaiting writes the list. An empty list has no file, since the events of every
// session look for it.
func (s Store) writeWaiting(all []waitingBinding) error {
	if len(all) > 0 {
		return s.write(s.dir.WaitingPath(), all)
	}
	if err := os.Remove(s.dir.WaitingPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove list of waiting bindings: %w", err)
	}
	return nil
}

// readWaiting returns the list. It is empty if the file cannot be read, since it is only
// an index.
func (s Store) readWaiting() []waitingBinding {
	var all []waitingBinding
	if atomicfile.ReadJSON(s.dir.WaitingPath(), &all) != nil {
		return nil
	}
	return all
}
