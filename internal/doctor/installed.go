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

// slow is what a hook may take that has nothing to do, on a busy machine.
const slow = 500 * time.Millisecond

// places are where Pawl's hook is installed, each once, the weakest first.
func (f Facts) places() []hook {
	var out []hook
	for _, h := range f.own() {
		if !slices.ContainsFunc(out, func(p hook) bool { return p.where() == h.where() }) {
			out = append(out, h)
		}
	}
	return out
}

// checkInstalled says where Pawl's hook is installed, and whether it takes part
// in all that it should.
func checkInstalled(f Facts) []Finding {
	places := f.places()
	if len(places) == 0 {
		return notInstalled(f)
	}
	var names []string
	var out []Finding
	for _, p := range places {
		names = append(names, p.where())
		if missing := f.missing(p); len(missing) > 0 {
			out = append(out, warn(reinstall(p), "Pawl's hook in the %s misses %s", p.where(), plan.Few(missing, 3)))
		}
	}
	what := "hook installed (" + strings.Join(names, ", ") + ")"
	if len(names) > 1 {
		what += ": installed twice, which is fine: only the first one to run decides"
	}
	return append([]Finding{ok("%s", what)}, out...)
}

func notInstalled(f Facts) []Finding {
	for _, p := range f.plugins {
		if p.own() && !p.enabled {
			return []Finding{warn("claude plugin enable "+p.id, "plugin %s is installed but not enabled: no loops inside a session", p.id)}
		}
	}
	return []Finding{warn("pawl install claude", "Pawl's hook is not installed: no loops inside a session (pawl run needs none)")}
}

// missing are the events at which this installation is not called.
func (f Facts) missing(place hook) []string {
	var out []string
	for _, event := range install.ClaudeHooks("", nil).Events.Names() {
		called := func(h hook) bool { return h.where() == place.where() && h.event == event }
		if !slices.ContainsFunc(f.own(), called) {
			out = append(out, event)
		}
	}
	return out
}

// reinstall is how an installation is made anew.
func reinstall(h hook) string {
	switch h.scope {
	case fromPlugin:
		return "pawl install claude --scope plugin"
	case managed:
		return "ask whoever manages this machine"
	}
	return "pawl install claude --scope " + h.scope
}

// checkPrograms looks at what Pawl's hooks start.
func checkPrograms(f Facts) []Finding {
	var out []Finding
	seen := map[string]bool{}
	for _, h := range f.own() {
		if program := h.where() + "\x00" + h.argv[0]; !seen[program] {
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
		return []Finding{bad(reinstall(h), "the hook of the %s does not run: %s", h.where(), h.problem)}
	case h.version == "":
		return []Finding{bad(reinstall(h), "%s does not say that it is Pawl's hook", h.found)}
	}
	var out []Finding
	if h.version != f.pawl {
		out = append(out, warn("install both from one release", "%s is another version than pawl: %s, not %s", h.found, h.version, f.pawl))
	}
	if h.shellOnly {
		out = append(out, warn("put it in a folder that every program sees, or have its path written in full: pawl install claude --scope local",
			"%s (%s) is found by the PATH of this terminal only: a client that an editor or the desktop starts may not find it", h.argv[0], h.where()))
	}
	return out
}

// checkAnswers checks the answers of Pawl's hooks, run as the client runs them for a session without a
// loop. The right answer is nothing, and at once.
func checkAnswers(f Facts) []Finding {
	var out []Finding
	var longest time.Duration
	asked := false
	for _, h := range f.own() {
		for _, a := range h.answers {
			asked = true
			longest = max(longest, a.took)
			if why := a.wrong(); why != "" {
				out = append(out, bad(reinstall(h), "the hook of the %s, asked at %s in a session without a loop, %s", h.where(), a.event, why))
			}
		}
	}
	switch {
	case len(out) > 0:
		return out
	case !asked:
		return []Finding{skipped("there is no hook of Pawl's to ask")}
	case longest > slow:
		return []Finding{warn("see what slows the start of programs down (a virus scanner, a slow disk)", "hook answers in %s", figure.Brief(longest))}
	}
	return []Finding{ok("hook answers in %s", milliseconds(longest))}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%d ms", max(1, d.Round(time.Millisecond).Milliseconds()))
}

// wrong says what is wrong with an answer that should be empty, "" if nothing is.
func (a answer) wrong() string {
	switch {
	case a.fault != "":
		return "could not be started: " + a.fault
	case a.late:
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

// plugin is a plugin of the client's.
type plugin struct {
	id      string // name@marketplace
	enabled bool
	dir     string // from which the client reads it
	gone    bool   // dir is not there
	version string
	want    string // the version that this Pawl would install; "" if that cannot be told
}

func (p plugin) name() string {
	name, _, _ := strings.Cut(p.id, "@")
	return name
}

func (p plugin) marketplace() string {
	_, market, _ := strings.Cut(p.id, "@")
	return market
}

func (p plugin) own() bool { return p.name() == "pawl" }

// checkPlugin looks for a copy of Pawl's plugin that is not what this Pawl
// brings: the client keeps copies, by version.
func checkPlugin(f Facts) []Finding {
	for _, p := range f.plugins {
		switch {
		case !p.own() || !p.enabled:
			continue
		case p.gone:
			return []Finding{bad("pawl install claude --scope plugin", "plugin %s is enabled, but its folder %s is not there", p.id, p.dir)}
		case p.want == "":
			return []Finding{skipped("plugin %s %s: which version belongs to this Pawl cannot be told", p.id, p.version)}
		case p.version != p.want:
			return []Finding{warn("pawl install claude --scope plugin", "plugin %s is stale: %s, and this Pawl brings %s", p.id, p.version, p.want)}
		}
		return []Finding{ok("plugin %s %s", p.id, p.version)}
	}
	return nil
}
