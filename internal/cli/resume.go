package cli

import (
	"context"
	"errors"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// resumeCmd is `pawl resume`: a paused loop goes on; one whose owner is gone, or
// that ended with something left to do, is taken up where it stands.
type resumeCmd struct {
	resumeArg
	driverFlag
	JSON         bool `name:"json" help:"print one JSON event per line (docs/reference/events.schema.json)"`
	Quiet        bool `short:"q" help:"print only the final summary"`
	AfterRestart bool `help:"continue in the background each loop that was there when the machine was restarted"`
	Detach       bool `short:"d" help:"continue in the background, without this terminal; pawl attach shows the loop"`
}

// Run resumes the loop.
func (c *resumeCmd) Run(a *app) error {
	if c.AfterRestart {
		return c.afterRestart(a)
	}
	mode := term.ModeFor(a.Out, c.JSON, c.Quiet, a.env.Dumb)
	if !c.Detach && !c.Driver && a.canDetach(mode) {
		return a.runDriver("resume")
	}
	c.connect(a)
	s, err := a.findResumable(c.Loop)
	if err != nil {
		return err
	}
	untold := a.tellAgain(context.Background(), s)
	if s.memory.State.Outcome == loop.Verified && s.hasEnded() && !s.left() { // a script may resume until it is
		if untold != nil {
			return untold
		}
		a.printf("%s is verified: nothing is left to do; pawl report %[1]s shows what came of it\n", s.ID)
		return nil
	}
	if untold != nil { // what is left to do does not wait for a tracker
		term.Warnf(a.Err, "%v; it is told again at the end", untold)
	}
	given, err := c.limits(s)
	if err != nil {
		return err
	}
	a.warnUnknownCost(s.spec, given)
	if s.inSession() && !s.adrift() {
		return a.resumeInSession(s, given)
	}
	begin := a.untilSignal()
	if err := launch.RefuseResume(begin, s.Loop, a.env); err != nil {
		return err
	}
	if c.Detach && !s.alive {
		return a.inBackground(begin, s.Loop, background{epoch: s.holder.Epoch, flags: c.args(), quiet: c.Quiet})
	}
	d, err := launch.Resume(begin, s.Loop, a.env, launch.ResumeOptions{MoreLimits: given})
	// Only trying to own the loop tells for sure whether it is driven: the lock of
	// a runner that was just killed lives on for a moment in a child it was making.
	if held, ok := errors.AsType[*store.HeldError](err); ok && held.Loop == s.ID {
		a.printf("%s goes on\n", s.ID)
		return s.post(record.MessageResume, "")
	}
	if err != nil {
		return err
	}
	if d.SwitchedBack != "" {
		term.Warnf(a.Err, "%s", d.SwitchedBack)
	}
	if d.Unclaimed != "" && untold == nil { // it is said once that the tracker is out of reach
		term.Warnf(a.Err, "%s", d.Unclaimed)
	}
	return a.runLoop(d, driving{mode: mode})
}

// adrift: the loop was about to leave its session when whoever saw to that died.
func (s *subject) adrift() bool { return leavesSession(s.memory.State) && !s.alive }
