package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// removingPrefix begins the hidden name of a loop's folder while it is deleted.
const removingPrefix = ".removing-"

// Remove deletes the loop's folder. before is called while nobody can drive the loop; if
// it returns an error, the loop stays. What a crash leaves is deleted by RemoveLeftovers.
// It returns a *HeldError if a process drives the loop.
func (l *Loop) Remove(ctx context.Context, before func() error) error {
	lock, err := acquireLock(ctx, l.lockPath(), "loop "+l.ID)
	if err != nil {
		return err
	}
	if err := before(); err != nil {
		return errors.Join(err, lock.release())
	}
	hidden := filepath.Join(filepath.Dir(l.Dir), removingPrefix+l.ID)
	err = os.Rename(l.Dir, hidden)
	released := lock.release()
	if err != nil { // Windows renames no folder with an open file
		err = os.Rename(l.Dir, hidden)
	}
	if err = errors.Join(err, released); err != nil {
		return fmt.Errorf("remove loop %s: %w", l.ID, err)
	}
	if err := os.RemoveAll(hidden); err != nil {
		return fmt.Errorf("remove loop %s: %w", l.ID, err)
	}
	return nil
}

// leftoverAge is how long a hidden folder must lie untouched before it is a leftover.
const leftoverAge = time.Hour

// RemoveLeftovers deletes hidden folders of loops that a crash left while they were
// created or removed.
func (s *Store) RemoveLeftovers(now time.Time) error {
	loops := filepath.Join(s.home, "loops")
	entries, err := os.ReadDir(loops)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list loops: %w", err)
	}
	var failed error
	for _, e := range entries {
		info, err := e.Info()
		old := err == nil && now.Sub(info.ModTime()) > leftoverAge
		if strings.HasPrefix(e.Name(), removingPrefix) || old && strings.HasPrefix(e.Name(), ".new-") {
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(loops, e.Name())))
		}
	}
	return failed
}

// givenUp is given-up.json: when a user gave up a loop whose journal is damaged.
type givenUp struct {
	At time.Time `json:"at"`
}

// GiveUp notes that a loop whose journal is damaged does not continue. The journal and all
// else stay as they are.
func (l *Loop) GiveUp(at time.Time) error {
	if err := atomicfile.WriteJSON(l.givenUpPath(), givenUp{at}); err != nil {
		return fmt.Errorf("give up loop %s: %w", l.ID, err)
	}
	return nil
}

// GivenUp returns when the loop was given up, the zero time if it was not.
func (l *Loop) GivenUp() time.Time {
	var kept givenUp
	if atomicfile.ReadJSON(l.givenUpPath(), &kept) != nil {
		return time.Time{}
	}
	return kept.At
}

func (l *Loop) givenUpPath() string { return filepath.Join(l.Dir, "given-up.json") }
