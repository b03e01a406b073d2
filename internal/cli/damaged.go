package cli

import (
	"time"

	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
)

// warnDamaged warns of loops here whose journals cannot be read. They do not stop a new loop.
func (a *app) warnDamaged(p *launch.Prepared) {
	for _, id := range p.Conflicts.Damaged {
		term.Warnf(a.Err, "the journal of loop %s is damaged, so its state is unknown; this run starts beside it", id)
		term.Hintf(a.Err, "pawl log %s shows what can be read; pawl stop %[1]s ends the loop", id)
	}
}

// warnDamage warns once for each loop that its journal is read only up to the damage.
func (a *app) warnDamage(s *loopinfo.Loop, found *journal.CorruptError) {
	if a.damaged != s.ID {
		term.Warnf(a.Err, "%s; what follows may be incomplete", found)
	}
	s.Damage, a.damaged = found, s.ID
}

// giveUp ends a loop that nobody drives and whose journal is damaged.
func (a *app) giveUp(s *loopinfo.Loop) error {
	if err := s.GiveUp(time.Now()); err != nil {
		return err
	}
	a.printf("%s was ended: its journal is damaged; journal, commits and checkpoints are kept\n", s.ID)
	return nil
}
