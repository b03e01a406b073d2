package verify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
)

// In a checkout of Pawl's own tools that a gate needs may be missing. Runners such as npx
// or uvx would install them from the network then: of another version, and with code that
// nobody has seen.

// nowhere is a registry that refuses connections, for tools without an offline setting.
const nowhere = "http://127.0.0.1:9/"

// offline holds the environment variables that keep tools from fetching, and what the
// tools print when they would have to. They use what they have in a cache.
var offline = []struct {
	tools string
	env   []string
	says  *regexp.Regexp // the line
}{
	{"npx, npm", []string{"npm_config_yes=false", "npm_config_offline=true"}, regexp.MustCompile(`(?m)^.*(npx canceled due to missing packages|ENOTCACHED).*$`)},
	{"pnpm dlx", []string{"pnpm_config_offline=true"}, regexp.MustCompile(`(?m)^.*(ERR_PNPM_NO_OFFLINE_|Failed to resolve .* in package mirror|Failed to resolve the latest version of ).*$`)},
	{"bunx, bun x", []string{"BUN_CONFIG_REGISTRY=" + nowhere}, regexp.MustCompile(`(?m)^.*ConnectionRefused downloading (package manifest|tarball).*$`)},
	{"yarn dlx", []string{"YARN_ENABLE_NETWORK=0"}, regexp.MustCompile(`(?m)^.*(Network access has been disabled by configuration|blocked because of your configuration settings|Expected an error to have been set).*$`)},
	{"uvx, uv run", []string{"UV_OFFLINE=1"}, regexp.MustCompile(`(?m)^.*(network was disabled|[Nn]etwork connectivity is disabled).*$`)},
	{"pip, pipx run", []string{"PIP_NO_INDEX=1"}, regexp.MustCompile(`(?m)^.*No matching distribution found for .*$`)},
	{"cargo", []string{"CARGO_NET_OFFLINE=true"}, regexp.MustCompile(`(?m)^.*(offline mode \(.*--offline|but --offline was specified).*$`)},
	{"go run PACKAGE@VERSION", []string{"GOPROXY=off"}, regexp.MustCompile(`(?m)^.*disabled by GOPROXY=off.*$`)},
}

// noFetch are the variables that keep a gate's tools from fetching in a checkout of
// Pawl's own. A gate that installs what it needs itself does so there too, and variables
// that the user set for gates stay.
func (v *Verifier) noFetch(g gate.Gate) []string {
	if deps.Installs(g) {
		return nil
	}
	var env []string
	for _, o := range offline {
		for _, kv := range o.env {
			name, _, _ := strings.Cut(kv, "=")
			if !slices.ContainsFunc(v.Set, func(set string) bool { return strings.HasPrefix(set, name+"=") }) {
				env = append(env, kv)
			}
		}
	}
	return env
}

// setUpHint is how a checkout gets what it lacks.
const setUpHint = "commands in [worktree] setup in pawl.toml install it there"

// unfetched is what a tool said that could not fetch what is missing, "" for nothing.
func unfetched(r gate.Result) string {
	for _, o := range offline {
		for _, text := range []string{r.Tail, r.Head} {
			if line := o.says.FindString(text); line != "" {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}
