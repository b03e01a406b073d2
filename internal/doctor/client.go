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

const getClient = "npm install -g @anthropic-ai/claude-code"

// version is major, minor and patch.
type version [3]int

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) before(w version) bool { return slices.Compare(v[:], w[:]) < 0 }

// These functions return the versions of the client that brought a feature, and the last one that
// Pawl's behaviour was measured with.

func lastMessages() version { return version{2, 1, 47} }  // last_assistant_message
func stopCap() version      { return version{2, 1, 143} } // the cap on blocked stops
func background() version   { return version{2, 1, 145} } // background_tasks
func measured() version     { return version{2, 1, 332} }

// readVersion finds a version at the beginning of a word: "2.1.332 (Claude Code)",
// "git version 2.39.5 (Apple Git-154)".
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

func checkClient(f Facts) []Finding {
	c := f.client
	if c.path == "" {
		return []Finding{bad(getClient, "claude is not on the PATH")}
	}
	v, known := readVersion(c.version)
	switch {
	case !known && c.problem != "":
		return []Finding{bad("claude --version should print its version; else "+getClient, "%s does not answer: %s", c.path, c.problem)}
	case !known:
		return []Finding{warn("claude --version should print its version; else "+getClient, "%s does not say its version", c.path)}
	case v.before(lastMessages()):
		return []Finding{warn("claude update", "claude %s does not tell hooks the agent's last message: Pawl looks for it in the transcript, which lags behind", v)}
	case v.before(background()):
		return []Finding{warn("claude update", "claude %s does not tell hooks what runs in the background, so Pawl may continue the turn while the agent waits for it", v)}
	case measured().before(v):
		return []Finding{warn("if a loop behaves oddly: "+getClient+"@"+measured().String(), "claude %s: not measured with this version yet", v)}
	}
	return []Finding{ok("claude %s", v)}
}

// checkLogin reports whether somebody is logged in to the client.
func checkLogin(f Facts) []Finding {
	switch {
	case f.client.path == "":
		return nil
	case errors.Is(f.login, agent.ErrLoginUnknown):
		return []Finding{skipped("whether somebody is logged in to claude cannot be told")}
	case f.login != nil:
		return []Finding{bad(failure.Hint(f.login), "%s", f.login)}
	}
	return []Finding{ok("claude is logged in")}
}

// checkCap looks at how often in a row the client lets itself be sent back.
func checkCap(f Facts) []Finding {
	v, known := readVersion(f.client.version)
	switch {
	case known && v.before(stopCap()):
		return []Finding{ok("this client does not count blocked stops")}
	case len(f.own()) == 0:
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
	if n >= 8 { // the client's own; Pawl has the agent use a tool before it is reached
		return []Finding{warn(fix, "%s", what)}
	}
	return []Finding{bad(fix, "%s", what)}
}

// checkSwitches looks for what turns hooks off as a whole.
func checkSwitches(f Facts) []Finding {
	var out []Finding
	for _, name := range []string{"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"} {
		if truthy(f.vars[name]) { // in settings it has no effect
			out = append(out, bad("unset "+name, "%s is set: the client runs no hooks", name))
		}
	}
	for _, s := range f.loaded() {
		if s.settings.noHooks == nil {
			continue
		}
		if *s.settings.noHooks {
			out = append(out, bad(fix(s, `take "disableAllHooks" out of `+s.path), "the %s settings turn all hooks off (disableAllHooks)", s.scope))
		}
		break // the strongest decides
	}
	for _, s := range f.loaded() {
		if s.scope == managed && s.settings.managedOnly {
			out = append(out, bad(fix(s, ""), "the managed settings allow only their own hooks (allowManagedHooksOnly in %s)", s.path))
		}
	}
	if len(out) == 0 {
		return []Finding{ok("client runs hooks")}
	}
	return out
}

// fix is a fix in a file that a user may not be allowed to change.
func fix(s file, fix string) string {
	if s.scope == managed {
		return "ask whoever manages this machine; pawl run works without hooks"
	}
	return fix
}

func truthy(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// checkSettings looks for settings files that do less than their author thinks.
func checkSettings(f Facts) []Finding {
	var out []Finding
	for _, s := range f.files {
		if s.fault != nil {
			out = append(out, bad(fix(s, "fix "+s.path), "the client loads nothing of the %s settings: %s", s.scope, s.fault))
		}
		for _, what := range s.settings.ignored {
			out = append(out, warn(fix(s, "fix it in "+s.path), "the client leaves out a hook of the %s settings: %s", s.scope, what))
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

// checkFolder looks at where the doctor was called: the client reads project
// settings only from the folder that it is started in (measured).
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

// checkBare names what cannot be seen.
func checkBare(Facts) []Finding {
	return []Finding{skipped("whether claude is a shell alias with --bare or --safe-mode cannot be seen from here (alias claude shows it); both run no hooks")}
}
