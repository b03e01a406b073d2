package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// resumeCmd is `pawl resume`. It continues a loop that is paused, has lost its owner, or ended with
// work left.
type resumeCmd struct {
	resumableArg
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
	untold := a.reportIssuesAgain(context.Background(), s)
	if s.Memory.State.Outcome == loop.Verified && s.HasEnded() && !s.HasWorkLeft() { // a script may resume until the loop is verified
		if untold != nil {
			return untold
		}
		a.printf("%s is verified: no task is left; pawl report %[1]s shows the result\n%s", s.ID, a.reopenedTasksText(s))
		return nil
	}
	if untold != nil { // work that is left does not wait for the tracker
		term.Warnf(a.Err, "%v; Pawl tries again at the end", untold)
	}
	given, err := c.limits(s)
	if err != nil {
		return err
	}
	a.warnUnknownCost(s.Spec, given)
	if s.InSession() && !s.DiedLeavingSession() {
		return a.resumeInSession(s, given)
	}
	begin := a.untilSignal()
	if err := launch.RefuseResume(begin, s.Loop, a.env); err != nil {
		return err
	}
	if c.Detach && !s.Alive {
		return a.startInBackground(begin, s.Loop, backgroundRun{epoch: s.Driver.Epoch, flags: given.Flags(), quiet: c.Quiet})
	}
	d, err := launch.Resume(begin, s.Loop, a.env, launch.ResumeOptions{MoreLimits: given})
	// Only acquiring the loop shows whether a process drives it: a child of a runner that was just
	// killed holds the lock for a moment.
	if held, ok := errors.AsType[*store.HeldError](err); ok && held.Loop == s.ID {
		if st := s.Memory.State; st.Phase == loop.Paused || st.Phase == loop.Waiting || st.Pause {
			a.printf("%s continues\n", s.ID)
		} else {
			a.printf("%s is running already\n", s.ID)
		}
		return post(s, record.MessageResume, "")
	}
	if err != nil {
		return err
	}
	if d.SwitchedBack != "" {
		term.Warnf(a.Err, "%s", d.SwitchedBack)
	}
	if d.Unclaimed != "" && untold == nil { // one warning about an unreachable tracker is enough
		term.Warnf(a.Err, "%s", d.Unclaimed)
	}
	return a.runLoop(d, driveOptions{mode: mode})
}

// reopenedTasksText says that the plan of a finished loop has open tasks again, "" if it has none.
func (a *app) reopenedTasksText(s *loopinfo.Loop) string {
	if s.Spec.Plan == "" {
		return ""
	}
	f, err := planfile.Load(s.PlanPath())
	if err != nil || f.Plan().Open() == 0 {
		return ""
	}
	shown := a.relativePath(s.PlanPath())
	return fmt.Sprintf("%s has %s: pawl run %[1]s\n", shown, figure.Count(f.Plan().Open(), "open task"))
}

// resumableArg names a loop to continue, and its new limits.
type resumableArg struct {
	Loop string `arg:"" optional:"" help:"id of a loop or its beginning; . = the newest here; default: the newest here that can continue"`
	Yes  bool   `short:"y" hidden:"" help:"no longer needed"`
	limitFlags
}

// ProvideLoop finds the loop, for the Run method of a command that takes it.
func (r resumableArg) ProvideLoop(a *app) (*loopinfo.Loop, error) { return a.findResumable(r.Loop) }

// limitFlags are new limits for a loop that has ended.
type limitFlags struct {
	MaxIterations *int           `group:"Limits, for a loop that ended" placeholder:"N" help:"this many more iterations; 0 = unlimited; default: what remains"`
	MaxDuration   *time.Duration `group:"Limits, for a loop that ended" placeholder:"8h" help:"maximum time, without waiting for usage limits"`
	MaxCost       *float64       `group:"Limits, for a loop that ended" placeholder:"USD" help:"maximum cost in US dollars"`
	MaxTokens     *int64         `group:"Limits, for a loop that ended" placeholder:"N" help:"maximum total tokens"`
	TurnTimeout   *time.Duration `group:"Limits, for a loop that ended" placeholder:"1h" help:"maximum time of one turn"`
}

