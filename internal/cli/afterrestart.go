package cli

import (
	"errors"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

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
