package cli

import (
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/session/place"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// notFollowed names the state files of other tools here that ask for a loop and that
// the calling session does not take up, or one that begins now, each with why and what
// begins it.
// `claude -p` prints nothing of what a session says about them.
func (a *app) notFollowed() []string {
	var out []string
	p, in, now := place.At(a.root(), a.env), a.env.Session, time.Now()
	began := proc.StartTime(in.Client)
	if began.IsZero() {
		began = now
	}
	for _, f := range statefile.Formats() {
		path := f.Find(p)
		if path == "" {
			continue
		}
		if id, _ := a.follower(path); id != "" {
			continue
		}
		made, err := f.Propose(path, p, statefile.SessionInfo{
			SessionID: in.ID, SessionStarted: began, Now: now, Unattended: in.Unattended, Tracked: func(string) (bool, error) { return false, nil },
		})
		if err == nil && made.Refused != "" {
			out = append(out, "no loop begins: "+plan.OneLine(made.Refused, 0))
		}
	}
	return out
}
