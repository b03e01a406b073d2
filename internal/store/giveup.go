package store

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// givenUp is given-up.json: when a user gave up a loop whose journal is damaged.
type givenUp struct {
	At time.Time `json:"at"`
}

// GiveUp notes that a loop whose journal is damaged does not go on. The journal and all
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
