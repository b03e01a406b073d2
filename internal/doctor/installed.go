package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/install"
)

// slowAnswer is the longest normal time of a hook without work, on a busy machine.
const slowAnswer = 500 * time.Millisecond

// checkInstalled reports where Pawl's hook is installed, and the events that it misses.
func checkInstalled(f Facts) []Finding {
	var places []hook // one for each location, the weakest scope first
	for _, h := range f.ownHooks() {
		if !slices.ContainsFunc(places, func(p hook) bool { return p.location() == h.location() }) {
			places = append(places, h)
		}
	}
	if len(places) == 0 {
		for _, p := range f.plugins {
			if p.isOwn() && !p.enabled {
				return []Finding{warn("claude plugin enable "+p.id, "plugin %s is installed but not enabled: no loops inside a session", p.id)}
			}
		}
		return []Finding{warn("pawl install claude", "Pawl's hook is not installed: no loops inside a session (pawl run needs none)")}
	}
	var names []string
	var out []Finding
	for _, p := range places {
		names = append(names, p.location())
		if missing := f.missingEvents(p); len(missing) > 0 {
			out = append(out, warn(reinstall(p), "Pawl's hook in the %s misses %s", p.location(), plan.Few(missing, 3)))
		}
	}
	what := "hook installed (" + strings.Join(names, ", ") + ")"
	if len(names) > 1 {
		what += ": installed twice, which is fine: only the first one that runs decides"
	}
	return append([]Finding{ok("%s", what)}, out...)
}

// missingEvents returns the events for which this location has no hook of Pawl.
func (f Facts) missingEvents(place hook) []string {
	var out []string
	for _, event := range install.ClaudeHooks("", nil).Events.Names() {
		called := func(h hook) bool { return h.location() == place.location() && h.event == event }
		if !slices.ContainsFunc(f.ownHooks(), called) {
			out = append(out, event)
		}
	}
	return out
}

// reinstall returns the command that installs Pawl's hook again in the same place.
func reinstall(h hook) string {
	switch h.scope {
	case fromPlugin:
		return "pawl install claude --scope plugin"
	case managed:
		return "ask whoever manages this machine"
	}
	return "pawl install claude --scope " + h.scope
}

// checkPrograms checks the programs that Pawl's hooks start, each once.
func checkPrograms(f Facts) []Finding {
	var out []Finding
	seen := map[string]bool{}
	for _, h := range f.ownHooks() {
		if program := h.location() + "\x00" + h.argv[0]; !seen[program] {
			seen[program] = true
			out = append(out, checkProgram(f, h)...)
		}
	}
	if len(seen) > 0 && len(out) == 0 {
		return []Finding{ok("hook and pawl are one version")}
	}
	return out
}

func checkProgram(f Facts, h hook) []Finding {
	switch {
	case h.problem != "":
		return []Finding{bad(reinstall(h), "the hook of the %s does not run: %s", h.location(), h.problem)}
	case h.version == "":
		return []Finding{bad(reinstall(h), "%s does not identify itself as Pawl's hook", h.found)}
	}
	var out []Finding
	if h.version != f.pawl {
		out = append(out, warn("install both from one release", "%s is another version than pawl: %s, not %s", h.found, h.version, f.pawl))
	}
	if h.shellOnly {
		out = append(out, warn("put it in a folder on every program's PATH, or write its full path: pawl install claude --scope local",
			"%s (%s) is found by the PATH of this terminal only: a client that an editor or the desktop starts may not find it", h.argv[0], h.location()))
	}
	return out
}

// checkAnswers checks the answers of Pawl's hooks in a session without a loop. The right answer
// is no output, without delay.
func checkAnswers(f Facts) []Finding {
	var out []Finding
	var longest time.Duration
	asked := false
	for _, h := range f.ownHooks() {
		for _, a := range h.answers {
			asked = true
			longest = max(longest, a.took)
			if why := a.describeFault(); why != "" {
				out = append(out, bad(reinstall(h), "the hook of the %s, asked at %s in a session without a loop, %s", h.location(), a.event, why))
			}
		}
	}
	switch {
	case len(out) > 0:
		return out
	case !asked:
		return []Finding{skipped("Pawl's hook is not installed")}
	case longest > slowAnswer:
		return []Finding{warn("find out what slows program starts (a virus scanner, a slow disk)", "hook answers in %s", figure.Brief(longest))}
	}
	return []Finding{ok("hook answers in %d ms", max(1, longest.Round(time.Millisecond).Milliseconds()))}
}

// describeFault returns the fault of an answer that should be empty, "" if it has none.
func (a answer) describeFault() string {
	switch {
	case a.fault != "":
		return "could not be started: " + a.fault
	case a.timedOut:
		return "gave no answer in " + figure.Duration(a.took)
	case a.exit != 0 && a.err != "":
		return fmt.Sprintf("ended with exit code %d: %s", a.exit, a.err)
	case a.exit != 0:
		return fmt.Sprintf("ended with exit code %d", a.exit)
	case a.out != "":
		return "said something: " + a.out
	}
	return ""
}

// plugin is a plugin of the client.
type plugin struct {
	id          string // name@marketplace
	enabled     bool
	dir         string // the folder from which the client reads it
	dirMissing  bool   // dir does not exist
	version     string
	wantVersion string // the version that this Pawl would install; "" if unknown
}

func (p plugin) name() string {
	name, _, _ := strings.Cut(p.id, "@")
	return name
}

func (p plugin) isOwn() bool { return p.name() == "pawl" }

// checkPlugin checks that the client's copy of Pawl's plugin has the version of this Pawl. The
// client keeps copies by version.
func checkPlugin(f Facts) []Finding {
	for _, p := range f.plugins {
		switch {
		case !p.isOwn() || !p.enabled:
			continue
		case p.dirMissing:
			return []Finding{bad("pawl install claude --scope plugin", "plugin %s is enabled, but its folder %s is missing", p.id, p.dir)}
		case p.wantVersion == "":
			return []Finding{skipped("plugin %s %s: unknown which version belongs to this Pawl", p.id, p.version)}
		case p.version != p.wantVersion:
			return []Finding{warn("pawl install claude --scope plugin", "plugin %s is stale: %s, and this Pawl brings %s", p.id, p.version, p.wantVersion)}
		}
		return []Finding{ok("plugin %s %s", p.id, p.version)}
	}
	return nil
}
