package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/install"
)

const installClientCommand = "npm install -g @anthropic-ai/claude-code"

// version is a version number: major, minor and patch.
type version [3]int

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) before(w version) bool { return slices.Compare(v[:], w[:]) < 0 }

// testedVersion returns the last version of the client that Pawl was tested with.
func testedVersion() version { return version{2, 1, 332} }

// readVersion returns the first version in a text, such as "2.1.332 (Claude Code)" or
// "git version 2.39.5 (Apple Git-154)". The version must begin a word.
func readVersion(text string) (v version, ok bool) {
	for word := range strings.FieldsSeq(text) {
		parts := strings.SplitN(word, ".", 4)
		if len(parts) < 2 {
			continue
		}
		v, ok = version{}, true
		for i, p := range parts[:min(3, len(parts))] {
			digits := strings.IndexFunc(p+"!", func(r rune) bool { return r < '0' || r > '9' })
			n, err := strconv.Atoi(p[:digits])
			if err != nil {
				ok = ok && i == 2 // 2.39.windows
				break
			}
			v[i] = n
		}
		if ok {
			return v, true
		}
	}
	return version{}, false
}

// checkClient checks that the client is installed, and its version.
func checkClient(f Facts) []Finding {
	c := f.client
	if c.path == "" {
		return []Finding{bad(installClientCommand, "claude is not on the PATH")}
	}
	v, known := readVersion(c.version)
	switch {
	case !known && c.problem != "":
		return []Finding{bad("claude --version should print its version; else "+installClientCommand, "%s does not answer: %s", c.path, c.problem)}
	case !known:
		return []Finding{warn("claude --version should print its version; else "+installClientCommand, "%s does not say its version", c.path)}
	case v.before(version{2, 1, 47}):
		return []Finding{warn("claude update", "claude %s does not pass the agent's last message to hooks: Pawl reads it from the transcript, which lags behind", v)}
	case v.before(version{2, 1, 145}):
		return []Finding{warn("claude update", "claude %s does not report background work to hooks, so Pawl may continue the turn while the agent waits for it", v)}
	case testedVersion().before(v):
		return []Finding{warn("if a loop behaves oddly: "+installClientCommand+"@"+testedVersion().String(), "claude %s: not tested with this version yet", v)}
	}
	return []Finding{ok("claude %s", v)}
}

// checkLogin checks that the client is logged in.
func checkLogin(f Facts) []Finding {
	switch {
	case f.client.path == "":
		return nil
	case errors.Is(f.login, agent.ErrLoginUnknown):
		return []Finding{skipped("unknown whether claude is logged in")}
	case f.login != nil:
		return []Finding{bad(failure.Hint(f.login), "%s", f.login)}
	}
	return []Finding{ok("claude is logged in")}
}

// checkCap checks the client's limit of consecutive blocked stops.
func checkCap(f Facts) []Finding {
	v, known := readVersion(f.client.version)
	switch {
	case known && v.before(version{2, 1, 143}):
		return []Finding{ok("this client does not count blocked stops")}
	case len(f.ownHooks()) == 0:
		return []Finding{skipped("the cap on blocked stops matters only where Pawl's hook is installed")}
	}
	text, in, set := f.variable(install.StopBlockCap)
	n, err := strconv.Atoi(strings.TrimSpace(text))
	fix := install.LiftCapCommand
	if in.path != "" {
		fix = fmt.Sprintf(`set %s to "0" in the env of %s`, install.StopBlockCap, in.path)
	}
	switch {
	case !set || text == "":
		n = 8
	case err != nil:
		return []Finding{warn(fix, "%s is %q, which is not a number", install.StopBlockCap, text)}
	case n <= 0:
		return []Finding{ok("no cap on blocked stops")}
	}
	what := fmt.Sprintf("the client ends a turn after %d blocked stops without a tool call", n)
	if n >= 8 { // the client's default; Pawl makes the agent use a tool before it is reached
		return []Finding{warn(fix, "%s", what)}
	}
	return []Finding{bad(fix, "%s", what)}
}

// checkSwitches finds variables and settings that turn off all hooks, or all but managed ones.
func checkSwitches(f Facts) []Finding {
	var out []Finding
	for _, name := range []string{"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"} {
		value := strings.ToLower(strings.TrimSpace(f.vars[name]))
		if slices.Contains([]string{"1", "true", "yes", "on"}, value) { // no effect in settings files
			out = append(out, bad("unset "+name, "%s is set: the client runs no hooks", name))
		}
	}
	for _, s := range f.loadedFiles() {
		if s.settings.disableAllHooks == nil {
			continue
		}
		if *s.settings.disableAllHooks {
			out = append(out, bad(fixIn(s, `remove "disableAllHooks" from `+s.path), "the %s settings turn all hooks off (disableAllHooks)", s.scope))
		}
		break // the strongest file decides
	}
	for _, s := range f.loadedFiles() {
		if s.scope == managed && s.settings.managedHooksOnly {
			out = append(out, bad(fixIn(s, ""), "the managed settings allow only their own hooks (allowManagedHooksOnly in %s)", s.path))
		}
	}
	if len(out) == 0 {
		return []Finding{ok("client runs hooks")}
	}
	return out
}

// fixIn returns the fix for a settings file. Users may not be able to change a managed file.
func fixIn(s settingsFile, fix string) string {
	if s.scope == managed {
		return "ask whoever manages this machine; pawl run works without hooks"
	}
	return fix
}

// checkSettings finds settings files, or hooks in them, that the client does not load.
func checkSettings(f Facts) []Finding {
	var out []Finding
	for _, s := range f.files {
		if s.fault != nil {
			out = append(out, bad(fixIn(s, "fix "+s.path), "the client ignores the %s settings: %s", s.scope, s.fault))
		}
		for _, what := range s.settings.ignored {
			out = append(out, warn(fixIn(s, "fix it in "+s.path), "the client ignores a hook of the %s settings: %s", s.scope, what))
		}
	}
	switch {
	case len(out) > 0:
		return out
	case len(f.files) == 0:
		return []Finding{ok("no client settings")}
	}
	return []Finding{ok("settings are valid")}
}

// checkFolder warns if the current folder is not the project's root. The client reads project
// settings only from the folder in which it starts (measured).
func checkFolder(f Facts) []Finding {
	if f.dir == f.root {
		return nil
	}
	for _, s := range f.files {
		if (s.scope == project || s.scope == local) && s.fault == nil {
			return []Finding{warn("start claude in "+f.root, "claude started in this folder does not read %s", s.path)}
		}
	}
	return nil
}

// checkBare names the options of a shell alias, which doctor cannot see.
func checkBare(Facts) []Finding {
	return []Finding{skipped("unknown whether claude is a shell alias with --bare or --safe-mode, which run no hooks (alias claude  shows it)")}
}
