package record

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Load reads the memory of a loop: its snapshot, and the journal's records after it. With a
// *journal.CorruptError the memory is as good as the journal; a loop that was given up for
// that has ended.
func Load(l *store.Loop) (memory.Memory, journal.Mark, error) {
	m, mark, err := foldJournal(l)
	corrupt, damaged := errors.AsType[*journal.CorruptError](err)
	if !damaged {
		return m, mark, err
	}
	if at := l.GivenUp(); !at.IsZero() {
		m.State = m.State.Abandoned(at, fmt.Sprintf("ended by pawl stop: its journal is damaged at record %d", corrupt.Seq))
	}
	return m, mark, err
}

func foldJournal(l *store.Loop) (memory.Memory, journal.Mark, error) {
	return store.Fold(l, func() memory.Memory { return memory.Memory{} }, func(m memory.Memory, r journal.Record) (memory.Memory, error) {
		if slices.Contains(store.OwnTypes(), r.Type) {
			return m, nil
		}
		// A newer Pawl's record was refused by its version, see journal.Version. What
		// has no known type here is damaged, which the chain of hashes tells.
		m, err := m.Fold(r.Type, r.Data)
		if errors.Is(err, memory.ErrUnknownType) {
			err = nil
		}
		return m, err
	})
}

// EffectiveSandbox returns the sandbox that the loop's owner started, or else the
// requested one.
func (s Spec) EffectiveSandbox(m memory.Memory) memory.Sandbox {
	if m.Sandbox.Level != "" || s.Confine == "" || s.Confine == "off" {
		return m.Sandbox
	}
	sandbox := memory.Sandbox{Level: s.Confine}
	if sandbox.Level == "strict" {
		sandbox.Hosts = s.ConfineHosts
	}
	return sandbox
}
