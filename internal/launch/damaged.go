package launch

import (
	"errors"

	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Load reads the memory of a loop that is to go on. A damaged journal is an error that
// says what can be done.
func Load(l *store.Loop) (memory.Memory, error) {
	m, _, err := record.Load(l)
	switch _, damaged := errors.AsType[*journal.CorruptError](err); {
	case !damaged:
		return m, err
	case !l.GivenUp().IsZero():
		return m, failure.New(failure.Error, "it was given up: pawl run begins anew", "%w", err)
	}
	return m, failure.New(failure.Error,
		"pawl stop "+l.ID+" gives it up as it is, with its commits and checkpoints; then pawl run begins anew", "%w", err)
}