// totalLimits are new limits for a running loop.
type totalLimits struct {
	MaxIterations *int           `placeholder:"N" help:"maximum iterations in total; 0 = unlimited"`
	MaxDuration   *time.Duration `placeholder:"8h" help:"maximum time in total, without waiting for usage limits"`
	MaxCost       *float64       `placeholder:"USD" help:"maximum cost in total, in US dollars"`
	MaxTokens     *int64         `placeholder:"N" help:"maximum tokens in total"`
	TurnTimeout   *time.Duration `placeholder:"1h" help:"maximum time of one turn, from the next one on"`
}

// given returns the typed limits, with -1 for a typed 0 (unlimited).
func (f limitFlags) given() loop.Limits {
	return loop.Limits{
		Iterations: limitValue(f.MaxIterations), Duration: limitValue(f.MaxDuration), CostUSD: limitValue(f.MaxCost), Tokens: limitValue(f.MaxTokens), Turn: limitValue(f.TurnTimeout),
	}
}

// limits returns the typed limits. It fails if the loop has not ended.
func (f limitFlags) limits(s *loopinfo.Loop) (loop.Limits, error) {
	given := f.given()
	if err := f.check(); err != nil {
		return given, err
	}
	if given != (loop.Limits{}) && !s.HasEnded() {
		return given, failure.New(failure.Usage, "leave them out", "loop %s has not ended: its limits still apply", s.ID)
	}
	return given, nil
}

// check refuses a value that is no limit: below 0 it would mean unlimited.
func (f limitFlags) check() error {
	for _, l := range []struct {
		flag    string
		invalid bool
	}{
		{"--max-iterations", isNoLimit(f.MaxIterations)},
		{"--max-duration", isNoLimit(f.MaxDuration)},
		{"--max-cost", isNoLimit(f.MaxCost)},
		{"--max-tokens", isNoLimit(f.MaxTokens)},
		{"--turn-timeout", isNoLimit(f.TurnTimeout)},
	} {
		if l.invalid {
			return failure.New(failure.Usage, "0 is unlimited", "%s: want a number from 0", l.flag)
		}
	}
	return nil
}

// isNoLimit reports whether a typed value is below 0, or no finite number.
func isNoLimit[T int | int64 | float64 | time.Duration](typed *T) bool {
	return typed != nil && (!(*typed >= 0) || math.IsInf(float64(*typed), 0))
}

func limitValue[T int | int64 | float64 | time.Duration](typed *T) T {
	switch {
	case typed == nil:
		return 0
	case *typed <= 0:
		return -1
	}
	return *typed
}

// afterRestart resumes in the background each loop that ran there when the machine restarted. The
// service of `pawl install service` calls it. A loop that cannot be resumed does not stop the others.
func (c *resumeCmd) afterRestart(a *app) error {
	if c.Loop != "" || c.Yes || c.JSON || c.limitFlags.given() != (loop.Limits{}) {
		return failure.New(failure.Usage, "pawl resume --after-restart, or pawl resume LOOP", "--after-restart takes neither LOOP nor limits")
	}
	ctx := a.untilSignal()
	listed, err := record.List(a.store)
	if err != nil {
		return err
	}
	resumed, failed := 0, 0
	for _, l := range listed {
		s, err := loopinfo.Read(l.Loop)
		switch {
		case err != nil:
			term.Warnf(a.Err, "%s: %v", l.Loop.ID, err)
			continue
		case !s.EndedByRestart(time.Now()):
			_, asks := a.checkAsking(l.Loop)
			if asks && !s.Alive && s.HasEnded() || len(notify.Posted(l.Loop.Dir)) > 0 {
				if err := launch.Listen(l.Loop, a.env); err != nil {
					term.Warnf(a.Err, "cannot send the notices of %s: %v", l.Loop.ID, err)
				}
			}
			continue
		}
		if err = launch.RefuseResume(ctx, s.Loop, a.env); err == nil {
			err = a.startInBackground(ctx, s.Loop, backgroundRun{epoch: s.Driver.Epoch, quiet: true})
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			term.Warnf(a.Err, "%s was not resumed: %v", s.ID, err)
			failed++
			continue
		}
		resumed++
	}
	switch {
	case failed > 0:
		return errors.New(figure.Count(failed, "loop") + " could not be resumed")
	case resumed == 0:
		a.printf("no background loop was ended by a restart\n")
	}
	return nil
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
