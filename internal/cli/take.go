package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

// take moves a loop into the calling session, for `pawl start --take`.
func (a *app) take(ctx context.Context, ref string, unattended bool) error {
	s, err := a.find(ref)
	if err != nil {
		return err
	}
	in, there := a.callingSession(unattended)
	if !there {
		return failure.New(failure.Usage, fmt.Sprintf("in Claude Code, type  ! pawl start --take %s", s.ID),
			"pawl start --take runs inside a Claude Code session, and this is none")
	}
	if err := launch.RefuseTake(ctx, s.Loop, a.env, in); err != nil {
		return err
	}
	asked := !s.InSession() && s.Alive && !s.HasEnded()
	if asked {
		if err := a.awaitRelease(ctx, s); err != nil {
			return a.warnNotTaken(s, err)
		}
	}
	begun, err := launch.TakeIntoSession(ctx, s.Loop, a.env, launch.SessionOptions{Session: in, Observer: &beginObserver{out: a.Err}, GateTimeout: startTimeout})
	if err != nil && asked {
		return a.warnNotTaken(s, err)
	}
	if err != nil {
		return err
	}
	return a.printTakenLoop(s, begun, in)
}

// warnNotTaken says what happens to a loop that could not be taken after its runner was asked for it. It
// returns err.
func (a *app) warnNotTaken(s *loopinfo.Loop, err error) error {
	fmt.Fprintf(a.Err, "pawl: process %d continues %s if no session takes it within %s; or at once:  pawl resume %[2]s\n",
		s.Driver.PID, s.ID, figure.Duration(launch.TakeTimeout))
	return err
}

// releaseTimeout is how long a runner may take to finish its step.
const releaseTimeout = time.Minute

// awaitRelease asks the loop's runner to release the loop, and waits until it has.
func (a *app) awaitRelease(ctx context.Context, s *loopinfo.Loop) error {
	if err := post(s, record.MessageToSession, "a user moves it into their session"); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "pawl: waiting for process %d to release %s\n", s.Driver.PID, s.ID)
	free, err := launch.Poll(ctx, releaseTimeout, func() (bool, error) {
		_, alive, err := s.Holder()
		return !alive, err
	})
	if free || err != nil {
		return err
	}
	return failure.New(failure.Error, "it was asked to and will; then run  pawl start --take "+s.ID+"  once more",
		"process %d has not released loop %s within %s", s.Driver.PID, s.ID, figure.Duration(releaseTimeout))
}

// printTakenLoop says that a loop continues in the calling session, and prints its first prompt.
func (a *app) printTakenLoop(s *loopinfo.Loop, begun *launch.SessionLoop, in launch.UserSession) error {
	if err := errors.Join(a.background().ContinueGates(begun), a.startDaemon(in.Session)); err != nil {
		return err
	}
	st := begun.Memory.State
	a.printf("loop %s continues in this session: %s\n", s.ID, term.Clean(plan.OneLine(s.Spec.Goal(), 0)))
	line := func(name, words string) { a.printf("  %-7s  %s\n", name, term.Clean(plan.OneLine(words, 0))) }
	for _, words := range gatesWords(s.Spec.Verification, begun) {
		line("gate", words)
	}
	line("limits", fmt.Sprintf("%s · this is iteration %d", limits(st.Policy.Limits), st.Iteration))
	if st.Policy.Handover {
		line("then", handoverWords(st.Policy))
	}
	line("tree", treeWords(s.Spec.Repository))
	line("steer", fmt.Sprintf("! pawl status %s, ! pawl stop %[1]s, ! pawl handover %[1]s (back to fresh sessions)", s.ID))
	a.print("\n" + firstPrompt(begun, maxPrintedPromptBytes))
	return nil
}
