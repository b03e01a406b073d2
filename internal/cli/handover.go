package cli

import (
	"context"
	"errors"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
)

// handoverCmd is `pawl handover`. It moves a loop out of its session.
type handoverCmd struct {
	resumableArg
	Now bool `help:"do not wait for the current turn to end"`
}

// Run continues the loop in fresh sessions.
func (c *handoverCmd) Run(ctx context.Context, a *app, s *loopinfo.Loop) error {
	if _, err := c.limits(s); err != nil {
		return err
	}
	switch {
	case s.HasEnded() && !s.HasWorkLeft():
		return requireUnended(s)
	case s.HasEnded():
	case !s.InSession() && s.Alive:
		return failure.New(failure.Usage, "pawl status "+s.ID+" shows it", "loop %s already runs in the background, process %d", s.ID, s.Driver.PID)
	case s.InSession() && !c.Now && a.isSessionBusy(s):
		return a.requestHandover(s)
	}
	pid, err := a.background().StartDriver(ctx, s.Loop, s.Driver.Epoch, append(c.given().Flags(), "--now")...)
	if err != nil && ctx.Err() == nil && s.InSession() && !s.HasEnded() {
		err = errors.Join(err, launch.KeepInSession(ctx, s.Loop, a.env, err.Error()))
	}
	if err != nil {
		return err
	}
	a.printf("%s continues in fresh sessions (process %d)\n", s.ID, pid)
	if was := s.Memory.State; s.HasEnded() {
		if m, _, err := record.Load(s.Loop); err == nil {
			a.printf("  it had ended %s; its limits, counted from its start: %s\n", was.Outcome, limits(m.State.Policy.Limits))
		}
	}
	a.printf("%s", runnerHints(s.ID))
	return nil
}

// requestHandover asks a loop to leave its session at the end of the current turn.
func (a *app) requestHandover(s *loopinfo.Loop) error {
	if s.Memory.State.Handover.To == loop.OwnerRunner {
		a.printf("%s was already asked: it continues in fresh sessions when this turn ends; --now does not wait\n", s.ID)
		return nil
	}
	if err := a.send(s, record.Message{Kind: record.MessageToRunner, Text: "a user asked for it"}); err != nil {
		return err
	}
	a.printf("%s continues in fresh sessions when this turn ends; --now does not wait\n%s", s.ID, runnerHints(s.ID))
	return nil
}

// runnerHints lists the commands for a loop that runs outside of a session.
func runnerHints(id string) string {
	return "  watch  pawl status " + id + ", pawl log " + id + " --follow\n  back   in Claude Code:  ! pawl start --take " + id + "\n"
}

// isSessionBusy reports whether a handover now would interrupt the loop's session or its driver.
func (a *app) isSessionBusy(s *loopinfo.Loop) bool {
	st, in := s.Memory.State, s.Memory.Bound
	switch {
	case in.Closed || in.Client != 0 && !proc.Alive(in.Client):
		return false
	case st.Phase != loop.Turning:
		return st.Phase.OwnerActs() && s.Alive
	}
	b, err := session.Open(a.env.PawlHome).Find(in.Session)
	if errors.Is(err, session.ErrNone) {
		return in.Session == "" // the session was given the turn, and has sent no event yet
	}
	return err != nil || b.Loop == s.ID && b.GivenTurns == s.Memory.TurnsBegun && !b.WaitingForTurn && !b.LoopMoved
}
