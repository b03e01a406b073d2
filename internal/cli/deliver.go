package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

// The session's hooks drive a loop that lives in a session. Between two hooks, nobody reads its inbox.
// So the process that sends a message also makes the loop read it. A process that runs gates reads the
// inbox itself.

// deliverTimeout is how long to wait for a running hook.
const deliverTimeout = 2 * time.Second

// deliverInbox makes a loop in a session read its inbox, and returns the loop's new state.
func (a *app) deliverInbox(s *loopinfo.Loop) (*loopinfo.Loop, error) {
	if err := a.driveInSession(a.untilSignal(), s.Loop, deliverTimeout); err != nil {
		return nil, err
	}
	return loopinfo.Read(s.Loop)
}

// stopInSession ends a loop that lives in a session. The agent's current turn continues, because it
// belongs to the session.
func (a *app) stopInSession(ctx context.Context, s *loopinfo.Loop, timeout time.Duration) error {
	if err := post(s, record.MessageStop, ""); err != nil {
		return err
	}
	now, err := a.deliverInbox(s)
	switch {
	case err != nil:
		return err
	case now.HasEnded():
		a.printEnded(s.ID, "", now.Memory.State)
		return nil
	case timeout == 0:
		a.printf("%s was asked to stop\n", s.ID)
		return nil
	}
	return a.awaitEnd(ctx, s, timeout)
}

// resumeInSession lets a paused loop continue in its session.
func (a *app) resumeInSession(s *loopinfo.Loop, given loop.Limits) error {
	id := s.Memory.Bound.Session
	if s.HasEnded() {
		return a.reopenInSession(s, given)
	}
	state := s.Memory.State
	paused := state.Phase == loop.Paused || state.Pause
	if paused {
		if err := post(s, record.MessageResume, ""); err != nil {
			return err
		}
		if _, err := a.deliverInbox(s); err != nil {
			return err
		}
	}
	if client := s.Memory.Bound.Client; client != 0 && !proc.Alive(client) {
		hint := fmt.Sprintf("pawl handover %s continues in fresh sessions; or pawl stop %[1]s ends it", s.ID)
		if id != "" {
			hint = fmt.Sprintf("claude --resume %s continues session and loop; %s", id, hint)
		}
		was := ""
		if paused {
			was = " (it is no longer paused)"
		}
		return failure.New(failure.Usage, hint, "the Claude Code session of loop %s is closed%s", s.ID, was)
	}
	if !paused {
		return failure.New(failure.Usage, "pawl status "+s.ID+" shows what it does", "loop %s is not paused: it is running%s", s.ID, loopinfo.SessionText(s.Summary()))
	}
	a.printf("%s continues%s\n", s.ID, loopinfo.SessionText(s.Summary()))
	return nil
}

// reopenInSession lets an ended loop continue in the calling session.
func (a *app) reopenInSession(s *loopinfo.Loop, given loop.Limits) error {
	if !s.HasWorkLeft() {
		return requireUnended(s)
	}
	if !a.env.Session.Inside && a.env.Session.ID == "" {
		return failure.New(failure.Usage, s.Memory.State.ResumeCommand(s.ID)+";  or "+s.Memory.State.ContinueCommand("handover", s.ID)+" continues in fresh sessions",
			"loop %s ran in a Claude Code session and has ended (%s): continue it in a session", s.ID, s.Memory.State.Outcome)
	}
	in, err := a.requireSession(s.Spec.Unattended)
	if err != nil {
		return err
	}
	ctx := a.untilSignal()
	begun, err := launch.ReopenInSession(ctx, s.Loop, a.env, launch.SessionOptions{Session: in, Observer: &beginObserver{out: a.Err}, GateTimeout: startTimeout, NewLimits: given})
	if err != nil {
		return err
	}
	return a.printTakenLoop(s, begun, in)
}
