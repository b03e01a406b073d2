package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// isRalphPlugin reports whether a plugin drives loops with the same state file as Pawl.
func isRalphPlugin(id string) bool {
	name, _, _ := strings.Cut(id, "@")
	return name == "ralph-loop" || name == "ralph-wiggum"
}

// checkRalphPlugins finds enabled plugins that would drive the same loops.
func checkRalphPlugins(f Facts) []Finding {
	var out []Finding
	enabled := f.enabledPlugins()
	for _, id := range slices.Sorted(maps.Keys(enabled)) {
		if isRalphPlugin(id) && enabled[id] {
			out = append(out, bad("claude plugin disable "+id, "plugin %s is enabled too: it would check the same file", id))
		}
	}
	return out
}

// checkOthers checks the Stop hooks of other tools, which can block the agent's stop.
func checkOthers(f Facts) []Finding {
	var out []Finding
	var healthy []string
	for _, h := range f.hooks {
		if h.event != "Stop" || h.isOwn() || isRalphPlugin(h.plugin) {
			continue
		}
		if found := examineOther(h); len(found) > 0 {
			out = append(out, found...)
		} else {
			healthy = append(healthy, fmt.Sprintf("%s (%s)", h.title(), h.location()))
		}
	}
	switch {
	case len(healthy) == 1:
		out = append(out, ok("another Stop hook can also continue the turn: %s", healthy[0]))
	case len(healthy) > 1:
		out = append(out, ok("%d other Stop hooks can also continue the turn: %s", len(healthy), strings.Join(healthy, "; ")))
	case len(out) == 0:
		out = append(out, ok("no other Stop hook"))
	}
	return out
}

// examineOther returns the findings about a Stop hook of another tool, nil if it works.
func examineOther(h hook) []Finding {
	what := fmt.Sprintf("the Stop hook %s (%s)", h.title(), h.location())
	if h.problem != "" {
		return []Finding{warn(h.fix, "%s does nothing: %s", what, h.problem)}
	}
	if h.kind == "command" && h.argv == nil && len(h.answers) == 0 {
		return []Finding{skipped("%s is a shell command and was not run:  pawl doctor --run-hooks  runs it", what)}
	}
	for _, a := range h.answers {
		if why := a.describeStopFault(); why != "" {
			return []Finding{warn("fix it, or remove it from the "+h.location(), "%s, run in an isolated session, %s", what, why)}
		}
	}
	return nil
}

// describeStopFault returns the fault of another tool's answer to a Stop event, "" if it has none.
// The client ignores the answer, or the answer blocks the stop.
func (a answer) describeStopFault() string {
	switch {
	case a.fault != "" || a.timedOut:
		return a.describeFault()
	case a.exit == 2:
		return "blocks the stop (exit code 2): if it blocks every stop, it uses up the client's limit"
	case a.exit != 0:
		return a.describeFault() + ", which the client ignores"
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
		return "blocks the stop: if it blocks every stop, it uses up the client's limit"
	default:
		return fmt.Sprintf("answers the decision %s, so the client ignores the whole answer", decision)
	}
}
