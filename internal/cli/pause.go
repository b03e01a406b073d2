package cli

import (
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
)

type pauseCmd struct {
	unendedArg
}

// Run asks the loop to pause.
func (c *pauseCmd) Run(a *app, s *loopinfo.Loop) error {
	if err := requireDriver(s); err != nil {
		return err
	}
	if s.Memory.State.Phase == loop.Paused {
		a.printf("%s is paused already; pawl resume %[1]s continues\n", s.ID)
		return nil
	}
	if err := a.send(s, record.Message{Kind: record.MessagePause}); err != nil {
		return err
	}
	a.printf("%s pauses before its next turn; pawl resume %[1]s continues\n", s.ID)
	return nil
}
