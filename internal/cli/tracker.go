package cli

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/tracker"
)

// sessionTrackerCmd is `pawl session tracker`. It runs Pawl's own trackers as programs that speak the
// protocol of every tracker.
type sessionTrackerCmd struct {
	Name string `arg:"" help:"github or beads"`
}

// Run answers the requests on standard input.
func (c *sessionTrackerCmd) Run(ctx context.Context, a *app) error {
	var handle tracker.Handler
	switch c.Name {
	case tracker.GitHubName:
		handle = (&tracker.GitHub{Dir: a.dir, Env: a.env.Vars}).Handle
	case tracker.BeadsName:
		handle = (&tracker.Beads{Dir: a.dir, Env: a.env.Vars}).Handle
	default:
		return failure.New(failure.Usage, "name github or beads", "there is no tracker %q", c.Name)
	}
	return tracker.Serve(ctx, a.In, a.Out, handle)
}

// reportIssues reports the loop's end to its issues. An error of the tracker does not fail the loop.
func (a *app) reportIssues(d *launch.Driver, s *show) {
	if d.Spec.Tracker == nil {
		return
	}
	ctx := a.untilSignal()
	if err := launch.ReportIssues(ctx, d.Loop, a.env); err != nil {
		s.note(term.Warn, fmt.Sprintf("%v; pawl resume %s tries again", err, d.Loop.ID))
		return
	}
	s.note(term.Info, "updated the issues with the result: "+term.Clean(d.Spec.Tracker.From))
}

// reportIssuesAgain reports the end of an ended loop to its issues if that is missing: its process died, or
// the tracker could not be reached.
func (a *app) reportIssuesAgain(ctx context.Context, s *loopinfo.Loop) error {
	if s.Spec.Tracker == nil || !s.HasEnded() || s.Alive {
		return nil
	}
	owner, err := s.Loop.Own(ctx)
	if store.IsHeld(err) {
		return nil // that process reports it
	}
	if err != nil {
		return err
	}
	defer owner.Close()
	return launch.ReportIssues(ctx, s.Loop, a.env)
}

// openPullRequest opens a pull request if the user allows it, and says the result.
func (a *app) openPullRequest(d *launch.Driver, s *show, ended loop.State) error {
	p, err := d.OpenPullRequest(a.untilSignal(), ended, a.env)
	if words := p.Text(); words != "" {
		s.note(term.Info, "the agent asks to merge: "+words)
	}
	return err
}
