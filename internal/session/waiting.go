package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/session/place"
)

// waiting is a binding without a session yet.
type waiting struct {
	Clients []int     `json:"clients"` // process ids of which one is the client's
	Until   time.Time `json:"until"`
	Binding Binding   `json:"binding"`
}

// Waits is how long a loop waits for its session to be seen.
const Waits = time.Hour

// waitingName is a name that no session may have.
const waitingName = "waiting"

// Await keeps a binding for the first session that one of these client processes
// is seen in. The id that it may have had is given up.
func (s Store) Await(ctx context.Context, b Binding, clients []int, now time.Time) error {
	old := b.Session
	b.Session = ""
	err := s.locked(ctx, waitingName, func() error {
		all := slices.DeleteFunc(s.readWaiting(), func(w waiting) bool { return w.Binding.Loop == b.Loop || now.After(w.Until) })
		all = append(all, waiting{Clients: clients, Until: now.Add(Waits), Binding: b})
		return s.write(s.dir.Waiting(), all)
	})
	if err != nil || old == "" {
		return err
	}
	_, err = s.Release(ctx, old, b.Loop)
	return err
}

// Adopt gives a session the loop that waits for it, if there is one: the loop of
// its client's process. It returns ErrNone, after one look at the disk, where
// nothing waits.
func (s Store) Adopt(ctx context.Context, id string, client int, now time.Time) (Binding, error) {
	if !place.Valid(id) || client == 0 {
		return Binding{}, ErrNone
	}
	if !s.dir.Awaited() {
		return Binding{}, ErrNone
	}
	var b Binding
	err := s.locked(ctx, waitingName, func() error {
		all := slices.DeleteFunc(s.readWaiting(), func(w waiting) bool { return !now.Before(w.Until) })
		i := slices.IndexFunc(all, func(w waiting) bool { return slices.Contains(w.Clients, client) })
		if i < 0 {
			return errors.Join(ErrNone, s.keepWaiting(all))
		}
		b = all[i].Binding
		b.Session, b.Client = id, client
		if err := s.Bind(ctx, b); err != nil { // first: whoever is killed here loses no loop
			return err
		}
		return s.keepWaiting(slices.Delete(all, i, i+1))
	})
	if err != nil {
		return Binding{}, err
	}
	return b, nil
}

// keepWaiting writes the list; an empty one is no file, since every session's
// events look for it.
func (s Store) keepWaiting(all []waiting) error {
	if len(all) > 0 {
		return s.write(s.dir.Waiting(), all)
	}
	if err := os.Remove(s.dir.Waiting()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget who waited: %w", err)
	}
	return nil
}

// readWaiting takes an unreadable file for an empty one: it is an index.
func (s Store) readWaiting() []waiting {
	var all []waiting
	data, err := os.ReadFile(s.dir.Waiting())
	if err != nil || json.Unmarshal(data, &all) != nil {
		return nil
	}
	return all
}
