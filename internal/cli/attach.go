package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// attachCmd is `pawl attach`. It shows the screen of the process that drives a loop.
type attachCmd struct {
	unendedArg
	JSON bool `name:"json" help:"print one JSON event per line (docs/reference/events.schema.json)"`
}

// Run shows the loop until it ends or the user detaches.
func (c *attachCmd) Run(ctx context.Context, a *app) (err error) {
	s, err := a.findAttachable(c.Loop)
	if err != nil {
		return err
	}
	mode := term.ModeFor(a.Out, c.JSON, false, a.env.Dumb)
	options := a.screenOptions(mode)
	options.Attached = true
	out := term.New(options)
	v := &viewer{s: s, out: out, screen: screenReader{path: screenPath(s.Loop)}}
	err = v.watch(ctx)
	err = errors.Join(err, out.Close())
	if ctx.Err() != nil && !c.JSON {
		a.printDetached(s.ID)
	}
	return err
}

// findAttachable returns the loop to attach to. Without a reference, it is one that has not ended, or
// else the newest.
func (a *app) findAttachable(ref string) (*loopinfo.Loop, error) {
	s, err := a.findUnended(ref)
	if err != nil && ref == "" {
		if last, lastErr := a.find(""); lastErr == nil && last.HasEnded() {
			s, err = last, nil
		}
	}
	if err != nil {
		return nil, err
	}
	_, missing := os.Stat(screenPath(s.Loop))
	switch {
	case s.InSession() && !s.HasEnded():
		return nil, failure.New(failure.Usage, "its history:  pawl log "+s.ID+" --follow", "loop %s is in a user's session, which shows it", s.ID)
	case s.HasEnded() && missing != nil:
		return nil, endedError(s)
	case !s.HasEnded() && !s.Alive:
		return nil, a.explainNoDriver(s)
	}
	return s, nil
}

// explainNoDriver returns an error that says why no process drives a loop. For a loop that did not
// begin in the background, it contains the last lines of its log.
func (a *app) explainNoDriver(s *loopinfo.Loop) error {
	err := requireDriver(s)
	if s.Memory.State.StartedAt.IsZero() {
		if log, openErr := os.Open(filepath.Join(s.Dir, store.RunnerLog)); openErr == nil {
			defer log.Close()
			words, _ := launch.LastWords(log, 0)
			err = failure.New(failure.CodeOf(err), failure.Hint(err), "loop %s did not start: %s", s.ID, words)
		}
	}
	return err
}

// viewer prints what another process shows of its loop.
type viewer struct {
	s      *loopinfo.Loop
	out    term.Printer
	screen screenReader
}

const (
	screenPollInterval = 100 * time.Millisecond // how often the screen file is read
	ownerPollInterval  = time.Second            // how often the loop's owner is checked while the screen does not change
	ownerTimeout       = 5 * time.Second        // how long a loop may have no owner, as during a handover
)

// watch prints the loop's screen until the loop ends or nobody drives it. The error holds the exit
// code.
func (v *viewer) watch(ctx context.Context) error {
	tick := time.NewTicker(screenPollInterval)
	defer tick.Stop()
	idle, gone := time.Now(), time.Time{}
	for {
		lines := v.screen.next()
		for _, line := range lines {
			e, at, err := term.Decode(line)
			if err != nil {
				continue // of a newer Pawl
			}
			v.out.PrintAt(e, at)
			if end, ok := e.(term.LoopEnded); ok {
				return exitError(end.ExitCode)
			}
		}
		if len(lines) > 0 && ctx.Err() == nil {
			idle, gone = time.Now(), time.Time{}
			continue
		}
		if time.Since(idle) >= ownerPollInterval {
			idle = time.Now()
			if done, err := v.isDone(&gone); done || err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// isDone reports whether nothing more will be shown here: the loop ended without an event, is in a
// session, or has had no owner for ownerTimeout.
func (v *viewer) isDone(gone *time.Time) (bool, error) {
	now, err := loopinfo.ReadDamaged(v.s.Loop)
	if err != nil {
		return true, err
	}
	st := now.Memory.State
	switch {
	case now.HasEnded() && !now.Alive:
		v.out.Print(term.Note{Level: term.Info, Text: fmt.Sprintf("ended %s → pawl report %s", st.Outcome, now.ID)})
		return true, exitError(st.Outcome.ExitCode(st.Stop.Cause))
	case now.HasEnded():
		return false, nil // its process is about to say so
	case now.InSession():
		v.out.Print(term.Note{Level: term.Info, Text: fmt.Sprintf("%s continues in a user's session → pawl status %[1]s", now.ID)})
		return true, codeTaken
	case now.Alive:
		*gone = time.Time{}
		return false, nil
	case gone.IsZero():
		*gone = time.Now()
		return false, nil
	case time.Since(*gone) < ownerTimeout:
		return false, nil
	}
	return true, requireDriver(now)
}

// exitError returns an exit code as an error, nil for success.
func exitError(code int) error {
	if code == 0 {
		return nil
	}
	return exitCode(code)
}
