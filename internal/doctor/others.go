package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/figure"
)

// official are the plugins that drive a loop by the same state file.
func official(id string) bool {
	name, _, _ := strings.Cut(id, "@")
	return name == "ralph-loop" || name == "ralph-wiggum"
}

// checkOfficial looks for another plugin that judges the same loops.
func checkOfficial(f Facts) []Finding {
	var out []Finding
	enabled := f.enabled()
	for _, id := range slices.Sorted(maps.Keys(enabled)) {
		if official(id) && enabled[id] {
			out = append(out, bad("claude plugin disable "+id, "plugin %s is enabled too: it would judge the same file", id))
		}
	}
	return out
}

// checkOthers looks at the other hooks that can send the agent back to work, or
// fail to.
func checkOthers(f Facts) []Finding {
	var out []Finding
	var healthy []string
	for _, h := range f.hooks {
		if h.event != "Stop" || h.own() || official(h.plugin) {
			continue
		}
		if found := examineOther(h); len(found) > 0 {
			out = append(out, found...)
		} else {
			healthy = append(healthy, fmt.Sprintf("%s (%s)", h.title(), h.where()))
		}
	}
	switch {
	case len(healthy) == 1:
		out = append(out, ok("another Stop hook can send the agent back too: %s", healthy[0]))
	case len(healthy) > 1:
		out = append(out, ok("%d other Stop hooks can send the agent back too: %s", len(healthy), strings.Join(healthy, "; ")))
	case len(out) == 0:
		out = append(out, ok("no other Stop hook"))
	}
	return out
}

func examineOther(h hook) []Finding {
	what := fmt.Sprintf("the Stop hook %s (%s)", h.title(), h.where())
	if h.problem != "" {
		return []Finding{warn(h.fix, "%s does nothing: %s", what, h.problem)}
	}
	if h.kind == "command" && h.argv == nil && len(h.answers) == 0 {
		return []Finding{skipped("%s is a shell command and was not tried:  pawl doctor --run-hooks  runs it", what)}
	}
	for _, a := range h.answers {
		if why := a.unfit(); why != "" {
			return []Finding{warn("fix it, or take it out of the "+h.where(), "%s, run in an isolated session, %s", what, why)}
		}
	}
	return nil
}

// unfit says what is wrong with somebody else's answer to a Stop: the client
// takes no notice of it, or the agent is sent back from every stop.
func (a answer) unfit() string {
	switch {
	case a.fault != "" || a.late:
		return a.wrong()
	case a.exit == 2:
		return "blocks the stop (exit code 2): if it blocks each one, that uses up the client's cap"
	case a.exit != 0:
		return a.wrong() + ", which the client ignores"
	case a.out == "":
		return ""
	}
	var reply map[string]json.RawMessage
	if json.Unmarshal([]byte(a.out), &reply) != nil {
		return "prints something that is not JSON, which the client ignores"
	}
	switch decision := string(reply["decision"]); decision {
	case "", `"approve"`:
		return ""
	case `"block"`:
		return "blocks the stop: if it blocks each one, that uses up the client's cap"
	default:
		return fmt.Sprintf("answers the decision %s, for which the client drops the whole answer", decision)
	}
}

// loop is a loop of this project that has not ended.
type loop struct {
	id      string
	held    bool          // a process drives it
	session string        // in which it lives, "" for one of pawl run
	client  bool          // that session's client is running
	state   string        // running, waiting, paused
	quiet   time.Duration // since its last sign
}

// day is how long a session's loop may be silent after its client is gone: a
// user may come back to the session.
const day = 24 * time.Hour

// checkLoops looks for loops that nobody drives.
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
		case !l.client && l.quiet >= day:
			out = append(out, warn(fmt.Sprintf("claude --resume %s continues it, pawl stop %s ends it", l.session, l.id),
				"loop %s is stale: its session is closed, and was last heard of %s ago", l.id, figure.Duration(l.quiet)))
		}
	}
	if len(out) == 0 {
		return []Finding{ok("no stale loop")}
	}
	return out
}
