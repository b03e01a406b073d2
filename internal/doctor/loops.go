package doctor

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/figure"
)

// loop is a loop of this project that has not ended.
type loop struct {
	id         string
	held       bool          // a process holds it
	session    string        // its session, "" for a loop of pawl run
	clientRuns bool          // the session's client is running
	state      string        // running, waiting, paused
	silence    time.Duration // time since its last activity
}

// staleAfter is the time after which a silent loop of a closed session is stale. The user may
// resume the session before.
const staleAfter = 24 * time.Hour

// checkLoops finds orphaned and stale loops.
func checkLoops(f Facts) []Finding {
	if f.loopsErr != nil {
		return []Finding{warn("pawl list --all", "the loops cannot be read: %s", f.loopsErr)}
	}
	var out []Finding
	for _, l := range f.loops {
		switch {
		case l.held || l.state == "paused":
		case l.session == "":
			out = append(out, warn(fmt.Sprintf("pawl resume %s, or pawl stop %[1]s", l.id), "loop %s is orphaned: its process is gone", l.id))
		case !l.clientRuns && l.silence >= staleAfter:
			out = append(out, warn(fmt.Sprintf("claude --resume %s continues it, pawl stop %s ends it", l.session, l.id),
				"loop %s is stale: its session is closed; last event %s ago", l.id, figure.Duration(l.silence)))
		}
	}
	if len(out) == 0 {
		return []Finding{ok("no stale loop")}
	}
	return out
}
